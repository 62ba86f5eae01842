#include "app/failure.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <new>
#include <string>

#include "app/standard_streams.hpp"

namespace cuszi::app {

namespace {

void tell(std::string_view subject, std::string message) {
  std::replace(message.begin(), message.end(), '\n', ' ');
  const bool named = subject.empty() || message.find(subject) != std::string::npos;
  print_error(fmt::format("cuszi: {}{}{}\n", named ? "" : subject, named ? "" : ": ", message));
}

/// What a setting is called on the command line, in front of what is wrong with it, and what else
/// can be done.
struct Remedy {
  std::string_view option;
  std::string_view text;
};

Remedy remedy_for(Setting setting) {
  switch (setting) {
    case Setting::none: break;
    case Setting::alpha: return {"--alpha", {}};
    case Setting::axes: return {"--axes", {}};
    case Setting::beta: return {"--beta", {}};
    case Setting::fill_values: return {"--fill-value", "leave one of them out"};
    case Setting::frame_size: return {{}, "a smaller --frame-size needs less when compressing"};
    case Setting::huffman_width: return {"--huffman-width", "use 64 or auto"};
    case Setting::interp: return {"--interp", {}};
  }
  return {};
}

std::string with_remedy(const Error& error) {
  const Remedy remedy = remedy_for(error.setting());
  return fmt::format("{}{}{}{}{}", remedy.option, remedy.option.empty() ? "" : ": ", error.what(),
                     remedy.text.empty() ? "" : "; ", remedy.text);
}

}  // namespace

ExitCode tell_failure(std::string_view subject) noexcept {
  try {
    throw;
  } catch (const Error& error) {
    tell(subject, with_remedy(error));
    return exit_code_of(error.kind());
  } catch (const std::bad_alloc&) {
    tell(subject, "not enough memory");
  } catch (const std::exception& error) {
    tell(subject, error.what());
  }
  return ExitCode::device;
}

void tell_warning(std::string_view line) noexcept {
  print_error("cuszi: warning: ");
  print_error(line);
  print_error("\n");
}

}  // namespace cuszi::app

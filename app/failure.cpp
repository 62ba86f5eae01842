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

}  // namespace

ExitCode tell_failure(std::string_view subject) noexcept {
  try {
    throw;
  } catch (const Error& error) {
    tell(subject, error.what());
    return error.exit_code();
  } catch (const std::bad_alloc&) {
    tell(subject, "not enough memory; a smaller --frame-size needs less when compressing");
  } catch (const std::exception& error) {
    tell(subject, error.what());
  }
  return ExitCode::device;
}

void tell_notice(std::string_view line) { spdlog::info("{}", line); }

}  // namespace cuszi::app

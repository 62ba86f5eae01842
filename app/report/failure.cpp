#include "app/report/failure.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <new>
#include <string>

#include "app/cli/standard_streams.hpp"
#include "app/report/report.hpp"

namespace cuszi::app {

namespace {

std::string line_about(std::string_view subject, std::string message) {
  std::replace(message.begin(), message.end(), '\n', ' ');
  const bool named = subject.empty() || message.find(subject) != std::string::npos;
  return fmt::format("{}{}{}", named ? "" : subject, named ? "" : ": ", message);
}

/// A setting's option and advice, for messages.
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
    case Setting::fill_values: return {"--fill-value", "leave out one of them"};
    case Setting::frame_size: return {{}, "a smaller --frame-size needs less memory to compress"};
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

Failure failure_of(std::string_view subject) {
  try {
    throw;
  } catch (const Error& error) {
    return {exit_code_of(error.kind()), line_about(subject, with_remedy(error))};
  } catch (const std::bad_alloc&) {
    return {ExitCode::device, line_about(subject, "not enough memory")};
  } catch (const std::exception& error) {
    return {ExitCode::device, line_about(subject, error.what())};
  }
}

ExitCode tell_failure(std::string_view subject) noexcept {
  const Failure failure = failure_of(subject);
  print_error("cuszi: " + failure.message + '\n');
  return failure.code;
}

void tell_failure_of(const std::string& file, const Failure& failure, Json known,
                     const FileReports& reports) noexcept {
  print_error("cuszi: " + failure.message + '\n');
  if (!reports.run.json) return;
  if (known.is_null()) known[reports.kind] = file;
  known["error"] = failure.message;
  known["exit_code"] = static_cast<int>(failure.code);
  try {
    reports.stdout_has_data ? print_error(line_of(known)) : print_out(line_of(known));
  } catch (const OutputError&) {
    tell_failure({});
  }
}

void warn_of_unfinished(const ArchiveReader& reader, const std::string& archive) noexcept {
  const std::string warning = reader.unfinished_warning();
  if (!warning.empty()) tell_warning(archive + ": " + warning);
}

void tell_losses(const Backends& backends) noexcept {
  for (const std::string& line : backends.losses()) tell_warning(line);
}

void tell_warning(std::string_view line) noexcept {
  print_error("cuszi: warning: ");
  print_error(line);
  print_error("\n");
}

namespace {

/// Nullopt if either is.
template <class T>
std::optional<T> sum(const std::optional<T>& a, const std::optional<T>& b) {
  return a && b ? std::optional<T>(*a + *b) : std::nullopt;
}

}  // namespace

void Totals::add(const FileWork& file) {
  ++good_;
  all_ = {all_.field_bytes + file.field_bytes, sum(all_.archive_bytes, file.archive_bytes),
          sum(all_.seconds, file.seconds)};
}

void Totals::tell(const RunOptions& run) const {
  if (files_ > 1 && !run.json && !run.quiet) print_out(text());
}

std::string Totals::text() const {
  std::string text = fmt::format("total: {} files", good_);
  if (good_ != 0) text += ", fields " + bytes_text(all_.field_bytes);
  if (good_ != 0 && all_.archive_bytes) {
    text += fmt::format(
        ", archives {}, ratio {:.2f}", bytes_text(*all_.archive_bytes),
        static_cast<double>(all_.field_bytes) / static_cast<double>(*all_.archive_bytes));
  }
  if (good_ != 0 && all_.seconds) {
    text +=
        fmt::format(", {} ({:.3g} s)", rate_text(all_.field_bytes, *all_.seconds), *all_.seconds);
  }
  return text + fmt::format(", {} failed\n", files_ - good_);
}

}  // namespace cuszi::app

#include "app/report/totals.hpp"

#include <fmt/format.h>

#include "app/cli/standard_streams.hpp"
#include "app/report/report.hpp"

namespace cuszi::app {

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

#include "app/totals.hpp"

#include <fmt/format.h>

#include "app/report.hpp"
#include "app/standard_streams.hpp"

namespace cuszi::app {

void Totals::add(ByteCount field_bytes, ByteCount archive_bytes) {
  ++good_;
  field_bytes_ += field_bytes;
  archive_bytes_ += archive_bytes;
}

void Totals::tell(const RunOptions& run) const {
  if (files_ > 1 && !run.json && !run.quiet) print_out(text());
}

std::string Totals::text() const {
  std::string text = fmt::format("total: {} files", good_);
  if (good_ != 0) {
    text += fmt::format(", fields {}, archives {}, ratio {:.2f}, {} ({:.3g} s)",
                        bytes_text(field_bytes_), bytes_text(archive_bytes_),
                        static_cast<double>(field_bytes_) / static_cast<double>(archive_bytes_),
                        rate_text(field_bytes_, clock_.seconds()), clock_.seconds());
  }
  return text + fmt::format(", {} failed\n", files_ - good_);
}

}  // namespace cuszi::app

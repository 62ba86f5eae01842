#pragma once

#include <optional>
#include <string>

#include "app/cli/options.hpp"
#include "core/base/units.hpp"

namespace cuszi::app {

/// What there is to tell of one input that has gone well.
struct FileWork {
  ByteCount field_bytes = 0;
  std::optional<ByteCount> archive_bytes;  ///< of an archive of the whole field
  std::optional<double> seconds;           ///< in which the field went through
};

/// What there is to tell of several inputs together. Those that failed are counted alone.
class Totals {
 public:
  explicit Totals(std::size_t files) : files_(files) {}

  void add(const FileWork& file);

  /// Prints a line, unless there is only one input, or reports are in JSON or not wanted.
  void tell(const RunOptions& run) const;

 private:
  std::string text() const;

  std::size_t files_;
  std::size_t good_ = 0;
  FileWork all_{0, 0, 0};
};

}  // namespace cuszi::app

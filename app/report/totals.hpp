#pragma once

#include <optional>
#include <string>

#include "app/cli/options.hpp"
#include "core/base/units.hpp"

namespace cuszi::app {

/// Sizes and times of a successful input.
struct FileWork {
  ByteCount field_bytes = 0;
  std::optional<ByteCount> archive_bytes;  ///< of a whole field
  std::optional<double> seconds;           ///< of the transfer
};

/// Sums over inputs; failures are only counted.
class Totals {
 public:
  explicit Totals(std::size_t files) : files_(files) {}

  void add(const FileWork& file);

  /// One line for several inputs, unless JSON or quiet.
  void tell(const RunOptions& run) const;

 private:
  std::string text() const;

  std::size_t files_;
  std::size_t good_ = 0;
  FileWork all_{0, 0, 0};
};

}  // namespace cuszi::app

#pragma once

#include <string>

#include "app/options.hpp"
#include "codec/call_times.hpp"

namespace cuszi::app {

/// What there is to tell of several inputs together.
class Totals {
 public:
  explicit Totals(std::size_t files) : files_(files) {}

  /// One that has gone well.
  void add(ByteCount field_bytes, ByteCount archive_bytes);

  /// Prints a line, unless there is only one input, or reports are in JSON or not wanted.
  void tell(const RunOptions& run) const;

 private:
  std::string text() const;

  std::size_t files_;
  std::size_t good_ = 0;
  ByteCount field_bytes_ = 0;
  ByteCount archive_bytes_ = 0;
  Stopwatch clock_;
};

}  // namespace cuszi::app

#pragma once

#include <vector>

#include "codec/field/field_source.hpp"
#include "core/backend/transfer.hpp"

namespace cuszi {

/// Seconds of each part of the path from file over device to archive, and back, alone: a limit for
/// overlapped runs.
struct PathParts {
  double read_field = 0;      ///< by many threads
  double field_over_bus = 0;  ///< to the device; back is similar
  double write_archive = 0;   ///< by one thread: a file takes one writer at a time
  double write_field = 0;

  double slowest_of_compress() const;
  double slowest_of_decompress() const;
};

PathParts measure_path_parts(Transfer& transfer, const FieldSource& field, ByteCount archive_bytes);

/// Part by part.
PathParts medians_of(const std::vector<PathParts>& runs);

}  // namespace cuszi

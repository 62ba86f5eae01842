#pragma once

#include <vector>

#include "codec/field/field_source.hpp"
#include "core/backend/transfer.hpp"

namespace cuszi {

/// Seconds that each part of a field's way from its file through a device to an archive, and back,
/// takes where nothing else goes on: what a trip that overlaps them could reach.
struct PathParts {
  double read_field = 0;      ///< from its file by many threads
  double field_over_bus = 0;  ///< to the device, and about as long back
  double write_archive = 0;   ///< to a scratch file by one thread, for a file lets in no more
  double write_field = 0;

  double slowest_of_compress() const;
  double slowest_of_decompress() const;
};

/// Measures each part once.
PathParts measure_path_parts(Transfer& transfer, const FieldSource& field, ByteCount archive_bytes);

/// The medians, part by part.
PathParts medians_of(const std::vector<PathParts>& runs);

}  // namespace cuszi

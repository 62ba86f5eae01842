#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "app/picture/points.hpp"
#include "codec/frames/backend_choice.hpp"

namespace cuszi::app {

/// What is shown of a field.
struct ShownField {
  DType dtype = DType::f32;
  SlicePlan plan;
  std::vector<Panel> panels;     ///< one a slice
  std::vector<Panel> originals;  ///< the same of what it is compared with, if it is
  std::optional<double> bound;   ///< absolute, of an archive that has one
  std::optional<ByteCount> archive_bytes;
  std::optional<ByteCount> read_bytes;  ///< of the archive
};

/// The longest side that so many slices may have, in points.
using SideFor = std::function<std::uint64_t(std::size_t slices)>;

/// Reads what the options ask to see of an archive or field: of an archive no more is read and
/// decoded than the preview takes that has it, of a field no more than the planes of its two
/// fastest axes. Throws UsageError, InputError or ArchiveError.
ShownField read_shown(const ShowOptions& options, Backends& backends, const SideFor& side_for);

}  // namespace cuszi::app

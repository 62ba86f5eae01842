#pragma once

#include <array>
#include <functional>
#include <optional>

#include "codec/archive/archive_reader.hpp"
#include "core/base/growing_memory.hpp"
#include "core/field/selection.hpp"

namespace cuszi {

/// The points of an amended archive that its base does not hold, in the host's memory.
class AmendedPoints {
 public:
  /// Fills memory with the values of an archive's whole field.
  using Restore = std::function<void(ArchiveReader& archive, MutableBytes values)>;

  /// Restores what amends an archive. Throws ArchiveError, also if the values would take more than
  /// `limit` bytes.
  AmendedPoints(ArchiveReader& archive, std::optional<ByteCount> limit, const Restore& restore);

  /// Puts them in their places among the selected values of a frame whose first point is `origin`.
  void put(const std::array<std::uint64_t, Dims::max_rank>& origin, const Selection& selection,
           MutableBytes values) const;

 private:
  void restore_inner(Bytes archive, const Restore& restore);
  void put_exact(Bytes list);

  Amendment amendment_;
  Dims field_;
  DType dtype_;
  Buffer values_;  ///< of the box; holes where the base's hold
};

}  // namespace cuszi

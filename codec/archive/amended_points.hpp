#pragma once

#include <array>
#include <functional>
#include <optional>

#include "codec/archive/archive_reader.hpp"
#include "core/base/growing_memory.hpp"
#include "core/field/selection.hpp"

namespace cuszi {

/// An amended archive's points that are not in its base, in host memory.
class AmendedPoints {
 public:
  using Restore = std::function<void(ArchiveReader& archive, MutableBytes values)>;

  /// Restores the amendment. Throws ArchiveError, also if values exceed `limit` bytes.
  AmendedPoints(ArchiveReader& archive, std::optional<ByteCount> limit, const Restore& restore);

  /// Overwrites amended points among the selected ones of the frame at `origin`.
  void put(const std::array<std::uint64_t, Dims::max_rank>& origin, const Selection& selection,
           MutableBytes values) const;

 private:
  void restore_inner(Bytes archive, const Restore& restore);
  void put_exact(Bytes list);

  Amendment amendment_;
  Dims field_;
  DType dtype_;
  Buffer values_;  ///< of the box; holes where the base applies
};

}  // namespace cuszi

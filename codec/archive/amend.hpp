#pragma once

#include <array>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "codec/archive/archive_reader.hpp"
#include "codec/archive/field_codec.hpp"
#include "codec/field/field_name.hpp"
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

  /// Whether a point of the box has a value of its own, in values().
  bool has(std::uint64_t point) const { return is_amended_[point] != 0; }
  Bytes values() const { return values_.view(); }

 private:
  void restore_inner(Bytes archive, const Restore& restore);
  void put_exact(Bytes list);

  Amendment amendment_;
  Dims field_;
  DType dtype_;
  Buffer values_;                         ///< of the box
  std::vector<std::uint8_t> is_amended_;  ///< 0 where the base applies
};

struct AmendedField {
  std::vector<std::byte> archive;
  std::vector<FillWarning> warnings = {};
};

/// Whether restored values that are compressed again come back bit for bit: without loss, and those
/// of 64-bit integers, which are multiples of a step.
bool are_repeatable(DType dtype, const FieldSettings& settings);

/// Compresses a field that shares points with one of `archives`, of equal shape and settings, and
/// not repeatable. Shared points keep their bits; the bound of others must not depend on the range.
/// Amends the archive with most shared points, or returns it unchanged; nullopt if only missing
/// points are shared. Adds at most most_amendment_bytes to a plain archive's size. Throws as
/// compress_field() and restore_field().
std::optional<AmendedField> amend_field(Backends& backends, const FieldSettings& settings,
                                        const FieldLayout& layout, Bytes values,
                                        std::span<const Bytes> archives);

}  // namespace cuszi

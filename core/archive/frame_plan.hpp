#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "core/base/dims.hpp"
#include "core/base/dtype.hpp"
#include "core/base/units.hpp"

namespace cuszi {

/// Frames are boxes of `height` slices along `axis`, of extent 1 along slower axes and full along
/// faster ones.
struct FieldCuts {
  struct Stack;

  Dims dims;
  int axis = 0;
  std::uint64_t height = 1;
  std::shared_ptr<const Stack> stack =
      nullptr;  ///< of several fields; axis and height of the first

  /// Fields of equal extents behind the slowest axis, stacked along it, each with its own frames.
  /// Throws ArchiveError if they are too large.
  static FieldCuts stacked(std::vector<FieldCuts> fields);

  std::uint64_t frames() const;
  /// Dims of frame i, with the field's rank.
  Dims frame_dims(std::uint64_t i) const;
  Dims largest_frame() const;
  FieldCuts only(std::uint64_t i) const;
  /// Position along each axis.
  std::array<std::uint64_t, Dims::max_rank> origin(std::uint64_t i) const;
  /// Linear position in the field.
  std::uint64_t first_value(std::uint64_t i) const;

 private:
  std::uint64_t frames_per_axis() const;
  std::uint64_t first_slice(std::uint64_t i) const { return i % frames_per_axis() * height; }
};

struct FieldCuts::Stack {
  std::vector<FieldCuts> fields;
  std::vector<std::uint64_t> first_frames;  ///< with the number of all
  std::vector<std::uint64_t> first_slices;  ///< along the slowest axis, with the number of all

  /// The field that holds frame `i`.
  std::size_t field_of(std::uint64_t i) const;
};

inline constexpr ByteCount least_frame_bytes = ByteCount{1} << 16;

/// Cuts along the slowest axis of which a slice fits, at multiples of 64 slices (1-D: 512 values),
/// else of 8. Default frame size: a quarter of a field above 512 MiB, between 256 and 512 MiB. Only
/// the last frame along the axis may be below `least` bytes.
FieldCuts plan_frames(const Dims& dims, DType dtype, std::optional<ByteCount> wish = {},
                      ByteCount least = least_frame_bytes);

}  // namespace cuszi

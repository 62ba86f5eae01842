#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "core/base/dims.hpp"
#include "core/base/dtype.hpp"
#include "core/base/units.hpp"

namespace cuszi {

/// How a field is cut into frames: contiguous boxes that hold `height` slices of `axis`, one index
/// of every slower axis and all of the faster ones.
struct FieldCuts {
  Dims dims;
  int axis = 0;
  std::uint64_t height = 1;

  std::uint64_t frames() const;
  /// The dims of frame `i`, of the same rank as the field's.
  Dims frame_dims(std::uint64_t i) const;
  /// Frame `i` as a field of its own, in one frame.
  FieldCuts only(std::uint64_t i) const;
  /// The index of frame `i`'s first slice along `axis`.
  std::uint64_t first_slice(std::uint64_t i) const { return i % frames_per_axis() * height; }
  /// The indices of frame `i`'s first value.
  std::array<std::uint64_t, Dims::max_rank> origin(std::uint64_t i) const;
  /// The position of frame `i`'s first value in the field.
  std::uint64_t first_value(std::uint64_t i) const;

 private:
  std::uint64_t frames_per_axis() const;
};

inline constexpr ByteCount least_frame_bytes = ByteCount{1} << 16;

/// The plan that follows from dims, dtype and the wanted frame size alone: the slowest axis of
/// which one slice fits, cut at a multiple of 64 slices if that many fit (of 512 values in one
/// dimension), else of 8. Without a wish, frames of a field of more than 512 MiB hold a quarter of
/// it, but at least 256 and at most 512 MiB. What frames take beside their values must not count:
/// only the last along the axis may have less than `least`.
FieldCuts plan_frames(const Dims& dims, DType dtype, std::optional<ByteCount> wish = {},
                      ByteCount least = least_frame_bytes);

}  // namespace cuszi

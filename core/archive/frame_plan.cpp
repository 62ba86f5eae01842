#include "core/archive/frame_plan.hpp"

#include <algorithm>
#include <array>

namespace cuszi {

namespace {

/// Large frames use a device fully; several overlap reading, compressing, writing.
ByteCount usual_frame_bytes(ByteCount field_bytes) {
  constexpr ByteCount most = ByteCount{1} << 29;
  return field_bytes <= most ? most : std::clamp(field_bytes / 4, most / 2, most);
}

}  // namespace

std::uint64_t FieldCuts::frames_per_axis() const { return ceil_div(dims[axis], height); }

std::uint64_t FieldCuts::frames() const {
  std::uint64_t count = frames_per_axis();
  for (int i = 0; i < axis; ++i) count *= dims[i];
  return count;
}

Dims FieldCuts::frame_dims(std::uint64_t i) const {
  std::array<std::uint64_t, Dims::max_rank> extents{1, 1, 1, 1};
  const std::uint64_t first = first_slice(i);
  for (int a = axis; a < dims.rank(); ++a) {
    extents.at(static_cast<std::size_t>(a)) =
        a == axis ? std::min(height, dims[a] - first) : dims[a];
  }
  return *Dims::make(std::span(extents).first(static_cast<std::size_t>(dims.rank())));
}

FieldCuts FieldCuts::only(std::uint64_t i) const {
  const Dims one = frame_dims(i);
  return {one, axis, one[axis]};
}

std::array<std::uint64_t, Dims::max_rank> FieldCuts::origin(std::uint64_t i) const {
  std::array<std::uint64_t, Dims::max_rank> origin{};
  origin.at(static_cast<std::size_t>(axis)) = first_slice(i);
  std::uint64_t slower = i / frames_per_axis();
  for (int a = axis - 1; a >= 0; --a) {
    origin.at(static_cast<std::size_t>(a)) = slower % dims[a];
    slower /= dims[a];
  }
  return origin;
}

std::uint64_t FieldCuts::first_value(std::uint64_t i) const {
  std::uint64_t slice = 1;
  for (int a = axis + 1; a < dims.rank(); ++a) slice *= dims[a];
  return (i / frames_per_axis() * dims[axis] + first_slice(i)) * slice;
}

FieldCuts plan_frames(const Dims& dims, DType dtype, std::optional<ByteCount> wish,
                      ByteCount least) {
  FieldCuts plan{dims, 0, 1};
  ByteCount slice_bytes = dims.count() * size_of(dtype);
  const ByteCount frame_bytes = std::max(wish.value_or(usual_frame_bytes(slice_bytes)), least);
  for (plan.axis = 0; plan.axis < dims.rank(); ++plan.axis) {
    slice_bytes /= dims[plan.axis];
    const bool fits = slice_bytes <= frame_bytes;
    if ((fits && dims[plan.axis] > 1) || plan.axis + 1 == dims.rank()) break;
  }
  const std::uint64_t fitting = std::max<std::uint64_t>(frame_bytes / slice_bytes, 1);
  if (fitting >= dims[plan.axis]) {
    plan.height = dims[plan.axis];
    return plan;
  }
  const bool single_values = slice_bytes == size_of(dtype);
  const std::uint64_t usual_unit = single_values ? 512 : 64;
  const std::uint64_t unit = fitting >= usual_unit ? usual_unit : fitting >= 8 ? 8 : 1;
  const std::uint64_t fewest = ceil_div(least, slice_bytes);
  plan.height = std::max(fitting / unit, ceil_div(fewest, unit)) * unit;
  plan.height = std::min(plan.height, dims[plan.axis]);
  return plan;
}

}  // namespace cuszi

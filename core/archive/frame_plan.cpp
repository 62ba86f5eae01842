#include "core/archive/frame_plan.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "core/base/error.hpp"

namespace cuszi {

namespace {

/// Large frames use a device fully; several overlap reading, compressing, writing.
ByteCount usual_frame_bytes(ByteCount field_bytes) {
  constexpr ByteCount most = ByteCount{1} << 29;
  return field_bytes <= most ? most : std::clamp(field_bytes / 4, most / 2, most);
}

}  // namespace

FieldCuts FieldCuts::stacked(std::vector<FieldCuts> fields) {
  FieldCuts all = fields.front();
  const auto stack = std::make_shared<Stack>();
  stack->first_frames.push_back(0);
  stack->first_slices.push_back(0);
  for (const FieldCuts& field : fields) {
    stack->first_frames.push_back(stack->first_frames.back() + field.frames());
    stack->first_slices.push_back(stack->first_slices.back() + field.dims[0]);
  }
  std::array<std::uint64_t, Dims::max_rank> extents{};
  std::ranges::copy(all.dims.extents(), extents.begin());
  extents[0] = stack->first_slices.back();
  const auto dims = Dims::make(std::span(extents).first(all.dims.extents().size()));
  if (!dims) throw ArchiveError("the members have more values than a field can");
  all.dims = *dims;
  stack->fields = std::move(fields);
  all.stack = stack;
  return all;
}

std::size_t FieldCuts::Stack::field_of(std::uint64_t i) const {
  const auto behind = std::ranges::upper_bound(first_frames, i);
  return static_cast<std::size_t>(behind - first_frames.begin()) - 1;
}

std::uint64_t FieldCuts::frames_per_axis() const { return ceil_div(dims[axis], height); }

std::uint64_t FieldCuts::frames() const {
  if (stack) return stack->first_frames.back();
  std::uint64_t count = frames_per_axis();
  for (int i = 0; i < axis; ++i) count *= dims[i];
  return count;
}

Dims FieldCuts::frame_dims(std::uint64_t i) const {
  if (stack) {
    const std::size_t field = stack->field_of(i);
    return stack->fields[field].frame_dims(i - stack->first_frames[field]);
  }
  std::array<std::uint64_t, Dims::max_rank> extents{1, 1, 1, 1};
  const std::uint64_t first = first_slice(i);
  for (int a = axis; a < dims.rank(); ++a) {
    extents.at(static_cast<std::size_t>(a)) =
        a == axis ? std::min(height, dims[a] - first) : dims[a];
  }
  return *Dims::make(std::span(extents).first(static_cast<std::size_t>(dims.rank())));
}

Dims FieldCuts::largest_frame() const {
  if (!stack) return frame_dims(0);
  return std::ranges::max(stack->fields, {},
                          [](const FieldCuts& field) { return field.frame_dims(0).count(); })
      .frame_dims(0);
}

FieldCuts FieldCuts::only(std::uint64_t i) const {
  const Dims one = frame_dims(i);
  const int cut = stack ? stack->fields[stack->field_of(i)].axis : axis;
  return {one, cut, one[cut]};
}

std::array<std::uint64_t, Dims::max_rank> FieldCuts::origin(std::uint64_t i) const {
  if (stack) {
    const std::size_t field = stack->field_of(i);
    auto within = stack->fields[field].origin(i - stack->first_frames[field]);
    within[0] += stack->first_slices[field];
    return within;
  }
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
  const auto first = origin(i);
  std::uint64_t value = 0;
  for (int a = 0; a < dims.rank(); ++a) {
    value = value * dims[a] + first.at(static_cast<std::size_t>(a));
  }
  return value;
}

FieldCuts plan_frames(const Dims& dims, DType dtype, std::optional<ByteCount> wish,
                      ByteCount least) {
  FieldCuts plan{dims, 0, 1};
  ByteCount slice_bytes = dims.count() * size_of(work_of(dtype));
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
  const bool single_values = slice_bytes == size_of(work_of(dtype));
  const std::uint64_t usual_unit = single_values ? 512 : 64;
  const std::uint64_t unit = fitting >= usual_unit ? usual_unit : fitting >= 8 ? 8 : 1;
  const std::uint64_t fewest = ceil_div(least, slice_bytes);
  plan.height = std::max(fitting / unit, ceil_div(fewest, unit)) * unit;
  plan.height = std::min(plan.height, dims[plan.axis]);
  return plan;
}

}  // namespace cuszi

#include "core/preview.hpp"

#include <numeric>

#include "core/schedule.hpp"

namespace cuszi {

namespace {

using PerAxis = std::array<bool, Dims::max_rank>;

const MultilevelParams* multilevel_of(const FrameHeader& header) {
  return header.predictor ? std::get_if<MultilevelParams>(&*header.predictor) : nullptr;
}

bool merges_axes(const MultilevelParams& params, const Dims& dims) {
  return params.lattice.merged && dims.squeezed().rank() == Dims::max_rank;
}

/// Which of a frame's axes, those of extent 1 aside, are lattice axes. Of two that are merged it
/// can be the faster one.
PerAxis lattice_axes(const MultilevelParams& params, const Dims& dims) {
  PerAxis lattice{};
  auto padded = max_axes - static_cast<unsigned>(dims.squeezed().rank());
  for (int axis = 0; axis < dims.rank(); ++axis) {
    if (dims[axis] == 1) continue;
    lattice.at(static_cast<std::size_t>(axis)) =
        params.lattice.roles.at(padded++) == AxisRole::lattice;
  }
  if (merges_axes(params, dims)) lattice[0] = false;
  return lattice;
}

/// The largest stride up to that of the anchors whose lattice has all the wanted points.
std::uint64_t restored_stride(const MultilevelParams& params, const PerAxis& lattice,
                              const Selection& wanted) {
  std::uint64_t stride = std::uint64_t{1} << params.lattice.levels;
  for (std::size_t axis = 0; axis < lattice.size(); ++axis) {
    if (!lattice[axis]) continue;
    stride = std::gcd(stride, wanted.step[axis]);
    stride = std::gcd(stride, wanted.first[axis]);
  }
  const bool merged = merges_axes(params, wanted.from) && lattice[1];
  return merged ? std::gcd(stride, wanted.from[1]) : stride;
}

}  // namespace

void Preview::settle(const Dims& first_dims, const FrameHeader& first) {
  const MultilevelParams* const params = multilevel_of(first);
  thinned_.fill(true);
  if (params != nullptr) thinned_ = lattice_axes(*params, first_dims);
  for (int axis = 0; axis < plan_.dims.rank(); ++axis) {
    if (first_dims[axis] == 1) thinned_.at(static_cast<std::size_t>(axis)) = false;
  }
}

Selection Preview::of_field() const {
  Selection selection{plan_.dims, {}, {1, 1, 1, 1}};
  for (std::size_t axis = 0; axis < thinned_.size(); ++axis) {
    if (thinned_[axis]) selection.step[axis] = stride_;
  }
  return selection;
}

Selection Preview::of_frame(std::uint64_t i) const {
  Selection selection = of_field();
  selection.from = plan_.frame_dims(i);
  const auto axis = static_cast<std::size_t>(plan_.axis);
  const std::uint64_t over = plan_.first_slice(i) % selection.step.at(axis);
  if (over != 0) selection.first.at(axis) = selection.step.at(axis) - over;
  return selection;
}

FramePreview FramePreview::of(const Dims& dims, const FrameHeader& header,
                              const Selection& wanted) {
  if (header.kind == FrameKind::constant) {
    return {wanted, {wanted.dims(), {}, {1, 1, 1, 1}}};
  }
  FramePreview preview{{dims, {}, {1, 1, 1, 1}}, wanted};
  const MultilevelParams* const params = multilevel_of(header);
  if (params == nullptr) return preview;
  const PerAxis lattice = lattice_axes(*params, dims);
  preview.stride = restored_stride(*params, lattice, wanted);
  for (std::size_t axis = 0; axis < lattice.size(); ++axis) {
    if (!lattice[axis]) continue;
    preview.restored.step[axis] = preview.stride;
    preview.shown.first[axis] /= preview.stride;
    preview.shown.step[axis] /= preview.stride;
  }
  preview.shown.from = preview.restored.dims();
  preview.passes = make_schedule(params->lattice.at_stride(preview.stride)).passes.size();
  preview.levels = static_cast<std::size_t>(params->level_of_pass()[preview.passes - 1]) + 1;
  return preview;
}

}  // namespace cuszi

#pragma once

#include <vector>

#include "core/base/bit_width.hpp"
#include "core/field/quantizer.hpp"
#include "core/multilevel/class_plan.hpp"
#include "core/multilevel/code_position.hpp"

namespace cuszi {

// What the decoder would have instead of an original value, about: the value's prediction from
// original neighbours by its own class's weights, and its error quantised. So a fit sees the errors
// that neighbours will have, though no point waits for another. A approximate value depends on
// originals alone: who needs few of them makes only those.

/// Finds the class of a point by its coordinates; of a lattice whose finest level is 1.
struct ClassFinder {
  unsigned lattice_axes = 0;  ///< bit a: axis a is one
  int layered_axis = -1;
  int levels = 0;
  int slice_levels = 0;

  explicit ClassFinder(const Lattice& lattice);

  /// Where a list of all classes has that of a point.
  CUSZI_HD std::uint32_t slot_of(const Index4& at) const {
    std::uint64_t bits = std::uint64_t{1} << levels;
    for (unsigned axis = 0; axis < max_axes; ++axis) {
      if (((lattice_axes >> axis) & 1U) != 0) bits |= at[axis];
    }
    const int spacing = trailing_zeros_of(bits);
    unsigned odd = 0;
    for (unsigned axis = 0; axis < max_axes && spacing < levels; ++axis) {
      if (((lattice_axes >> axis) & 1U) != 0)
        odd |= static_cast<unsigned>((at[axis] >> spacing) & 1U) << axis;
    }
    return slot(spacing + 1, odd, stage_of(at));
  }

  CUSZI_HD std::uint32_t slot(int level, unsigned odd, int stage) const {
    const int row = (level - 1) * (slice_levels + 1) + stage;
    return (static_cast<std::uint32_t>(row) << max_axes) + odd;
  }
  std::uint32_t slots() const { return slot(levels + 2, 0, 0); }

 private:
  CUSZI_HD int stage_of(const Index4& at) const {
    if (layered_axis < 0) return 0;
    const std::uint64_t slice = at[static_cast<unsigned>(layered_axis)];
    return slice_levels - trailing_zeros_of(slice | (std::uint64_t{1} << slice_levels));
  }
};

/// All that approximate values depend on; it lies where they are made.
template <class T>
struct ApproximateReconstruction {
  Grid grid;
  ClassFinder finder;
  const std::uint32_t* class_at;  ///< by the finder's slots
  const ClassPlan<T>* classes;
  const Quantizer<T>* quantizers;  ///< by level
  const T* originals;
  const T* made;  ///< the values of levels from `made_from` on, where their points are
  int made_from;

  CUSZI_HD_OUTLINED T value(std::uint64_t point) const {
    Index4 at{};
    std::uint64_t rest = point;
    for (unsigned axis = max_axes - 1; axis > 0; --axis) {
      at[axis] = rest % grid.extents[axis];
      rest /= grid.extents[axis];
    }
    at[0] = rest;
    return value_at(at, point);
  }

  /// The approximately restored value of the point `point`, whose coordinates are `at`.
  CUSZI_HD_OUTLINED T value_at(const Index4& at, std::uint64_t point) const {
    const ClassPlan<T>& plan = classes[class_at[finder.slot_of(at)]];
    return plan.points.level >= made_from ? made[point] : restored_at(plan, at, point);
  }

  /// Whether `made` has the neighbours of a class's points at this tap.
  CUSZI_HD bool has_made(const PointClass& points, const Tap& tap) const {
    if (points.level >= made_from) return true;
    const std::uint64_t spacing = std::uint64_t{1} << (made_from - 1);
    std::uint64_t distances = 0;
    for (unsigned axis = 0; axis < max_axes; ++axis) {
      if (((finder.lattice_axes >> axis) & 1U) == 0) continue;
      distances |= points.first[axis] + static_cast<std::uint64_t>(tap[axis]) * points.unit[axis];
    }
    return distances % spacing == 0 && finder.levels + 1 >= made_from;
  }

  /// The approximately restored value of a point of the class of `plan`, computed from originals
  /// even where `made` has it.
  CUSZI_HD T restored_at(const ClassPlan<T>& plan, const Index4& at, std::uint64_t point) const {
    const T* const original = originals + point;
    const bool has_taps =
        plan.stencil.size != 0 && is_inner(at, plan.stencil_margins, grid.extents);
    return restored(plan, *original,
                    has_taps
                        ? inner_prediction(plan, original)
                        : prediction(plan, PointAt<const T*>{grid, plan.points, at, original}));
  }

  /// The original itself where nothing predicts it or its code would be an outlier.
  CUSZI_HD T restored(const ClassPlan<T>& plan, T original, T prediction) const {
    if (plan.stencil.size == 0) return original;
    const Attempt<T> attempt = try_to_quantise(quantizers[plan.points.level], original, prediction);
    return attempt.in_range ? attempt.result.restored : original;
  }
};

/// Reads approximate values as a pointer reads an array.
template <class T>
class ApproximateValues {
 public:
  CUSZI_HD ApproximateValues(const ApproximateReconstruction<T>& approximation, std::uint64_t point)
      : approximation_(&approximation), point_(static_cast<std::ptrdiff_t>(point)) {}

  CUSZI_HD T operator[](std::ptrdiff_t offset) const {
    return approximation_->value(static_cast<std::uint64_t>(point_ + offset));
  }
  CUSZI_HD T operator*() const { return (*this)[0]; }

  CUSZI_HD ApproximateValues& operator+=(std::ptrdiff_t offset) {
    point_ += offset;
    return *this;
  }
  CUSZI_HD ApproximateValues& operator-=(std::ptrdiff_t offset) { return *this += -offset; }

 private:
  const ApproximateReconstruction<T>* approximation_;
  std::ptrdiff_t point_;
};

/// The classes of a schedule by the finder's slots; 0 where there is none.
std::vector<std::uint32_t> classes_by_slot(const ClassFinder& finder, const Schedule& schedule);

/// The quantizers of all levels by their number, for a frame of this range.
template <class T>
std::vector<Quantizer<T>> level_quantizers(const MultilevelParams& params, double min, double max) {
  std::vector<Quantizer<T>> quantizers;
  for (int level = 0; level <= params.lattice.levels + 1; ++level) {
    const double half_step = params.half_step_of(level);
    quantizers.emplace_back(half_step, half_step, min, max, params.radius);
  }
  return quantizers;
}

}  // namespace cuszi

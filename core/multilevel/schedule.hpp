#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/hd.hpp"
#include "core/multilevel/lattice.hpp"

namespace cuszi {

/// Points that do not depend on each other and are predicted by one stencil: a sub-lattice.
struct PointClass {
  Index4 first{};
  Index4 step{};
  Index4 count{};
  Index4 unit{};  ///< points per unit of a tap: the level's spacing, the distance to enclosing
                  ///< slices
  std::uint64_t start = 0;  ///< how many points of the pass come before
  std::uint32_t index = 0;  ///< among all classes
  std::uint32_t group = 0;  ///< classes of one order and stage share their contexts
  std::uint8_t level = 0;
  std::uint8_t order = 0;  ///< how many coordinates are odd; 0 for anchors
  std::uint8_t odd = 0;    ///< bit a: coordinate a is an odd multiple of the spacing
  std::uint8_t stage = 0;  ///< of the layered axis
  bool enclosed = false;   ///< slices on both sides are known (on the last one perhaps one)

  CUSZI_HD std::uint64_t points() const { return count[0] * count[1] * count[2] * count[3]; }
  CUSZI_HD bool is_odd(unsigned axis) const { return ((odd >> axis) & 1U) != 0; }
};

/// The array that classes index, and how their points are ordered in a pass.
struct Grid {
  Index4 extents{};
  Index4 strides{};
  Index4 tile{};  ///< points of a class are listed tile by tile, so that 64 in a row are near
};

/// Classes that are coded together.
struct Pass {
  int level = 0;
  std::uint32_t groups = 0;
  std::uint64_t points = 0;
  std::uint32_t first_class = 0;  ///< among all
  std::uint32_t classes = 0;
};

/// All passes, coarse to fine; within a level a pass has the classes of which order + stage agree.
struct Schedule {
  Grid grid;
  std::vector<PointClass> classes;  ///< in the order of passes
  std::vector<Pass> passes;

  std::span<const PointClass> classes_of(const Pass& pass) const {
    return std::span(classes).subspan(pass.first_class, pass.classes);
  }

  /// How many passes belong to levels above the finest one, if that is level 1; they hold the
  /// coarse lattice, whose hash is in the archive if there are any.
  std::size_t coarse_passes() const;
};

Schedule make_schedule(const Lattice& lattice);

}  // namespace cuszi

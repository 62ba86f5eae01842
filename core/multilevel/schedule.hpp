#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/hd.hpp"
#include "core/multilevel/lattice.hpp"

namespace cuszi {

/// A sub-lattice of mutually independent points with one stencil.
struct PointClass {
  Index4 first{};
  Index4 step{};
  Index4 count{};
  Index4 unit{};  ///< points per unit of a tap: the level's spacing, the distance to enclosing
                  ///< slices
  std::uint64_t start = 0;  ///< points of earlier classes in the pass
  std::uint32_t index = 0;  ///< among all classes
  std::uint32_t group = 0;  ///< classes of one order and stage share contexts
  std::uint8_t level = 0;
  std::uint8_t order = 0;  ///< number of odd coordinates; 0 for anchors
  std::uint8_t odd = 0;    ///< bit a: coordinate a is an odd multiple of the spacing
  std::uint8_t stage = 0;  ///< of the layered axis
  bool enclosed = false;   ///< slices on both sides are known (for the last one, perhaps one side)

  CUSZI_HD std::uint64_t points() const { return count[0] * count[1] * count[2] * count[3]; }
  CUSZI_HD bool is_odd(unsigned axis) const { return ((odd >> axis) & 1U) != 0; }
};

struct Grid {
  Index4 extents{};
  Index4 strides{};
  Index4 tile{};  ///< of a class's points, which are listed tile by tile
};

struct Pass {
  int level = 0;
  std::uint32_t groups = 0;
  std::uint64_t points = 0;
  std::uint32_t first_class = 0;
  std::uint32_t classes = 0;
};

/// Coarse to fine; a pass holds the classes of a level with equal order + stage.
struct Schedule {
  Grid grid;
  std::vector<PointClass> classes;  ///< in pass order
  std::vector<Pass> passes;

  std::span<const PointClass> classes_of(const Pass& pass) const {
    return std::span(classes).subspan(pass.first_class, pass.classes);
  }

  /// Passes above level 1, if that is the finest; archives have a hash of their values.
  std::size_t coarse_passes() const;
};

Schedule make_schedule(const Lattice& lattice);

}  // namespace cuszi

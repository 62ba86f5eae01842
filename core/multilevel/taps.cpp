#include "core/multilevel/taps.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <initializer_list>
#include <vector>

namespace cuszi {

namespace {

/// Fixed capacity: planning must not allocate, since a device waits for it.
class TapList {
 public:
  TapList() = default;
  TapList(std::initializer_list<Tap> taps) {
    for (const Tap& tap : taps) add(tap);
  }

  void add(const Tap& tap) { taps_.at(size_++) = tap; }
  void add(const TapList& others) {
    for (const Tap& tap : others) add(tap);
  }
  const Tap* data() const { return taps_.data(); }
  const Tap* begin() const { return data(); }
  const Tap* end() const { return data() + size_; }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }

 private:
  static constexpr std::size_t most = 81;  ///< three along each of four axes

  std::array<Tap, most> taps_;
  std::size_t size_ = 0;
};

Tap operator+(const Tap& a, const Tap& b) {
  Tap sum{};
  for (unsigned axis = 0; axis < max_axes; ++axis)
    sum[axis] = static_cast<std::int8_t>(a[axis] + b[axis]);
  return sum;
}

TapList products(const TapList& a, const TapList& b) {
  TapList all;
  for (const Tap& x : a) {
    for (const Tap& y : b) all.add(x + y);
  }
  return all;
}

TapList pair_on(unsigned axis, int offset) { return {tap_at(axis, -offset), tap_at(axis, offset)}; }

struct ClassAxes {
  std::vector<unsigned> odd;
  std::vector<unsigned> even;
};

ClassAxes axes_of(const Lattice& lattice, const PointClass& points) {
  ClassAxes axes;
  for (unsigned axis = 0; axis < max_axes; ++axis) {
    if (lattice.roles[axis] != AxisRole::lattice) continue;
    if (points.is_odd(axis)) {
      axes.odd.push_back(axis);
    } else if (lattice.extents[axis] > 2 * points.unit[axis]) {
      axes.even.push_back(axis);
    }
  }
  return axes;
}

void add_pairs(const Lattice& lattice, int reach, const PointClass& points,
               const std::vector<unsigned>& odd, Stencil& stencil) {
  for (int offset = 1; offset <= reach; offset += 2) {
    for (const unsigned axis : odd) {
      const bool real =
          offset == 1 || lattice.extents[axis] > static_cast<unsigned>(offset) * points.unit[axis];
      if (real) stencil.add(pair_on(axis, offset));
    }
  }
}

void add_diagonals(const std::vector<unsigned>& odd, Stencil& stencil) {
  for (std::size_t i = 0; i < odd.size(); ++i) {
    for (std::size_t j = i + 1; j < odd.size(); ++j) {
      stencil.add(products(pair_on(odd[i], 1), pair_on(odd[j], 1)));
    }
  }
  if (odd.size() == 3) {
    stencil.add(products(products(pair_on(odd[0], 1), pair_on(odd[1], 1)), pair_on(odd[2], 1)));
  }
}

void add_sides(const ClassAxes& axes, Stencil& stencil) {
  if (axes.odd.size() == 3) return;
  for (const unsigned near : axes.odd) {
    for (const unsigned side : axes.even) {
      stencil.add(products(pair_on(near, 1), pair_on(side, 2)));
    }
  }
}

void add_slices(unsigned layered, const std::vector<unsigned>& odd, Stencil& stencil) {
  const TapList slices = pair_on(layered, 1);
  stencil.add(slices);
  for (const int offset : {1, 3}) {
    TapList around;
    for (const unsigned axis : odd) {
      around.add(products(slices, pair_on(axis, offset)));
    }
    if (!around.empty()) stencil.add(around);
  }
}

enum ContextGroup : unsigned { direct, diagonal, parent, same_point, context_groups };

/// Group of a neighbour at distance 1; context_groups if it is not coded before the class.
ContextGroup group_of(const PointClass& points, int layered, const Tap& tap) {
  unsigned moved = 0;
  for (unsigned axis = 0; axis < max_axes; ++axis) {
    if (tap[axis] != 0 && static_cast<int>(axis) != layered) moved |= 1U << axis;
  }
  const int moves = std::popcount(moved);
  const int order = std::popcount(points.odd ^ moved);
  if (layered >= 0 && tap[static_cast<unsigned>(layered)] != 0) {
    return moves == 0 ? same_point : context_groups;
  }
  if (order >= points.order || moves == 0) return context_groups;
  if (order == 0) return parent;
  return moves == 1 ? direct : diagonal;
}

}  // namespace

Tap tap_at(unsigned axis, int units) {
  Tap tap{};
  tap.at(axis) = static_cast<std::int8_t>(units);
  return tap;
}

Stencil stencil_of(const Lattice& lattice, int reach, const PointClass& points) {
  const ClassAxes axes = axes_of(lattice, points);
  Stencil stencil;
  add_pairs(lattice, reach, points, axes.odd, stencil);
  add_diagonals(axes.odd, stencil);
  add_sides(axes, stencil);
  if (points.enclosed) {
    add_slices(static_cast<unsigned>(lattice.layered_axis()), axes.odd, stencil);
  }
  return stencil;
}

ContextTaps context_taps_of(const Lattice& lattice, const PointClass& points) {
  std::array<TapList, context_groups + 1> lists;
  const int layered = points.enclosed ? lattice.layered_axis() : -1;
  const auto visit = [&](const auto& self, unsigned axis, Tap tap) -> void {
    if (axis == max_axes) {
      lists.at(group_of(points, layered, tap)).add(tap);
      return;
    }
    const bool moves =
        (lattice.roles[axis] == AxisRole::lattice && lattice.extents[axis] > points.unit[axis]) ||
        static_cast<int>(axis) == layered;
    for (int offset = moves ? -1 : 0; offset <= (moves ? 1 : 0); ++offset) {
      self(self, axis + 1, tap + tap_at(axis, offset));
    }
  };
  visit(visit, 0, Tap{});
  ContextTaps taps;
  for (const unsigned group : {direct, diagonal, parent, same_point}) {
    taps.add(lists.at(group));
  }
  return taps;
}

Index4 margins_of(const PointClass& points, std::span<const Tap> taps) {
  Index4 margins{};
  for (const Tap& tap : taps) {
    for (unsigned axis = 0; axis < max_axes; ++axis) {
      const auto reach = static_cast<std::uint64_t>(std::abs(tap[axis])) * points.unit[axis];
      margins[axis] = std::max(margins[axis], reach);
    }
  }
  return margins;
}

}  // namespace cuszi

#include "core/multilevel/schedule.hpp"

#include <algorithm>
#include <bit>

namespace cuszi {

namespace {

class LevelBuilder {
 public:
  LevelBuilder(const Lattice& lattice, int level, Schedule& schedule)
      : lattice_(lattice),
        level_(level),
        is_top_(level == lattice.levels + 1),
        schedule_(schedule) {
    for (unsigned axis = 0; axis < max_axes; ++axis) {
      if (lattice.roles[axis] == AxisRole::lattice) lattice_axes_ |= 1U << axis;
    }
  }

  void add_passes() {
    const int stages = lattice_.layered_axis() < 0 ? 1 : lattice_.slice_levels + 1;
    const int first_order = is_top_ ? 0 : 1;
    const int last_order = is_top_ ? 0 : 3;
    for (int turn = first_order; turn < last_order + stages; ++turn) {
      Pass pass;
      pass.level = level_;
      pass.first_class = static_cast<std::uint32_t>(schedule_.classes.size());
      for (int order = first_order; order <= last_order; ++order) {
        const int stage = turn - order;
        if (stage >= 0 && stage < stages) add_group(order, stage, pass);
      }
      if (pass.points != 0) schedule_.passes.push_back(pass);
    }
  }

 private:
  /// Only classes with points.
  void add_group(int order, int stage, Pass& pass) {
    const std::uint64_t before = pass.points;
    for (unsigned odd = 0; odd < (1U << max_axes); ++odd) {
      const bool odd_elsewhere = (odd & ~lattice_axes_) != 0;
      if (std::popcount(odd) != order || odd_elsewhere) continue;
      PointClass points = make_class(odd, stage);
      if (points.points() == 0) continue;
      points.start = pass.points;
      points.index = static_cast<std::uint32_t>(schedule_.classes.size());
      points.group = pass.groups;
      pass.points += points.points();
      ++pass.classes;
      schedule_.classes.push_back(points);
    }
    if (pass.points != before) ++pass.groups;
  }

  PointClass make_class(unsigned odd, int stage) const {
    PointClass c;
    c.level = static_cast<std::uint8_t>(level_);
    c.order = static_cast<std::uint8_t>(std::popcount(odd));
    c.odd = static_cast<std::uint8_t>(odd);
    c.stage = static_cast<std::uint8_t>(stage);
    c.enclosed = stage > 0;
    const std::uint64_t spacing = std::uint64_t{1} << (level_ - lattice_.finest);
    for (unsigned axis = 0; axis < max_axes; ++axis) {
      const std::uint64_t distance = std::uint64_t{1} << (lattice_.slice_levels - stage);
      switch (lattice_.roles[axis]) {
        case AxisRole::lattice:
          c.unit[axis] = spacing;
          c.step[axis] = is_top_ ? spacing : 2 * spacing;
          c.first[axis] = c.is_odd(axis) ? spacing : 0;
          break;
        case AxisRole::independent: c.unit[axis] = c.step[axis] = 1; break;
        case AxisRole::layered:
          c.unit[axis] = distance;
          c.step[axis] = stage == 0 ? distance : 2 * distance;
          c.first[axis] = stage == 0 ? 0 : distance;
      }
      const int log_step = std::countr_zero(c.step[axis]);  // steps are powers of two
      c.count[axis] = lattice_.extents[axis] <= c.first[axis]
                          ? 0
                          : ((lattice_.extents[axis] - c.first[axis] - 1) >> log_step) + 1;
    }
    return c;
  }

  const Lattice& lattice_;
  int level_;
  bool is_top_;
  unsigned lattice_axes_ = 0;  ///< bit mask
  Schedule& schedule_;
};

Grid make_grid(const Lattice& lattice) {
  Grid grid{lattice.extents, {1, 1, 1, 1}, {1, 1, 1, 1}};
  for (unsigned axis = max_axes - 1; axis > 0; --axis) {
    grid.strides[axis - 1] = grid.strides[axis] * grid.extents[axis];
  }
  const std::uint64_t edge = lattice.rank <= 1 ? 64 : lattice.rank == 2 ? 8 : 4;
  for (unsigned axis = 0; axis < max_axes; ++axis) {
    const bool is_lattice = lattice.roles[axis] == AxisRole::lattice;
    if (is_lattice && lattice.extents[axis] > 1) grid.tile[axis] = edge;
  }
  return grid;
}

}  // namespace

std::size_t Schedule::coarse_passes() const {
  const auto finest =
      std::find_if(passes.begin(), passes.end(), [](const Pass& pass) { return pass.level == 1; });
  return static_cast<std::size_t>(finest - passes.begin());
}

Schedule make_schedule(const Lattice& lattice) {
  Schedule schedule;
  schedule.grid = make_grid(lattice);
  const auto stages = static_cast<std::size_t>(lattice.slice_levels) + 1;
  const auto levels = static_cast<std::size_t>(lattice.levels + 2 - lattice.finest);
  schedule.classes.reserve(levels * stages << lattice.rank);
  for (int level = lattice.levels + 1; level >= lattice.finest; --level) {
    LevelBuilder(lattice, level, schedule).add_passes();
  }
  return schedule;
}

}  // namespace cuszi

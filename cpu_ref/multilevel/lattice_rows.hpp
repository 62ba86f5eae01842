#pragma once

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "core/multilevel/class_plan.hpp"
#include "core/multilevel/code_position.hpp"
#include "cpu_ref/base/pack.hpp"
#include "cpu_ref/base/parallel.hpp"

namespace cuszi::cpu {

/// Points of a row per iteration.
inline constexpr std::uint64_t row_points = 1024;

/// Consecutive points of a class along the fastest axis.
struct Row {
  Index4 at;             ///< of the first point
  std::uint64_t offset;  ///< of the first point in the array
  std::size_t count;
  std::uint64_t begin;          ///< first point in the class's row; a multiple of the tile
  std::uint64_t code_position;  ///< of the row's first tile in the pass
  std::uint64_t rows_of_tile;
  std::uint64_t row_of_tile;
};

/// Calls each(first point, code position, count) for runs with consecutive code positions.
template <class Each>
void for_each_run(const Row& row, const PointClass& points, const Grid& grid, const Each& each) {
  const std::uint64_t tile = grid.tile[3];
  for (std::size_t i = 0; i < row.count; i += tile) {
    const std::uint64_t j = row.begin + i;
    const std::uint64_t width = std::min(tile, points.count[3] - j);
    each(i, row.code_position + j * row.rows_of_tile + row.row_of_tile * width, width);
  }
}

/// Most runs have 4 or 8 points.
template <class V>
void copy_run(const V* from, std::size_t count, V* to) {
  if (count == 4) {
    std::memcpy(to, from, 4 * sizeof(V));
  } else if (count == 8) {
    std::memcpy(to, from, 8 * sizeof(V));
  } else {
    std::copy_n(from, count, to);
  }
}

/// `j` counts the class's steps.
inline Row make_row(const PointClass& points, const Grid& grid, const Index4& j,
                    std::uint64_t end) {
  Row row{};
  row.at = position_of(points, j);
  row.offset = offset_of(grid, row.at);
  row.count = static_cast<std::size_t>(end - j[3]);
  row.begin = j[3];
  const TileSpan tile1 = tile_around(j[1], grid.tile[1], points.count[1]);
  const TileSpan tile2 = tile_around(j[2], grid.tile[2], points.count[2]);
  row.code_position = code_position_of(grid, points, {j[0], tile1.first, tile2.first, 0});
  row.rows_of_tile = tile1.size * tile2.size;
  row.row_of_tile = (j[1] - tile1.first) * tile2.size + (j[2] - tile2.first);
  return row;
}

/// A box of a class's points, in the class's steps.
struct Task {
  std::size_t index;  ///< of the class in the pass
  Index4 begin;
  Index4 end;
};

template <class T>
std::vector<Task> tasks_of(std::span<const ClassPlan<T>> classes) {
  constexpr Index4 block{1, 8, 32, 64 * row_points};
  std::vector<Task> tasks;
  for (std::size_t c = 0; c < classes.size(); ++c) {
    const Index4& count = classes[c].points.count;
    Index4 blocks{};
    std::uint64_t all = 1;
    for (unsigned axis = 0; axis < max_axes; ++axis) {
      blocks[axis] = ceil_div(count[axis], block[axis]);
      all *= blocks[axis];
    }
    for (std::uint64_t i = 0; i < all; ++i) {
      Task task{c, {}, {}};
      std::uint64_t rest = i;
      for (unsigned axis = max_axes; axis-- > 0; rest /= blocks[axis]) {
        task.begin[axis] = rest % blocks[axis] * block[axis];
        task.end[axis] = std::min(task.begin[axis] + block[axis], count[axis]);
      }
      tasks.push_back(task);
    }
  }
  return tasks;
}

/// The box has extent 1 along the slowest axis.
template <class Work>
void for_each_row_of_task(const Task& task, const PointClass& points, const Grid& grid,
                          const Work& work) {
  Index4 j = task.begin;
  for (j[1] = task.begin[1]; j[1] < task.end[1]; ++j[1]) {
    for (j[2] = task.begin[2]; j[2] < task.end[2]; ++j[2]) {
      for (j[3] = task.begin[3]; j[3] < task.end[3]; j[3] += row_points) {
        work(make_row(points, grid, j, std::min(j[3] + row_points, task.end[3])));
      }
    }
  }
}

/// Smaller passes use one thread.
inline constexpr std::uint64_t serial_points = std::uint64_t{1} << 15;

/// Calls work(state, class, row) on all threads.
template <class T, class MakeState, class Work, class Finish>
void for_each_row(const FramePlan<T>& plan, const Pass& pass, const MakeState& make_state,
                  const Work& work, const Finish& finish) {
  const std::span<const ClassPlan<T>> classes = plan.classes_of(pass);
  const std::vector<Task> tasks = tasks_of(classes);
  const std::uint64_t share = pass.points <= serial_points ? tasks.size() : 1;
  parallel_for(
      ceil_div(tasks.size(), share), make_state,
      [&](auto& state, std::uint64_t i) {
        const std::uint64_t end = std::min<std::uint64_t>((i + 1) * share, tasks.size());
        for (std::uint64_t t = i * share; t < end; ++t) {
          const ClassPlan<T>& c = classes[tasks[t].index];
          for_each_row_of_task(tasks[t], c.points, plan.grid,
                               [&](const Row& row) { work(state, c, row); });
        }
      },
      finish);
}

/// A worker per thread, replaced for each class.
template <class T, class Worker>
class OfClass {
 public:
  template <class... Args>
  Worker& of(const ClassPlan<T>& c, const Args&... args) {
    if (std::exchange(class_, &c) != &c) worker_.emplace(args..., c);
    return *worker_;
  }

 private:
  const ClassPlan<T>* class_ = nullptr;
  std::optional<Worker> worker_;
};

/// Points with all taps within `margins` inside the array along the row.
struct Inner {
  std::size_t begin;
  std::size_t end;
};

inline Inner inner_part(const Row& row, const PointClass& points, const Grid& grid,
                        const Index4& margins) {
  const std::uint64_t step = points.step[3];
  const std::uint64_t margin = margins[3];
  const std::uint64_t begin = row.at[3] >= margin ? 0 : ceil_div(margin - row.at[3], step);
  if (row.at[3] + margin >= grid.extents[3]) return {0, 0};
  const std::uint64_t end = (grid.extents[3] - margin - row.at[3] - 1) / step + 1;
  const auto b = static_cast<std::size_t>(std::min<std::uint64_t>(begin, row.count));
  const auto e = static_cast<std::size_t>(std::min<std::uint64_t>(end, row.count));
  return b < e ? Inner{b, e} : Inner{0, 0};
}

/// Common steps are compile-time constants, for vectorisation.
template <class F>
void with_step(std::uint64_t step, const F& f) {
  switch (step) {
    case 1: return f(FixedStep<1>{});
    case 2: return f(FixedStep<2>{});
    case 4: return f(FixedStep<4>{});
    default: return f(static_cast<std::ptrdiff_t>(step));
  }
}

template <class T>
PointAt<const T*> point_of(const Grid& grid, const PointClass& points, const Row& row,
                           const T* values, std::size_t k) {
  Index4 at = row.at;
  at[3] += k * points.step[3];
  return {grid, points, at, values + row.offset + k * points.step[3]};
}

/// A pack of inner points.
template <class P, class Step>
PointAt<PackPointer<P, Step>> pack_of(const Grid& grid, const PointClass& points, const Row& row,
                                      const typename P::Value* values, std::size_t k, Step step) {
  const auto first = point_of(grid, points, row, values, k);
  return {grid, points, first.at, {first.value, step}};
}

/// Covers [begin, end) with packs; the last may overlap. Returns the end, or `begin` if there are
/// too few points.
template <class P, class Each>
std::size_t for_each_pack(std::size_t begin, std::size_t end, const Each& each) {
  constexpr std::size_t size = P::size;
  if (end < begin + size) return begin;
  for (std::size_t k = begin; k + size <= end; k += size) each(k);
  if ((end - begin) % size != 0) each(end - size);
  return end;
}

}  // namespace cuszi::cpu

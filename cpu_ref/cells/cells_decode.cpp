#include <algorithm>
#include <memory>

#include "core/base/error.hpp"
#include "core/base/growing_memory.hpp"
#include "core/cells/anchors.hpp"
#include "cpu_ref/base/parallel.hpp"
#include "cpu_ref/base/prefetch.hpp"
#include "cpu_ref/cells/cell_levels.hpp"
#include "cpu_ref/cells/cells.hpp"
#include "cpu_ref/cells/chains.hpp"

namespace cuszi::cpu {

namespace {

/// A frame on its way from codes to values, as all threads see it.
template <class T, class Shape>
struct RestoreTask {
  CellGrid grid;
  CellsQuantizer<T> quantizer;
  int first_level;   ///< the finest one that is restored: of the output's stride
  Extents3 extents;  ///< of the output
  T* values;
  std::vector<std::int32_t> anchors;
  CellsWeights weights{};
  CellBlocks blocks{};
  std::vector<CellsQuantizer<T>> of_bounds{};
  LocalCellsQuantizers<T> local{};

  /// The restored anchor of a tile, less the background.
  T anchor(std::uint64_t number) const {
    const T anchor = quantizer.anchor(anchors[number]);
    if (!local.any() || blocks.classes[number * tile_blocks] == 0) return anchor;
    const CellTile tile = grid.template tile<Shape>(number);
    return local.at(tile.first[0], tile.first[1], tile.first[2])
        .restored(Shape::levels - 1, anchor, static_cast<T>(blocks.codes[number * cell_codes]));
  }
};

/// Restores groups of tiles, one after the other.
template <class T, class Shape>
class CellsDecoder {
 public:
  explicit CellsDecoder(const RestoreTask<T, Shape>& task) : task_(task) {}

  void restore_run(const TileRun& run) {
    const std::uint64_t slice = run.first / task_.grid.step(0);
    if (!Shape::has(0) && slice % (std::uint64_t{1} << task_.first_level) != 0) return;
    if (run.has_next) restore_group(run.end);
    run.template for_each_group<Shape>([&](std::uint64_t first_tile) {
      if (first_tile > run.first) prefetch_codes(first_tile - group_tiles<Shape>);
      restore_group(first_tile);
      store();
    });
  }

 private:
  void restore_group(std::uint64_t first_tile) {
    group_ = tile_of_group<Shape>(task_.grid, first_tile);
    fill_tables();
    collect_codes();
    place_anchors<Shape>(
        task_.grid, group_, [&](std::uint64_t tile) { return task_.anchor(tile); },
        memory_.template values<TopLevel<Shape>>());
    for_each_level_down<Shape>(task_.first_level, [&](auto level) {
      using Level = decltype(level);
      turn_face<Shape, Level>(memory_.template values<Level>());
      with_vectors_of_level<Level>(
          [&] { for_each_class<Shape>([&](auto odd) { restore_class<Level, odd()>(); }); });
      if constexpr (Level::level > 0) {
        using Fine = CellLevel<Shape, Level::level - 1>;
        hand_down<Fine, Level>(memory_.template values<Level>(), memory_.template values<Fine>());
      }
    });
  }

  void fill_tables() {
    for_each_level_up<Shape>([&](auto level) {
      memory_.template tables<decltype(level)>().fill(group_.last[2], task_.weights,
                                                      task_.quantizer);
    });
  }

  /// Brings the codes of the group into rows: those of its tiles, and of the near faces of the next
  /// ones along z and y.
  void collect_codes() {
    codes_.fill(0);
    for (std::size_t tile = 0; tile < tiles_in<Shape>(group_); ++tile) {
      collect_own_codes(tile);
      for (unsigned next = 1; next < 4; ++next) collect_face(tile, next);
    }
  }
  void collect_own_codes(std::size_t tile) {
    const std::uint64_t number = group_.number + tile;
    const std::uint8_t* const classes = task_.blocks.classes + number * tile_blocks;
    const std::int16_t* const codes = task_.blocks.codes + number * cell_codes;
    for (std::size_t block = 0; block < tile_blocks; ++block) {
      if (classes[block] == 0) continue;
      const std::int16_t* const own = codes + block * cell_block_codes;
      CodeOrder<Shape>::get().for_each_of_block(
          tile, block, [&](auto count, std::size_t i, std::size_t place) {
            std::copy_n(own + i, count(), codes_.data() + place);
          });
    }
  }
  void collect_face(std::size_t tile, unsigned next) {
    if (!has_beside(group_, next)) return;
    const std::uint64_t number = tile_beside(group_, tile, next);
    const std::uint8_t* const classes = task_.blocks.classes + number * tile_blocks;
    const std::int16_t* const codes = task_.blocks.codes + number * cell_codes;
    const auto& order = CodeOrder<Shape>::get();
    for (const auto& [position, to, step] : order.faces[next].codes)
      if (classes[position / cell_block_codes] != 0) codes_[to + tile * step] = codes[position];
    for (const auto& [position, to, step] : order.faces[next].runs)
      if (classes[position / cell_block_codes] != 0)
        std::copy_n(codes + position, order.run, codes_.data() + to + tile * step);
  }
  /// The tile next to one of a group: `next` has bit 0 for the next along z, 1 along y.
  std::uint64_t tile_beside(const CellTile& group, std::size_t tile, unsigned next) const {
    return group.number + tile + ((next & 1) != 0 ? task_.grid.step(0) : 0) +
           ((next & 2) != 0 ? task_.grid.step(1) : 0);
  }
  static bool has_beside(const CellTile& group, unsigned next) {
    const auto has = [&](int axis) { return Shape::has(axis) && group.last[axis] == Shape::tile; };
    return ((next & 1) == 0 || has(0)) && ((next & 2) == 0 || has(1));
  }
  /// Asks for the codes that collect_codes() of a group reads, which lie scattered.
  void prefetch_codes(std::uint64_t first_tile) const {
    const CellTile group = tile_of_group<Shape>(task_.grid, first_tile);
    const auto& order = CodeOrder<Shape>::get();
    for (unsigned next = 0; next < 4; ++next) {
      if (!has_beside(group, next)) continue;
      for (std::size_t tile = 0; tile < tiles_in<Shape>(group); ++tile) {
        const std::uint64_t number = tile_beside(group, tile, next);
        const std::uint8_t* const classes = task_.blocks.classes + number * tile_blocks;
        const std::int16_t* const codes = task_.blocks.codes + number * cell_codes;
        for (const std::uint16_t line : order.faces[next].lines)
          if (classes[line / order.block_lines] != 0) prefetch(codes + line * order.line_codes);
      }
    }
  }

  template <class Level, int odd>
  void restore_class() {
    constexpr int n = Level::n;
    T* const values = memory_.template values<Level>();
    auto& tables = memory_.template tables<Level>();
    const CellsQuantizer<T>& q = task_.quantizer;
    const T* const steps = tables.steps.step;
    const int inside = points_along<Level, odd>(2, group_.last[2]);
    for_each_row<Level, odd>(group_.last, [&](int z, int y) {
      if (task_.local.any()) set_local_steps<Shape, Level, odd>(task_.local, group_, z, y, tables);
      const RowPrediction<T, Level, Shape, odd> predict(values, tables, group_.last, z, y);
      T* const row = values + Level::value_at(odd, z, y);
      const std::int16_t* const codes = codes_.data() + Level::code_at(odd, z, y);
      T restored[n];
#pragma omp simd
      for (int k = 0; k < n; ++k) {
        const T r = q.restored_by(steps[k], predict(k), static_cast<T>(codes[k]));
        restored[k] = k < inside ? r : T(0);
      }
      std::copy_n(restored, n, row);
    });
  }

  /// Hands out the group's own points at the stride.
  void store() {
    if (task_.first_level == Shape::levels) {
      const T* const anchors =
          memory_.template values<TopLevel<Shape>>() + TopLevel<Shape>::value_at(0, 0, 0);
      for (std::size_t tile = 0; tile < tiles_in<Shape>(group_); ++tile)
        out_row(0, 0)[tile] = task_.quantizer.handed_out(anchors[tile]);
      return;
    }
    for_each_level_up<Shape>([&](auto level) {
      using Level = decltype(level);
      if (Level::level == task_.first_level) store_level<Level>();
    });
  }
  template <class Level>
  void store_level() {
    const T* const values = memory_.template values<Level>();
    const auto count = [&](int axis) {
      const int most = 2 * Level::cells_along(axis);
      return Shape::has(axis) ? std::min(group_.last[axis] / Level::spacing + 1, most) : 1;
    };
    const CellsQuantizer<T> q = task_.quantizer;
    const int points = count(2);
    for (int z = 0; z < count(0); ++z) {
      for (int y = 0; y < count(1); ++y) {
        const int odd = (z & 1) | (y & 1) << 1;
        const T* const even_row = values + Level::value_at(odd, z / 2, y / 2);
        const T* const odd_row = values + Level::value_at(odd | 4, z / 2, y / 2);
        T row[2 * Level::n];
#pragma omp simd
        for (int k = 0; k < Level::n; ++k) {
          row[2 * k] = q.handed_out(even_row[k]);
          row[2 * k + 1] = q.handed_out(odd_row[k]);
        }
        T* const out = out_row(z, y);
        if (points == 2 * Level::n) {  // nearly all, by a few instructions
          std::copy_n(row, 2 * Level::n, out);
        } else {
          std::copy_n(row, points, out);
        }
      }
    }
  }
  /// Where a row of the group begins in the output, by its numbers at the stride.
  T* out_row(int z, int y) const {
    const int level = task_.first_level;
    const std::uint64_t at_z = (group_.first[0] >> level) + static_cast<unsigned>(z);
    const std::uint64_t at_y = (group_.first[1] >> level) + static_cast<unsigned>(y);
    return task_.values + (at_z * task_.extents[1] + at_y) * task_.extents[2] +
           (group_.first[2] >> level);
  }

  const RestoreTask<T, Shape>& task_;
  CellTile group_{};
  CellMemory<T, Shape> memory_;
  CellCodes<Shape> codes_{};
};

/// Puts the exact values of a pass to their points that are restored.
template <class T>
void put_patches(const Sections& sections, const FrameOutput<T>& frame) {
  const SparseList patches =
      SparseList::decode(sections.find(SectionId::patches), count_of(frame.whole));
  for (const SparseEntry& patch : patches.entries()) {
    Extents3 at = coordinates_of(patch.point, frame.whole);
    bool is_restored = true;
    for (std::size_t axis = 0; axis < at.size(); ++axis) {
      if (frame.whole[axis] == 1) continue;
      is_restored &= at[axis] % frame.stride == 0;
      at[axis] /= frame.stride;
    }
    if (is_restored) frame.values[point_at(at, frame.extents)] = value_of<T>(patch.value);
  }
}

template <class T, class Shape>
void restore_cells(const CellsParams& params, std::span<const Sections> passes,
                   const FrameOutput<T>& frame) {
  const CellsHead head = CellsHead::read(passes.front().at(SectionId::codebook), Shape::rank);
  const CellGrid grid = CellGrid::of<Shape>(frame.whole, frame.local != nullptr);
  const int level = level_of_spacing(static_cast<int>(frame.stride));
  RestoreTask<T, Shape> task{grid,
                             CellsQuantizer<T>(params, frame.min, frame.max),
                             level,
                             frame.extents,
                             frame.values.data(),
                             decode_anchors(grid, passes.front().at(SectionId::anchors)),
                             head.weights};
  if (frame.local != nullptr) {
    task.of_bounds = quantizers_of_bounds(task.quantizer, *frame.local);
    task.local = {BlockGrid::of(frame.whole), frame.local->blocks.data(), task.of_bounds.data()};
  }
  const std::uint64_t tiles = grid.count();
  std::vector<std::uint8_t> classes(tiles * tile_blocks);
  const auto codes = make_host_array<std::int16_t>(tiles * cell_codes);
  const auto coded = coded_points<Shape>(grid);
  task.blocks = {Shape::rank, tiles, grid, coded.get(), classes.data(), codes.get()};
  for (std::size_t pass = 0; pass < passes.size(); ++pass)
    decode_chains(task.blocks, static_cast<int>(pass), head, passes[pass]);
  // From the last to the first: when codes of near faces are needed by the tiles before, they have
  // just been read with those of their own tile.
  const std::uint64_t runs = run_count(grid);
  parallel_for(
      runs, [&] { return std::make_unique<CellsDecoder<T, Shape>>(task); },
      [&](auto& decoder, std::uint64_t i) { decoder->restore_run(run_of(grid, runs - 1 - i)); },
      [](const auto&) {});
  for (const Sections& sections : passes) put_patches(sections, frame);
}

}  // namespace

template <class T>
void decode_values(const CellsParams& params, std::span<const Sections> passes,
                   const FrameOutput<T>& output) {
  FrameOutput<T> frame = output;
  frame.extents = extents_at_stride(frame.whole, frame.stride);
  with_cell_rank(params.rank,
                 [&]<class Shape>(Shape) { restore_cells<T, Shape>(params, passes, frame); });
}

template void decode_values(const CellsParams&, std::span<const Sections>,
                            const FrameOutput<float>&);
template void decode_values(const CellsParams&, std::span<const Sections>,
                            const FrameOutput<double>&);

}  // namespace cuszi::cpu

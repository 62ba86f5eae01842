#include <algorithm>
#include <bit>
#include <limits>
#include <memory>
#include <numeric>

#include "core/base/growing_memory.hpp"
#include "core/cells/anchors.hpp"
#include "core/cells/sparse_block.hpp"
#include "cpu_ref/base/parallel.hpp"
#include "cpu_ref/base/prefetch.hpp"
#include "cpu_ref/cells/cell_levels.hpp"
#include "cpu_ref/cells/cells.hpp"
#include "cpu_ref/cells/chains.hpp"

namespace cuszi::cpu {

namespace {

/// A frame on its way to codes, as all threads see it.
template <class T, class Shape>
struct CellsTask {
  const FrameInput<T>& frame;
  CellGrid grid;
  CellsQuantizer<T> quantizer;
  std::vector<CellsQuantizer<T>> of_bounds{};
  LocalCellsQuantizers<T> local{};
  std::vector<std::int32_t> anchors{};
  CellsWeights weights{};
  std::unique_ptr<CodedPoints> coded{};
  CellBlocks blocks{};

  CellsTask(const FrameInput<T>& input, const CellsParams& params, double bound)
      : frame(input),
        grid(CellGrid::of<Shape>(input.extents, input.local != nullptr)),
        quantizer(params, input.min, input.max, bound, input.rules) {
    if (input.local == nullptr) return;
    of_bounds = quantizers_of_bounds(quantizer, *input.local);
    local = {BlockGrid::of(input.extents), input.local->blocks.data(), of_bounds.data()};
  }

  bool is_missing(std::uint64_t point) const { return frame.mask.any() && frame.mask(point); }
  T value_or_nan(std::uint64_t point) const {
    return is_missing(point) ? std::numeric_limits<T>::quiet_NaN() : frame.values[point];
  }
  double bound_at(std::uint64_t point) const {
    if (!local.any()) return quantizer.bound;
    const Extents3 at = coordinates_of(point, frame.extents);
    return local.at(at[0], at[1], at[2]).bound;
  }
  /// The anchor of a tile as it is quantised.
  CellValue<T> anchor(std::uint64_t number) const {
    const T restored = quantizer.anchor(anchors[number]);
    if (!local.any()) return {0, 0, restored};
    const CellTile tile = grid.template tile<Shape>(number);
    const auto& [z, y, x] = tile.first;
    const T value = value_or_nan(grid.index(z, y, x)) - quantizer.background;
    return local.at(z, y, x).quantise(Shape::levels - 1, value, restored);
  }
};

/// The integer of a tile's anchor: of its first point that is not missing.
template <class T, class Shape>
std::int32_t anchor_of_tile(const CellsTask<T, Shape>& task, std::uint64_t number) {
  const CellTile tile = task.grid.template tile<Shape>(number);
  const auto end = [&](int axis) { return std::min(tile.last[axis] + 1, Shape::extent(axis)); };
  for (int z = 0; z < end(0); ++z)
    for (int y = 0; y < end(1); ++y)
      for (int x = 0; x < end(2); ++x) {
        const std::uint64_t point = task.grid.index(tile.first[0] + static_cast<unsigned>(z),
                                                    tile.first[1] + static_cast<unsigned>(y),
                                                    tile.first[2] + static_cast<unsigned>(x));
        if (!task.is_missing(point)) return task.quantizer.anchor_of(task.frame.values[point]);
      }
  return task.quantizer.anchor_of(task.quantizer.middle());
}

template <class T, class Shape>
void fit_all_weights(CellsTask<T, Shape>& task, double half_step) {
  parallel_for(Shape::levels * Shape::classes, [&](std::uint64_t i) {
    const int level = static_cast<int>(i) / Shape::classes;
    const int number = static_cast<int>(i) % Shape::classes;
    const int odd = Shape::odd_of(number);
    if (order_of(odd) < 2) return;
    const int spacing = 1 << level;
    const CellFitSample sample(Shape{}, task.frame.extents, spacing, odd);
    const auto value_at = [&](std::uint64_t z, std::uint64_t y, std::uint64_t x) {
      return task.value_or_nan(task.grid.index(z, y, x));
    };
    std::vector<CellObservation> seen(sample.count);
    for (std::uint64_t k = 0; k < sample.count; ++k)
      seen[k] = observe_cell_point(
          read_cell_point<T, Shape>(task.frame.extents, spacing, odd, sample.at(k), value_at), odd);
    task.weights.of[level][number] = fit_weights(seen, half_step_of_level(half_step, level), odd);
  });
}

/// Codes groups of tiles, one after the other.
template <class T, class Shape>
class CellsEncoder {
 public:
  explicit CellsEncoder(const CellsTask<T, Shape>& task) : task_(task) {}

  void code_run(const TileRun& run) {
    if (run.has_next) code_group(run.end, false);
    run.template for_each_group<Shape>([&](std::uint64_t tile) { code_group(tile, true); });
  }

  const CellCounts& counts() const { return counts_; }
  const std::vector<SparseEntry>& patches(int pass) const {
    return patches_[static_cast<std::size_t>(pass)];
  }

 private:
  using Finest = CellLevel<Shape, 0>;

  void code_group(std::uint64_t first_tile, bool is_own) {
    group_ = tile_of_group<Shape>(task_.grid, first_tile);
    fill_tables();
    if (!group_.is_whole) codes_.fill(0);  // of rows outside the field
    for_each_level_up<Shape>([&](auto level) {
      using Level = decltype(level);
      turn_face<Shape, Level>(memory_.template values<Level>());
      if constexpr (Level::level == 0) {
        load();
      } else {
        split<CellLevel<Shape, Level::level - 1>, Level>();
      }
    });
    place_anchors<Shape>(
        task_.grid, group_, [&](std::uint64_t tile) { return task_.anchor(tile).restored; },
        memory_.template values<TopLevel<Shape>>());
    for (std::size_t tile = 0; tile < tiles_in<Shape>(group_); ++tile) {
      codes_[anchor_code<Shape> + tile] = task_.anchor(first_tile + tile).code;
      if (is_own) check_anchor(tile);
    }
    for_each_level_down<Shape>(0, [&](auto level) {
      using Level = decltype(level);
      with_vectors_of_level<Level>([&] { code_level<Level>(); });
      if (is_own) check_level<Level>();
      if constexpr (Level::level > 0) {
        using Fine = CellLevel<Shape, Level::level - 1>;
        hand_down<Fine, Level>(memory_.template values<Level>(), memory_.template values<Fine>());
      }
    });
    if (!is_own) return;
    for (std::size_t tile = 0; tile < tiles_in<Shape>(group_); ++tile) store_blocks(tile);
  }

  void fill_tables() {
    for_each_level_up<Shape>([&](auto level) {
      memory_.template tables<decltype(level)>().fill(group_.last[2], task_.weights,
                                                      task_.quantizer);
    });
  }

  std::uint64_t first_of_row(int z, int y) const {
    return task_.grid.index(group_.first[0] + static_cast<unsigned>(z),
                            group_.first[1] + static_cast<unsigned>(y), group_.first[2]);
  }

  static void prefetch_row(const T* row) {
    constexpr int values_of_line = 64 / sizeof(T);
    for (int x = 0; x < group_width<Shape>; x += values_of_line) prefetch(row + x);
  }

  /// Brings the group's values in; those that are missing become NaN.
  void load() {
    T* const values = memory_.template values<Finest>();
    const int count = std::min(group_.last[2] + 1, group_width<Shape>);
    for (int z = 0; z <= group_.last[0]; ++z) {
      for (int y = 0; y <= group_.last[1]; ++y) {
        const int odd = (z & 1) | (y & 1) << 1;
        T* const even_row = values + Finest::value_at(odd, z / 2, y / 2);
        T* const odd_row = values + Finest::value_at(odd | 4, z / 2, y / 2);
        const std::uint64_t first = first_of_row(z, y);
        const T* from = task_.frame.values.data() + first;
        if (group_.first[2] != 0) prefetch_row(from - group_width<Shape>);  // of the next group
        T row[group_width<Shape>];
        if (count < group_width<Shape> || task_.frame.mask.any()) {
          std::fill(std::copy_n(from, count, row), row + group_width<Shape>, T(0));
          if (task_.frame.mask.any()) {
            for (int x = 0; x < count; ++x)
              if (task_.is_missing(first + static_cast<unsigned>(x)))
                row[x] = std::numeric_limits<T>::quiet_NaN();
          }
          from = row;
        }
        for (int k = 0; k < Finest::n; ++k) {
          even_row[k] = from[2 * k];
          odd_row[k] = from[2 * k + 1];
        }
      }
    }
  }

  /// Brings in the values of a coarser level, which are those of even class of a finer one.
  template <class Fine, class Level>
  void split() {
    const T* const fine = memory_.template values<Fine>();
    T* const values = memory_.template values<Level>();
    for (int z = 0; z < Fine::side(0); ++z) {
      for (int y = 0; y < Fine::side(1); ++y) {
        const int odd = (z & 1) | (y & 1) << 1;
        const T* const from = fine + Fine::value_at(0, z, y);
        T* const even_row = values + Level::value_at(odd, z / 2, y / 2);
        T* const odd_row = values + Level::value_at(odd | 4, z / 2, y / 2);
        for (int k = 0; k < Level::n; ++k) {
          even_row[k] = from[2 * k];
          odd_row[k] = from[2 * k + 1];
        }
      }
    }
  }

  template <class Level>
  void code_level() {
    for_each_class<Shape>([&](auto odd) { code_class<Level, odd()>(); });
  }

  /// Predicts and quantises the points of a class, in place.
  template <class Level, int odd>
  void code_class() {
    constexpr int n = Level::n;
    T* const values = memory_.template values<Level>();
    auto& tables = memory_.template tables<Level>();
    const RowSteps<T, n>& steps = tables.steps;
    const CellsQuantizer<T>& q = task_.quantizer;
    const int inside = points_along<Level, odd>(2, group_.last[2]);
    T doubts[n] = {};
    for_each_row<Level, odd>(group_.last, [&](int z, int y) {
      if (task_.local.any()) set_local_steps<Shape, Level, odd>(task_.local, group_, z, y, tables);
      const RowPrediction<T, Level, Shape, odd> predict(values, tables, group_.last, z, y);
      T* const row = values + Level::value_at(odd, z, y);
      std::int16_t* const codes = codes_.data() + Level::code_at(odd, z, y);
      T restored[n];
#pragma omp simd
      for (int k = 0; k < n; ++k) {
        const T value = row[k];
        const CellValue<T> coded =
            q.quantise(steps.step[k], steps.inverse[k], value - q.background, predict(k));
        const bool is_certain = magnitude_of(value - q.value_of(coded.restored)) < steps.certain[k];
        doubts[k] += (!is_certain & (value == value) & (k < inside)) != 0 ? T(1) : T(0);
        restored[k] = k < inside ? coded.restored : T(0);
        codes[k] = k < inside ? coded.code : std::int16_t{0};
      }
      std::copy_n(restored, n, row);
    });
    T doubt = 0;
    for (int k = 0; k < n; ++k) doubt += doubts[k];
    doubtful_[Shape::number_of(odd)] = doubt != 0 || q.zone.any();
  }

  /// Looks again at the classes that have values which may not come back within the bound.
  template <class Level>
  void check_level() {
    for_each_class<Shape>([&](auto odd) {
      if (doubtful_[Shape::number_of(odd())]) check_class<Level, odd()>();
    });
  }
  template <class Level, int odd>
  void check_class() {
    const auto along = [](int axis, int i) { return Level::spacing * (2 * i + (odd >> axis & 1)); };
    const T* const values = memory_.template values<Level>();
    const int inside = points_along<Level, odd>(2, group_.last[2]);
    for_each_row<Level, odd>(group_.last, [&](int z, int y) {
      if (along(0, z) == Shape::tile || along(1, y) == Shape::tile) return;  // the next tile's
      const std::uint64_t first = first_of_row(along(0, z), along(1, y));
      const T* const row = values + Level::value_at(odd, z, y);
      for (int k = 0; k < inside; ++k)
        check(first + static_cast<unsigned>(along(2, k)), row[k], Level::spacing);
    });
  }
  void check_anchor(std::size_t tile) {
    using Top = TopLevel<Shape>;
    check(first_of_row(0, 0) + tile * Shape::tile,
          memory_.template values<Top>()[Top::value_at(0, 0, 0) + tile], Shape::tile);
  }
  void check(std::uint64_t point, T restored, int spacing) {
    const T value = task_.frame.values[point];
    const CellsQuantizer<T>& q = task_.quantizer;
    if (task_.is_missing(point) ||
        may_restore_to(value, q.value_of(restored), task_.bound_at(point), task_.frame.rules)) {
      return;
    }
    patches_[static_cast<std::size_t>(pass_of_spacing<Shape>(spacing))].push_back(
        exact_value(point, value));
  }

  /// Brings the codes of a tile of the group into blocks and finds their classes.
  void store_blocks(std::size_t tile) {
    const auto& order = CodeOrder<Shape>::get();
    for (std::size_t block = 0; block < tile_blocks; ++block) {
      const std::uint64_t number = (group_.number + tile) * tile_blocks + block;
      std::int16_t* const out = task_.blocks.codes + number * cell_block_codes;
      std::int16_t codes[cell_block_codes];
      order.for_each_of_block(tile, block, [&](auto count, std::size_t i, std::size_t place) {
        std::copy_n(codes_.data() + place, count(), codes + i);
      });
      std::uint32_t sum = 0;
      for (const int code : codes) sum += static_cast<std::uint32_t>(code < 0 ? -code : code);
      const std::uint64_t coded = task_.blocks.coded_of(number);
      const std::uint8_t kind =
          class_of_block(sum, static_cast<std::uint32_t>(std::popcount(coded)));
      task_.blocks.classes[number] = kind;
      if (kind == 0) continue;
      std::copy_n(codes, cell_block_codes, out);
      if (!is_sparse_block(kind, coded)) counts_.add_block(kind, codes, coded);
    }
  }

  const CellsTask<T, Shape>& task_;
  CellTile group_{};
  CellMemory<T, Shape> memory_;
  CellCodes<Shape> codes_{};
  bool doubtful_[Shape::classes] = {};
  CellCounts counts_;
  std::array<std::vector<SparseEntry>, most_cell_passes> patches_;
};

/// What a frame's tables and lanes are, given how often symbols come.
CellsHead head_of(const CellsWeights& weights, const CellCounts& counts) {
  CellsHead head{};
  head.weights = weights;
  Cost cost = 0;
  std::uint64_t codes = 0;
  for (int i = 0; i < class_count; ++i) {
    codes = std::accumulate(std::begin(counts.codes[i]), std::end(counts.codes[i]), codes);
    cost += choose_table(counts.codes[i], default_tables().codes[i].frequencies, true,
                         head.tables.codes[i]);
    choose_table(counts.classes[i], default_tables().classes[i].frequencies, false,
                 head.tables.classes[i]);
  }
  head.blocks_of_lane = choose_blocks_of_lane(codes, (cost >> cost_bits) + counts.raw_bits());
  return head;
}

template <class T, class Shape>
std::vector<OwnCoded> code_cells(const CellsParams& params, double bound,
                                 const FrameInput<T>& frame) {
  CellsTask<T, Shape> task(frame, params, bound);
  const std::uint64_t tiles = task.grid.count();
  task.anchors.resize(tiles);
  parallel_for(ceil_div(tiles, anchor_group), [&](std::uint64_t group) {
    const std::uint64_t end = std::min((group + 1) * anchor_group, tiles);
    for (std::uint64_t i = group * anchor_group; i < end; ++i)
      task.anchors[i] = anchor_of_tile(task, i);
  });
  fit_all_weights(task, params.half_step);
  std::vector<std::uint8_t> classes(tiles * tile_blocks);
  const auto codes = make_host_array<std::int16_t>(tiles * cell_codes);
  task.coded = coded_points<Shape>(task.grid);
  task.blocks = {Shape::rank, tiles, task.grid, task.coded.get(), classes.data(), codes.get()};
  CellCounts counts;
  std::array<std::vector<SparseEntry>, most_cell_passes> patches;
  parallel_for(
      run_count(task.grid), [&] { return std::make_unique<CellsEncoder<T, Shape>>(task); },
      [&](auto& encoder, std::uint64_t i) { encoder->code_run(run_of(task.grid, i)); },
      [&](const auto& encoder) {
        counts.add(encoder->counts());
        for (int pass = 0; pass < Shape::passes; ++pass)
          append_entries(patches[static_cast<std::size_t>(pass)], encoder->patches(pass));
      });
  counts.add_contexts(task.blocks);
  const CellsHead head = head_of(task.weights, counts);

  std::vector<OwnCoded> passes(Shape::passes);
  passes[0].sections.push_back({SectionId::codebook, head.write(Shape::rank)});
  passes[0].sections.push_back({SectionId::anchors, encode_anchors(task.grid, task.anchors)});
  for (std::size_t pass = 0; pass < passes.size(); ++pass) {
    for (OwnedSection& section : encode_chains(task.blocks, static_cast<int>(pass), head))
      passes[pass].sections.push_back(std::move(section));
    sort_entries(patches[pass]);
    passes[pass].counts.patches = patches[pass].size();
    passes[pass].sections.push_back(
        {SectionId::patches, SparseList::encode(patches[pass], frame.values.size())});
  }
  return passes;
}

}  // namespace

template <class T>
std::vector<OwnCoded> encode_values(const CellsParams& params, double bound,
                                    const FrameInput<T>& frame) {
  return with_cell_rank(
      params.rank, [&]<class Shape>(Shape) { return code_cells<T, Shape>(params, bound, frame); });
}

template std::vector<OwnCoded> encode_values(const CellsParams&, double, const FrameInput<float>&);
template std::vector<OwnCoded> encode_values(const CellsParams&, double, const FrameInput<double>&);

}  // namespace cuszi::cpu

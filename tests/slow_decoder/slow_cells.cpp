#include <algorithm>
#include <array>
#include <cstdlib>

#include "core/cells/anchors.hpp"
#include "core/cells/head.hpp"
#include "core/cells/prediction.hpp"
#include "core/cells/quantiser.hpp"
#include "core/cells/sparse_block.hpp"
#include "core/field/sparse_list.hpp"
#include "tests/slow_decoder/slow_frame.hpp"
#include "tests/slow_decoder/slow_segment.hpp"

namespace cuszi::slow {

namespace {

/// The classes and codes of all tiles.
struct SlowBlocks {
  std::vector<std::uint8_t> classes;
  std::vector<int> codes;
  std::vector<bool> is_coded;  ///< of each code
};

void read_classes(int rank, int pass, std::uint64_t tiles, const CellsHead& head, SlowSegment& in,
                  std::uint64_t first_tile, SlowBlocks& blocks) {
  const std::uint32_t run = run_of_classes(rank, pass);
  const std::uint32_t first = first_block_of_pass(rank, pass);
  for (std::uint32_t step = 0; step < run * blocks_of_pass(rank, pass); ++step) {
    const std::uint32_t of_run = step / blocks_of_pass(rank, pass);
    const std::uint32_t block = first + step % blocks_of_pass(rank, pass);
    for (std::uint64_t lane = 0; lane < most_lanes; ++lane) {
      const std::uint64_t tile = first_tile + lane * run + of_run;
      if (tile >= tiles) break;
      std::uint8_t* const own = blocks.classes.data() + tile * tile_blocks;
      const std::uint32_t context = context_of_block(rank, own, block);
      own[block] = static_cast<std::uint8_t>(in.take_symbol(lane, head.tables.classes[context]));
    }
  }
}

/// Gives the first codes of a lane the signs that it carries.
void give_signs(std::span<const std::uint64_t> live, std::size_t lane, std::uint32_t count,
                std::uint32_t signs, SlowBlocks& blocks) {
  for (std::size_t i = lane; count > 0; i += most_lanes) {
    for (std::uint64_t k = 0; k < cell_block_codes && count > 0; ++k) {
      int& code = blocks.codes[live[i] * cell_block_codes + k];
      if (code == 0 || std::abs(code) > most_small_code) continue;
      if (signs % 2 != 0) code = -code;
      signs /= 2;
      --count;
    }
  }
}

void read_codes(std::span<const std::uint64_t> live, std::uint32_t blocks_of_lane,
                const CellsHead& head, SlowSegment& in, SlowBlocks& blocks) {
  std::uint32_t carried[most_lanes] = {};
  for (std::size_t first = 0; first < live.size(); first += most_lanes) {
    const auto round = live.subspan(first, std::min<std::size_t>(most_lanes, live.size() - first));
    const bool may_carry = first / most_lanes < carrying_blocks(blocks_of_lane);
    for (std::uint64_t i = 0; i < cell_block_codes; ++i) {
      std::vector<std::uint32_t> tokens(round.size());
      const auto is_coded = [&](std::size_t lane) {
        return blocks.is_coded[round[lane] * cell_block_codes + i];
      };
      for (std::size_t lane = 0; lane < round.size(); ++lane) {
        if (!is_coded(lane)) continue;
        const SymbolTable& table = head.tables.codes[blocks.classes[round[lane]]];
        tokens[lane] =
            may_carry ? in.take_token(lane, table, carried[lane]) : in.take_symbol(lane, table);
      }
      for (std::size_t lane = 0; lane < round.size(); ++lane) {
        if (!is_coded(lane)) continue;
        const std::uint32_t token = tokens[lane];
        blocks.codes[round[lane] * cell_block_codes + i] =
            token < small_tokens
                ? code_of_small_token(token)
                : code_of_token(token, in.take_raw(lane, raw_bits_of_code_token(token)));
      }
    }
  }
  for (std::size_t lane = 0; lane < std::min<std::size_t>(live.size(), most_lanes); ++lane)
    give_signs(live, lane, carried[lane], in.take_signs(lane, carried[lane]), blocks);
}

/// Reads the lists of sparse blocks, bit by bit: first of the words that lanes carry, then of the
/// others.
void read_lists(std::span<const std::uint64_t> sparse, std::span<const std::uint16_t> carried,
                ByteReader& section, SlowBlocks& blocks) {
  std::size_t at = 0;  // words
  std::uint32_t word = 0;
  std::uint32_t left = 0;  // bits of the word
  const auto take = [&](std::uint32_t bits) {
    std::uint32_t value = 0;
    for (std::uint32_t i = 0; i < bits; ++i) {
      if (left == 0) {
        word = at < carried.size() ? carried[at] : section.get<std::uint16_t>();
        ++at;
        left = list_word_bits;
      }
      value |= (word & 1) << i;
      word >>= 1;
      --left;
    }
    return value;
  };
  for (const std::uint64_t block : sparse) {
    int sign = take(1) != 0 ? -1 : 1;
    std::uint32_t before = 0;
    for (int i = 0; i < blocks.classes[block]; ++i) {
      const std::uint32_t position = take(unit_bits);
      if (position < before) sign = -sign;
      blocks.codes[block * cell_block_codes + position] += sign;
      before = position;
    }
  }
  for (; at < carried.size(); ++at)
    if (carried[at] != 0) throw ArchiveError("a lane carries bits of no list");
  if (section.position() % 4 != 0 && section.get<std::uint16_t>() != 0)
    throw ArchiveError("lists are not padded by zeros");
  section.expect_end();
}

void read_pass(int rank, int pass, std::uint64_t tiles, const CellsHead& head,
               const Sections& sections, SlowBlocks& blocks) {
  if (!sections.has(SectionId::index)) return;
  ByteReader index(sections.at(SectionId::index), "the index");
  ByteReader classes(sections.at(SectionId::contexts), "the classes");
  const std::uint64_t run_tiles = std::uint64_t{most_lanes} * run_of_classes(rank, pass);
  std::vector<std::uint16_t> carried;
  for (std::uint64_t first = 0; first < tiles; first += run_tiles) {
    SlowSegment in(classes.take(index.get<std::uint32_t>()),
                   class_lanes(rank, pass, tiles, first / run_tiles));
    read_classes(rank, pass, tiles, head, in, first, blocks);
    for (std::size_t lane = 0; lane < class_lanes(rank, pass, tiles, first / run_tiles); ++lane)
      carried.push_back(in.take_word(lane));
    in.check_end();
  }
  std::vector<std::uint64_t> live;
  std::vector<std::uint64_t> sparse;
  for (std::uint64_t tile = 0; tile < tiles; ++tile)
    for (std::uint32_t i = 0; i < blocks_of_pass(rank, pass); ++i) {
      const std::uint64_t block = tile * tile_blocks + first_block_of_pass(rank, pass) + i;
      if (blocks.classes[block] == 0) continue;
      const auto first =
          blocks.is_coded.begin() + static_cast<std::ptrdiff_t>(block * cell_block_codes);
      const bool is_whole =
          std::find(first, first + cell_block_codes, false) == first + cell_block_codes;
      const bool is_sparse = is_whole && blocks.classes[block] <= most_sparse_sum;
      (is_sparse ? sparse : live).push_back(block);
    }
  read_lists(sparse, carried, classes, blocks);
  ByteReader codes(sections.find(SectionId::codes), "the codes");
  const std::uint32_t blocks_of_lane = blocks_of_lane_in(rank, pass, tiles, head.blocks_of_lane);
  const std::size_t size = std::size_t{most_lanes} * blocks_of_lane;
  for (std::size_t first = 0; first < live.size(); first += size) {
    const auto segment = std::span(live).subspan(first, std::min(size, live.size() - first));
    SlowSegment in(codes.take(index.get<std::uint32_t>()),
                   std::min<std::size_t>(segment.size(), most_lanes));
    read_codes(segment, blocks_of_lane, head, in, blocks);
    in.check_end();
  }
  codes.expect_end();
  index.expect_end();
}

/// Restores the points of a frame, level by level: those of a level are all predicted from coarser
/// ones and from earlier classes.
template <class T, class Shape>
class SlowCells {
 public:
  SlowCells(const CellsParams& params, SlowFrame<T>& frame)
      : frame_(frame),
        grid_(CellGrid::of<Shape>(
            frame.extents, frame.header.bounds && frame.passes.front().has(SectionId::bounds))),
        quantizers_{CellsQuantizer<T>(params, frame.header.min, frame.header.max)},
        head_(CellsHead::read(frame.passes.front().at(SectionId::codebook), Shape::rank)),
        restored_(frame.values.size()) {
    if (!grid_.has_anchor_codes) return;
    local_ =
        LocalBounds::decode(frame.passes.front().at(SectionId::bounds), {dtype_of<T>, frame.dims});
    quantizers_ = quantizers_of_bounds(quantizers_.front(), local_);
  }

  void restore() {
    blocks_.classes.resize(grid_.count() * tile_blocks);
    blocks_.codes.resize(grid_.count() * cell_codes);
    blocks_.is_coded.resize(grid_.count() * cell_codes);
    for (int level = Shape::levels; level-- > 0;)
      for (int number = 0; number < Shape::classes; ++number)
        for_each_point(level, Shape::odd_of(number), [&](std::uint64_t, const Extents3& at) {
          blocks_.is_coded[code_at(level, Shape::odd_of(number), at)] = true;
        });
    if (grid_.has_anchor_codes)
      for (std::uint64_t tile = 0; tile < grid_.count(); ++tile)
        blocks_.is_coded[tile * cell_codes] = true;
    for (int pass = 0; pass < Shape::passes; ++pass)
      read_pass(Shape::rank, pass, grid_.count(), head_,
                frame_.passes[static_cast<std::size_t>(pass)], blocks_);
    const auto anchors = decode_anchors(grid_, frame_.passes.front().at(SectionId::anchors));
    for (std::uint64_t number = 0; number < anchors.size(); ++number) {
      const CellTile tile = grid_.template tile<Shape>(number);
      const auto& [z, y, x] = tile.first;
      const int code = blocks_.codes[number * cell_codes];
      restored_[grid_.index(z, y, x)] = quantizer_at({z, y, x}).restored(
          Shape::levels - 1, quantizers_.front().anchor(anchors[number]), static_cast<T>(code));
    }
    for (int level = Shape::levels; level-- > 0;)
      for (int number = 0; number < Shape::classes; ++number)
        restore_class(level, Shape::odd_of(number));
    for (std::size_t i = 0; i < restored_.size(); ++i)
      frame_.values[i] = quantizers_.front().handed_out(restored_[i]);
    for (const Sections& sections : frame_.passes) {
      const auto patches =
          SparseList::decode(sections.find(SectionId::patches), frame_.values.size());
      for (const SparseEntry& patch : patches.entries())
        frame_.values.at(patch.point) = std::bit_cast<T>(static_cast<BitsOf<T>>(patch.value));
    }
  }

 private:
  /// Calls f(point, coordinates) for the points of a class.
  template <class F>
  void for_each_point(int level, int odd, const F& f) const {
    for (std::uint64_t point = 0; point < restored_.size(); ++point) {
      const Extents3 at = coordinates_of(point, frame_.extents);
      bool is_of_class = true;
      for (int axis = 0; axis < axis_count; ++axis) {
        if (!Shape::has(axis)) continue;
        const auto unit = std::uint64_t{1} << level;
        const std::uint64_t along = at[static_cast<std::size_t>(axis)];
        is_of_class &=
            along % unit == 0 && (along / unit) % 2 == (static_cast<unsigned>(odd) >> axis & 1U);
      }
      if (is_of_class) f(point, at);
    }
  }

  void restore_class(int level, int odd) {
    for_each_point(level, odd, [&](std::uint64_t point, const Extents3& at) {
      const int code = blocks_.codes[code_at(level, odd, at)];
      restored_[point] =
          quantizer_at(at).restored(level, predicted(level, odd, point, at), static_cast<T>(code));
    });
  }

  const CellsQuantizer<T>& quantizer_at(const Extents3& at) const {
    const BlockGrid grid = BlockGrid::of(frame_.extents);
    return quantizers_[local_.blocks.empty() ? 0
                                             : local_.blocks[grid.block_of(at[0], at[1], at[2])]];
  }

  /// Where the code of a point stands.
  std::uint64_t code_at(int level, int odd, const Extents3& at) const {
    int cell[axis_count] = {};
    std::uint64_t tile = 0;
    for (int axis = 0; axis < axis_count; ++axis) {
      const auto a = static_cast<std::size_t>(axis);
      const auto side = static_cast<std::uint64_t>(Shape::extent(axis));
      tile = tile * grid_.tiles[axis] + at[a] / side;
      cell[axis] = static_cast<int>(at[a] % side) >> (level + 1);
    }
    const int position = Shape::position(Shape::half >> level, odd, cell[0], cell[1], cell[2]);
    return tile * cell_codes + static_cast<unsigned>(position);
  }

  T predicted(int level, int odd, std::uint64_t point, const Extents3& at) const {
    T parts[3] = {};
    bool above[3] = {};
    std::uint64_t steps[3] = {};
    int order = 0;
    for (int axis = 0; axis < axis_count; ++axis) {
      if ((odd >> axis & 1) == 0) continue;
      const auto a = static_cast<std::size_t>(axis);
      const std::uint64_t step = (axis == 2   ? 1
                                  : axis == 1 ? frame_.extents[2]
                                              : frame_.extents[1] * frame_.extents[2])
                                 << level;
      const auto side = static_cast<std::uint64_t>(Shape::tile);
      const std::uint64_t first = at[a] / side * side;
      const std::uint64_t last = std::min(side, frame_.extents[a] - 1 - first);
      const auto spacing = std::uint64_t{1} << level;
      const std::uint64_t local = at[a] - first;
      const LineNeighbours known{local >= 3 * spacing, local + spacing <= last,
                                 local + 3 * spacing <= last};
      const T left = restored_[point - step];
      parts[order] = spline_value(known, known.far_left ? restored_[point - 3 * step] : left, left,
                                  known.right ? restored_[point + step] : left,
                                  known.far_right ? restored_[point + 3 * step] : left);
      above[order] = known.right;
      steps[order++] = step;
    }
    if (order == 1) return parts[0];
    const ClassWeights<T> fitted =
        head_.weights.of[level][Shape::number_of(odd)].template values<T>();
    if (order == 3)
      return weighted(effective_weights(fitted, above[0], above[1], above[2]), parts[0], parts[1],
                      parts[2]);
    if (above[0] && above[1]) {
      const std::uint64_t low = point - steps[0] - steps[1];
      parts[2] = diagonal_mean<T>(restored_[low], restored_[low + 2 * steps[0]],
                                  restored_[low + 2 * steps[1]],
                                  restored_[low + 2 * steps[0] + 2 * steps[1]]);
    }
    return weighted(effective_weights(fitted, above[0], above[1]), parts[0], parts[1], parts[2]);
  }

  SlowFrame<T>& frame_;
  CellGrid grid_;
  LocalBounds local_;
  std::vector<CellsQuantizer<T>> quantizers_;  ///< the frame's, then those of local bounds
  CellsHead head_;
  SlowBlocks blocks_;
  std::vector<T> restored_;  ///< less the background
};

}  // namespace

template <class T>
void restore(const CellsParams& params, SlowFrame<T>& frame) {
  with_cell_rank(params.rank,
                 [&]<class Shape>(Shape) { SlowCells<T, Shape>(params, frame).restore(); });
}

template void restore(const CellsParams&, SlowFrame<float>&);
template void restore(const CellsParams&, SlowFrame<double>&);

}  // namespace cuszi::slow

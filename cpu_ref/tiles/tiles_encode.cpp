#include <algorithm>
#include <cstring>
#include <limits>

#include "cpu_ref/base/parallel.hpp"
#include "cpu_ref/base/wide_vectors.hpp"
#include "cpu_ref/tiles/tile_bytes.hpp"
#include "cpu_ref/tiles/tile_lanes.hpp"
#include "cpu_ref/tiles/tiles.hpp"

namespace cuszi::cpu {

namespace {

class ChunkWriter {
 public:
  void add_head(const TileHead& head) { heads_[tiles_++] = head.word(); }
  void add_words(std::span<const std::uint32_t> words) {
    std::memcpy(words_.data() + word_count_, words.data(), words.size_bytes());
    word_count_ += words.size();
  }
  void add_bytes(std::uint64_t bits, std::uint32_t count) {
    std::memcpy(bytes_.data() + byte_count_, &bits, sizeof bits);
    byte_count_ += count;
  }

  void move_to(std::vector<std::uint32_t>& out) {
    out.insert(out.end(), heads_, heads_ + tiles_);
    out.insert(out.end(), words_.data(), words_.data() + word_count_);
    const std::size_t at = out.size();
    out.resize(at + ceil_div(byte_count_, 4), 0);
    std::memcpy(out.data() + at, bytes_.data(), byte_count_);
    tiles_ = word_count_ = byte_count_ = 0;
  }

 private:
  static constexpr std::size_t room = max_chunk_words<float> + chunk_tiles<float>;
  std::uint32_t heads_[chunk_tiles<float>] = {};
  std::size_t tiles_ = 0;
  std::size_t word_count_ = 0;
  std::size_t byte_count_ = 0;
  std::vector<std::uint32_t> words_ = std::vector<std::uint32_t>(room);
  std::vector<std::uint8_t> bytes_ = std::vector<std::uint8_t>(4 * room);
};

/// Flags of nonzero bytes, by group and lane.
using Unions = Lanes[4];

/// Population count that vectorises.
inline std::uint32_t count_ones(std::uint32_t x) {
  x -= (x >> 1) & 0x55555555U;
  x = (x & 0x33333333U) + ((x >> 2) & 0x33333333U);
  x = (x + (x >> 4)) & 0x0F0F0F0FU;
  x += x >> 8;
  return (x + (x >> 16)) & 63;
}

std::uint32_t count_ones(const Unions& unions) {
  std::uint32_t total = 0;
  for (const Lanes& lanes : unions)
    for (const std::uint32_t lane : lanes) total += count_ones(lane);
  return total;
}

template <class Shape>
void unite_groups(const LanePoints& integers, Unions& unions) {
  for (int group = 0; group < 4; ++group) {
    for (unsigned lane = 0; lane < tile_lanes; ++lane) {
      ZigzagUnion all;
      for (int bit = 0; bit < 8; ++bit) all.add(integers[Shape::point_of(group, bit)][lane]);
      unions[group][lane] = all.get();
    }
  }
}

template <class T>
struct Extremes {
  T low[tile_lanes];
  T high[tile_lanes];

  Extremes() {
    std::ranges::fill(low, std::numeric_limits<T>::max());
    std::ranges::fill(high, std::numeric_limits<T>::lowest());
  }
  T least() const { return *std::ranges::min_element(low); }
  T largest() const { return *std::ranges::max_element(high); }
};

template <class T, class Shape>
class TileEncoder {
 public:
  TileEncoder(const TileGrid& grid, const FrameInput<T>& frame, double half_step, double bound)
      : grid_(grid),
        frame_(frame),
        rows_(grid),
        quantizer_(half_step, bound, frame.rules),
        certain_magnitude_(quantizer_.certain_magnitude()) {}

  void code(std::uint64_t tile, ChunkWriter& out) {
    first_ = grid_.first(tile);
    rows_.load(frame_.values.data(), first_, value_);
    quantise();
    if (has_signs()) look_at_originals();
    choose_axes();
    write(out);
  }

  std::uint64_t patches() const { return patches_; }
  /// Valid if all values so far are finite.
  const Extremes<T>& extremes() const { return extremes_; }
  bool all_finite() const { return all_finite_; }

 private:
  using Bits = BitsOf<T>;

  void quantise() {
    patch_count_ = 0;
    any_absent_ = false;
    base_ = quantizer_.integer_of(value_[0][0]);
    if (are_small()) {
      round_values();
    } else if (!round_certainly()) {
      look_closer();
    }
  }

  /// Updates the extremes. Returns whether all values are below certain_magnitude().
  bool are_small() {
    using Signed = std::make_signed_t<Bits>;
    constexpr auto no_sign = static_cast<Signed>(~Bits{0} >> 1);
    Signed largest[tile_lanes] = {};  // magnitudes as bits; of non-finite values above all others
    for (unsigned point = 0; point < lane_points; point += 4) {
      for (unsigned lane = 0; lane < tile_lanes; ++lane) {
        for (unsigned i = 0; i < 4; ++i) {
          const T value = value_[point + i][lane];
          const Signed magnitude = std::bit_cast<Signed>(value) & no_sign;
          extremes_.low[lane] = value < extremes_.low[lane] ? value : extremes_.low[lane];
          extremes_.high[lane] = value > extremes_.high[lane] ? value : extremes_.high[lane];
          largest[lane] = magnitude > largest[lane] ? magnitude : largest[lane];
        }
      }
    }
    return !frame_.mask.any() && certain_magnitude_ >= 0 &&
           *std::ranges::max_element(largest) <= std::bit_cast<Signed>(certain_magnitude_);
  }

  void round_values() {
    const TileQuantizer<T> quantizer = quantizer_;
    const std::uint32_t base = base_;
    for (unsigned point = 0; point < lane_points; ++point)
      for (unsigned lane = 0; lane < tile_lanes; ++lane)
        integer_[point][lane] = quantizer.integer_of(value_[point][lane]) - base;
  }

  /// Returns false if a value is missing or not certainly within the bound.
  bool round_certainly() {
    const TileQuantizer<T> quantizer = quantizer_;
    const std::uint32_t base = base_;
    T doubts[tile_lanes] = {};
    for (unsigned point = 0; point < lane_points; ++point) {
      for (unsigned lane = 0; lane < tile_lanes; ++lane) {
        const T value = value_[point][lane];
        integer_[point][lane] = quantizer.integer_of(value) - base;
        doubts[lane] += quantizer.doubt_of(value);
      }
    }
    return !frame_.mask.any() && std::ranges::count(doubts, T(0)) == tile_lanes;
  }

  bool has_signs() const { return !frame_.originals.empty(); }

  void look_at_originals() {
    rows_.load(frame_.originals.data(), first_, value_);
    Lanes negative = {};
    std::uint32_t any = 0;
    for (unsigned point = 0; point < lane_points; ++point)
      for (unsigned lane = 0; lane < tile_lanes; ++lane)
        negative[lane] |= std::uint32_t{value_[point][lane] < 0} << point;
    for (unsigned lane = 0; lane < tile_lanes; ++lane)
      any |= negative[lane] & ~(any_absent_ ? absent_[lane] : 0);
    signs_ = {};
    for (unsigned lane = 0; lane < tile_lanes; ++lane) {
      const std::uint32_t absent = any_absent_ ? absent_[lane] : 0;
      const std::uint32_t signs = signs_of_lane(negative[lane], absent, any != 0);
      sign_word_[lane] = signs;
      if (signs == 0) continue;
      (~signs == 0 ? signs_.negative : signs_.mixed) |= std::uint32_t{1} << lane;
    }
  }

  /// Per point, for tiles with missing or uncertain values.
  void look_closer() {
    any_absent_ = true;
    std::uint32_t other = 0 - base_;  // 0, if no point has an integer
    bool any = false;
    for (unsigned lane = 0; lane < tile_lanes; ++lane) {
      absent_[lane] = patched_[lane] = 0;
      for (unsigned point = 0; point < lane_points; ++point) look_at(point, lane);
      if (!any && ~absent_[lane] != 0) {
        other = integer_[static_cast<unsigned>(std::countr_one(absent_[lane]))][lane];
        any = true;
      }
      patch_count_ += static_cast<std::uint32_t>(std::popcount(patched_[lane]));
    }
    patches_ += patch_count_;
    for (unsigned lane = 0; lane < tile_lanes; ++lane)
      if (absent_[lane] != 0) fill(lane, other);
    rebase();
  }

  void rebase() {
    const std::uint32_t first = integer_[0][0];
    base_ += first;
    for (auto& lanes : integer_)
      for (std::uint32_t& integer : lanes) integer -= first;
  }

  void look_at(unsigned point, unsigned lane) {
    const auto place =
        grid_.template place_of<Shape>(first_, static_cast<int>(lane), static_cast<int>(point));
    const std::uint32_t bit = std::uint32_t{1} << point;
    if (frame_.mask.any() && frame_.mask(place.index)) {
      absent_[lane] |= bit;
      return;
    }
    const T value = value_[point][lane];
    all_finite_ &= value - value == 0;
    const auto result = quantizer_(value);
    if (!result.in_range && !result.certain) absent_[lane] |= bit;
    const bool kept =
        result.certain || (result.in_range && quantizer_.fits(value, result.integer, frame_.rules));
    if (place.inside && !kept) patched_[lane] |= bit;
  }

  void fill(unsigned lane, std::uint32_t other) {
    std::uint32_t integers[lane_points];
    for (unsigned point = 0; point < lane_points; ++point) integers[point] = integer_[point][lane];
    fill_absent(integers, absent_[lane], other);
    for (unsigned point = 0; point < lane_points; ++point) integer_[point][lane] = integers[point];
  }

  void choose_axes() {
    std::uint32_t best = ~0U;
    const auto attempt = [&](std::uint32_t axes, const LanePoints& differences) {
      Unions unions;
      unite_groups<Shape>(differences, unions);
      const std::uint32_t ones = count_ones(unions);
      if (ones > best) return;
      best = ones;
      axes_ = axes;
      kept_ = &differences;
      std::memcpy(union_, unions, sizeof unions);
    };
    if constexpr (Shape::extents[0] == 1) attempt(0, integer_);
    difference<Shape, 2>(integer_, along_x_);
    attempt(1, along_x_);
    if constexpr (Shape::extents[1] > 1) {
      difference<Shape, 1>(along_x_, along_xy_);
      attempt(3, along_xy_);
    }
    if constexpr (Shape::extents[0] > 1) {
      difference<Shape, 0>(along_xy_, along_xyz_);
      attempt(7, along_xyz_);
    }
  }

  /// Bytes of pairs of planes, by lane: four groups of two planes.
  void make_planes(std::uint32_t pairs) {
    for (unsigned slice = 0; 4 * slice < pairs; ++slice) {
      for (int group = 0; group < 4; ++group) {
        for (unsigned lane = 0; lane < tile_lanes; ++lane) {
          std::uint32_t halves[2] = {0, 0};
          for (int bit = 0; bit < 8; ++bit) {
            const std::uint32_t u = zigzag32((*kept_)[Shape::point_of(group, bit)][lane]);
            halves[bit / 4] |= ((u >> (8 * slice)) & 255) << (8 * (bit % 4));
          }
          transpose_bits(halves[0], halves[1]);
          for (unsigned pair = 0; pair < 4; ++pair) {
            const std::uint32_t bytes = (halves[pair / 2] >> (16 * (pair % 2))) & 0xFFFF;
            std::uint32_t& word = plane_[4 * slice + pair][group / 2][lane];
            word = group % 2 == 0 ? bytes : word | bytes << 16;
          }
        }
      }
    }
  }

  void write(ChunkWriter& out) {
    std::uint32_t all = 0;
    for (const Lanes& lanes : union_)
      for (const std::uint32_t lane : lanes) all |= lane;
    TileHead head;
    head.pairs = pairs_of(all);
    head.axes = axes_;
    const std::uint64_t base =
        has_signs() ? signs_.base_of(zigzag32(base_), is_narrow()) : zigzag32(base_);
    head.base_bytes = base_bytes_of(base);
    head.patched = patch_count_ != 0;
    head.bytes = head.base_bytes + sign_bytes() + patch_bytes<T>(patch_count_);
    std::uint32_t sparse_bytes = 0;
    for (std::uint32_t pair = 0; pair < head.pairs; ++pair) {
      const std::uint32_t bytes = look_at_pair(pair);
      if (pair == head.dense && sparse_pair_bytes + bytes >= dense_pair_bytes)
        ++head.dense;
      else
        sparse_bytes += bytes;
    }
    head.bytes += sparse_bytes;
    if (4 * head.words(0) + head.bytes >= tile_points * sizeof(T)) {
      write_raw(out);
      return;
    }
    out.add_head(head);
    make_planes(head.pairs);
    out.add_words({&plane_[0][0][0], head.dense * 2 * std::size_t{tile_lanes}});
    out.add_words({&lanes_[head.dense], head.pairs - head.dense});
    out.add_bytes(base, head.base_bytes);
    if (sign_bytes() != 0) write_signs(out);
    write_bytes(head, out);
    if (head.patched) write_patches(out);
  }

  bool is_narrow() const {
    std::int32_t least = 0;  // of the first point
    std::int32_t most = 0;
    for (const Lanes& lanes : integer_) {
      for (const std::uint32_t integer : lanes) {
        least = std::min(least, static_cast<std::int32_t>(integer));
        most = std::max(most, static_cast<std::int32_t>(integer));
      }
    }
    return static_cast<std::uint32_t>(most) - static_cast<std::uint32_t>(least) <= narrow_reach;
  }

  std::uint32_t sign_bytes() const {
    if (!has_signs() || signs_.alike()) return 0;
    return TileSigns::bytes_of(static_cast<std::uint32_t>(std::popcount(signs_.mixed)));
  }

  void write_signs(ChunkWriter& out) const {
    out.add_bytes(signs_.negative, 4);
    out.add_bytes(signs_.mixed, 4);
    for (std::uint32_t left = signs_.mixed; left != 0; left &= left - 1)
      out.add_bytes(sign_word_[static_cast<unsigned>(std::countr_zero(left))], 4);
  }

  /// Flags the nonzero bytes of a pair. Returns the bytes it takes if sparse.
  std::uint32_t look_at_pair(std::uint32_t pair) {
    std::uint32_t bytes = 0;
    lanes_[pair] = 0;
    for (unsigned lane = 0; lane < tile_lanes; ++lane) {
      const std::uint32_t unions[4] = {union_[0][lane], union_[1][lane], union_[2][lane],
                                       union_[3][lane]};
      const std::uint32_t flags = flags_of_pair(unions, pair);
      flags_[pair][lane] = static_cast<std::uint8_t>(flags);
      lanes_[pair] |= std::uint32_t{flags != 0} << lane;
      std::uint32_t ones = flags - ((flags >> 1) & 0x55U);
      ones = (ones & 0x33U) + ((ones >> 2) & 0x33U);
      bytes += (flags != 0 ? 1 : 0) + ((ones + (ones >> 4)) & 15);
    }
    return bytes;
  }

  void write_bytes(const TileHead& head, ChunkWriter& out) const {
    std::uint32_t any = 0;
    for (std::uint32_t pair = head.dense; pair < head.pairs; ++pair) {
      any |= lanes_[pair];
      for (unsigned lane = 0; lane < tile_lanes; lane += 8) {
        std::uint64_t flags;
        std::memcpy(&flags, &flags_[pair][lane], sizeof flags);
        const std::uint32_t having = (lanes_[pair] >> lane) & 255;
        out.add_bytes(FlaggedBytes::gather(flags, having), FlaggedBytes::count(having));
      }
    }
    for (; any != 0; any &= any - 1) {
      const auto lane = static_cast<unsigned>(std::countr_zero(any));
      for (std::uint32_t pair = head.dense; pair < head.pairs; ++pair) {
        const std::uint64_t bytes = plane_[pair][0][lane] | std::uint64_t{plane_[pair][1][lane]}
                                                                << 32;
        const std::uint32_t flags = flags_[pair][lane];
        out.add_bytes(FlaggedBytes::gather(bytes, flags), FlaggedBytes::count(flags));
      }
    }
  }

  void write_patches(ChunkWriter& out) const {
    out.add_bytes(patch_count_, 2);
    for_each_patch(
        [&](unsigned point, unsigned lane) { out.add_bytes(lane * lane_points + point, 2); });
    for_each_patch([&](unsigned point, unsigned lane) {
      out.add_bytes(std::bit_cast<Bits>(value_[point][lane]), sizeof(T));
    });
  }

  template <class F>
  void for_each_patch(const F& f) const {
    for (unsigned lane = 0; lane < tile_lanes; ++lane)
      for (std::uint32_t left = patched_[lane]; left != 0; left &= left - 1)
        f(static_cast<unsigned>(std::countr_zero(left)), lane);
  }

  void write_raw(ChunkWriter& out) const {
    TileHead head;
    head.raw = true;
    out.add_head(head);
    std::uint32_t words[tile_points * sizeof(T) / 4];
    static_assert(sizeof words == sizeof value_);
    std::memcpy(words, value_, sizeof words);
    out.add_words(words);
  }

  const TileGrid& grid_;
  const FrameInput<T>& frame_;
  TileRows<Shape> rows_;
  TileQuantizer<T> quantizer_;
  T certain_magnitude_;
  std::uint64_t patches_ = 0;  ///< of all tiles
  Extremes<T> extremes_;
  bool all_finite_ = true;
  Extents3 first_{};
  PointsOf<T> value_;
  LanePoints integer_;
  LanePoints along_x_;
  LanePoints along_xy_;
  LanePoints along_xyz_;
  const LanePoints* kept_ = nullptr;  ///< of the chosen axes
  std::uint32_t axes_ = 0;
  Unions union_;
  std::uint32_t base_ = 0;
  bool any_absent_ = false;
  Lanes absent_;
  Lanes patched_;
  std::uint32_t patch_count_ = 0;
  TileSigns signs_;
  Lanes sign_word_;
  Lanes plane_[TileHead::max_pairs][2];
  std::uint32_t lanes_[TileHead::max_pairs];
  std::uint8_t flags_[TileHead::max_pairs][tile_lanes];
};

struct ChunkRun {
  static constexpr std::uint64_t most_chunks = 64;

  std::vector<std::uint32_t> begins;
  std::vector<std::uint32_t> words;
};

template <class T, class Shape>
ChunkRun code_run(const TileGrid& grid, std::uint64_t number, TileEncoder<T, Shape>& encoder,
                  ChunkWriter& writer) {
  ChunkRun run;
  const std::uint64_t first = number * ChunkRun::most_chunks;
  const std::uint64_t end = std::min(grid.chunks, first + ChunkRun::most_chunks);
  for (std::uint64_t chunk = first; chunk < end; ++chunk) {
    run.begins.push_back(static_cast<std::uint32_t>(run.words.size()));
    const std::uint64_t last = std::min(grid.count, (chunk + 1) * chunk_tiles<T>);
    for (std::uint64_t tile = chunk * chunk_tiles<T>; tile < last; ++tile)
      encoder.code(tile, writer);
    writer.move_to(run.words);
  }
  return run;
}

std::vector<OwnedSection> join(const std::vector<ChunkRun>& runs, std::uint64_t chunks) {
  std::vector<std::uint64_t> begins(runs.size() + 1);
  for (std::size_t i = 0; i < runs.size(); ++i) begins[i + 1] = begins[i] + runs[i].words.size();
  OwnedSection index{SectionId::index, std::vector<std::byte>(4 * chunks)};
  OwnedSection codes{SectionId::codes, std::vector<std::byte>(4 * begins.back())};
  parallel_for(runs.size(), [&](std::uint64_t i) {
    const ChunkRun& run = runs[i];
    std::memcpy(codes.bytes.data() + 4 * begins[i], run.words.data(), 4 * run.words.size());
    for (std::size_t chunk = 0; chunk < run.begins.size(); ++chunk) {
      const auto begin = static_cast<std::uint32_t>(begins[i] + run.begins[chunk]);
      std::memcpy(index.bytes.data() + 4 * (i * ChunkRun::most_chunks + chunk), &begin, 4);
    }
  });
  std::vector<OwnedSection> sections;
  sections.push_back(std::move(index));
  sections.push_back(std::move(codes));
  return sections;
}

struct CodedTiles {
  OwnCoded coded;
  double min = std::numeric_limits<double>::max();
  double max = std::numeric_limits<double>::lowest();
  bool all_finite = true;
};

template <class T>
CodedTiles code_tiles(const TilesParams& params, double bound, const FrameInput<T>& frame) {
  return with_tile_shape(frame.extents, [&](auto shape) {
    using Encoder = TileEncoder<T, decltype(shape)>;
    struct State {
      Encoder encoder;
      ChunkWriter writer = {};
    };
    const TileGrid grid = TileGrid::of<T, decltype(shape)>(frame.extents);
    std::vector<ChunkRun> runs(ceil_div(grid.chunks, ChunkRun::most_chunks));
    CodedTiles result;
    parallel_for(
        runs.size(), [&] { return State{Encoder(grid, frame, params.half_step, bound)}; },
        [&](State& state, std::uint64_t i) {
          runs[i] =
              with_wide_vectors([&] { return code_run<T>(grid, i, state.encoder, state.writer); });
        },
        [&](const State& state) {
          const Encoder& encoder = state.encoder;
          result.coded.counts.patches += encoder.patches();
          result.min = std::min(result.min, static_cast<double>(encoder.extremes().least()));
          result.max = std::max(result.max, static_cast<double>(encoder.extremes().largest()));
          result.all_finite &= encoder.all_finite();
        });
    result.coded.sections = join(runs, grid.chunks);
    return result;
  });
}

}  // namespace

template <class T>
OwnCoded encode_values(const TilesParams& params, double bound, const FrameInput<T>& frame) {
  return code_tiles(params, bound, frame).coded;
}

template <class T>
std::optional<OwnCoded> encode_unscanned(const TilesParams& params, double bound,
                                         const FrameInput<T>& frame, FieldScan& scan) {
  CodedTiles tiles = code_tiles(params, bound, frame);
  if (!tiles.all_finite) return std::nullopt;
  scan.min = tiles.min + 0.0;  // see scan_frame()
  scan.max = tiles.max + 0.0;
  return std::move(tiles.coded);
}

template OwnCoded encode_values(const TilesParams&, double, const FrameInput<float>&);
template OwnCoded encode_values(const TilesParams&, double, const FrameInput<double>&);
template std::optional<OwnCoded> encode_unscanned(const TilesParams&, double,
                                                  const FrameInput<float>&, FieldScan&);
template std::optional<OwnCoded> encode_unscanned(const TilesParams&, double,
                                                  const FrameInput<double>&, FieldScan&);

}  // namespace cuszi::cpu

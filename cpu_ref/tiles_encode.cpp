#include <cstring>

#include "cpu_ref/parallel.hpp"
#include "cpu_ref/tile_lanes.hpp"
#include "cpu_ref/tiles.hpp"

namespace cuszi::cpu {

namespace {

/// One tile after the other of a chunk, in the parts of the chunk.
class ChunkWriter {
 public:
  void add_head(const TileHead& head) { heads_[tiles_++] = head.word(); }
  void add_word(std::uint32_t word) { words_[word_count_++] = word; }
  void add_byte(std::uint32_t byte) { bytes_[byte_count_++] = static_cast<std::uint8_t>(byte); }
  void add_bytes(std::uint64_t bits, unsigned count) {
    for (unsigned i = 0; i < count; ++i)
      add_byte(static_cast<std::uint32_t>(bits >> (8 * i)) & 255);
  }

  std::uint32_t words() const {
    return tiles_ + word_count_ + static_cast<std::uint32_t>(ceil_div(byte_count_, 4));
  }

  /// Appends the chunk and begins the next one.
  void move_to(std::vector<std::uint32_t>& out) {
    out.insert(out.end(), heads_, heads_ + tiles_);
    out.insert(out.end(), words_.begin(), words_.begin() + word_count_);
    const std::size_t at = out.size();
    out.resize(at + ceil_div(byte_count_, 4), 0);
    std::memcpy(out.data() + at, bytes_.data(), byte_count_);
    tiles_ = word_count_ = byte_count_ = 0;
  }

 private:
  static constexpr std::size_t room = max_chunk_words<float> + chunk_tiles<float>;
  std::uint32_t heads_[chunk_tiles<float>] = {};
  std::uint32_t tiles_ = 0;
  std::uint32_t word_count_ = 0;
  std::uint32_t byte_count_ = 0;
  std::vector<std::uint32_t> words_ = std::vector<std::uint32_t>(room);
  std::vector<std::uint8_t> bytes_ = std::vector<std::uint8_t>(4 * room);
};

/// The ones of each lane's unions.
std::uint32_t count_ones(const Lanes (&unions)[4]) {
  Lanes ones = {};
  for (const Lanes& lanes : unions) {
    for (unsigned lane = 0; lane < tile_lanes; ++lane) {
      std::uint32_t x = lanes[lane];
      x -= (x >> 1) & 0x55555555U;
      x = (x & 0x33333333U) + ((x >> 2) & 0x33333333U);
      x = (x + (x >> 4)) & 0x0F0F0F0FU;
      x += x >> 8;
      ones[lane] += (x + (x >> 16)) & 63;
    }
  }
  std::uint32_t total = 0;
  for (const std::uint32_t lane : ones) total += lane;
  return total;
}

/// The union of the zigzags of each group of each lane: which of its planes' bytes are not zero.
template <class Shape>
void unite_groups(const LanePoints& integers, Lanes (&unions)[4]) {
  for (int group = 0; group < 4; ++group) {
    for (unsigned lane = 0; lane < tile_lanes; ++lane) unions[group][lane] = 0;
    for (int bit = 0; bit < 8; ++bit) {
      const Lanes& from = integers[Shape::point_of(group, bit)];
      for (unsigned lane = 0; lane < tile_lanes; ++lane)
        unions[group][lane] |= zigzag32(from[lane]);
    }
  }
}

/// Codes the tiles of a frame, one thread's.
template <class T, class Shape>
class TileEncoder {
 public:
  TileEncoder(const TileGrid& grid, const FrameInput<T>& frame, double half_step, double bound)
      : grid_(grid), frame_(frame), quantizer_(half_step, bound, frame.fills) {}

  void code(std::uint64_t tile, ChunkWriter& out) {
    first_ = grid_.first(tile);
    load();
    quantise();
    const std::uint32_t axes = choose_axes();
    write(axes, out);
  }

  std::uint64_t patches() const { return patches_; }

 private:
  using Bits = BitsOf<T>;

  void load() {
    constexpr int width = Shape::block(2);
    for_each_row<Shape>(grid_.extents, first_,
                        [&](int point, int lane, std::uint64_t from, std::uint64_t left) {
                          const T* const row = frame_.values.data() + from;
                          if (left >= width) {
                            for (int x = 0; x < width; ++x) value_[point + x][lane] = row[x];
                          } else {
                            for (int x = 0; x < width; ++x)
                              value_[point + x][lane] =
                                  row[std::min<std::uint64_t>(static_cast<unsigned>(x), left - 1)];
                          }
                        });
  }

  /// Makes integers of the values, relative to that of the tile's first point.
  void quantise() {
    std::uint32_t doubtful = frame_.mask.any() ? 1 : 0;
    for (unsigned point = 0; point < lane_points; ++point) {
      for (unsigned lane = 0; lane < tile_lanes; ++lane) {
        const auto result = quantizer_(value_[point][lane]);
        integer_[point][lane] = result.integer;
        doubtful |= result.certain ? 0U : 1U;
      }
    }
    patch_count_ = 0;
    if (doubtful != 0) look_closer();
    base_ = integer_[0][0];
    for (auto& lanes : integer_)
      for (std::uint32_t& integer : lanes) integer -= base_;
  }

  /// Where some values are missing or not certain to come back within the bound.
  void look_closer() {
    std::uint32_t other = 0;
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
    const auto result = quantizer_(value);
    if (!result.in_range && !result.certain) absent_[lane] |= bit;
    const bool kept =
        result.certain || (result.in_range && quantizer_.fits(value, result.integer, frame_.fills));
    if (place.inside && !kept) patched_[lane] |= bit;
  }

  void fill(unsigned lane, std::uint32_t other) {
    std::uint32_t integers[lane_points];
    for (unsigned point = 0; point < lane_points; ++point) integers[point] = integer_[point][lane];
    fill_absent(integers, absent_[lane], other);
    for (unsigned point = 0; point < lane_points; ++point) integer_[point][lane] = integers[point];
  }

  /// The axes whose differences leave the fewest bytes; integer_ becomes these differences.
  std::uint32_t choose_axes() {
    std::uint32_t best = ~0U;
    std::uint32_t axes = 0;
    const auto attempt = [&](std::uint32_t candidate) {
      unite_groups<Shape>(integer_, union_);
      const std::uint32_t ones = count_ones(union_);
      if (ones > best) return;
      best = ones;
      axes = candidate;
      std::memcpy(kept_, integer_, sizeof kept_);
      std::memcpy(kept_union_, union_, sizeof kept_union_);
    };
    if constexpr (Shape::extents[0] == 1) attempt(0);
    difference<Shape, 2>(integer_);
    attempt(1);
    if constexpr (Shape::extents[1] > 1) {
      difference<Shape, 1>(integer_);
      attempt(3);
    }
    if constexpr (Shape::extents[0] > 1) {
      difference<Shape, 0>(integer_);
      attempt(7);
    }
    return axes;
  }

  /// The bytes of each pair of planes, lane by lane: four groups of two planes.
  void make_planes(std::uint32_t pairs) {
    for (unsigned slice = 0; 4 * slice < pairs; ++slice) {
      for (int group = 0; group < 4; ++group) {
        for (unsigned lane = 0; lane < tile_lanes; ++lane) {
          std::uint32_t halves[2] = {0, 0};
          for (int bit = 0; bit < 8; ++bit) {
            const std::uint32_t u = zigzag32(kept_[Shape::point_of(group, bit)][lane]);
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

  void write(std::uint32_t axes, ChunkWriter& out) {
    std::uint32_t all = 0;
    for (const Lanes& lanes : kept_union_)
      for (const std::uint32_t lane : lanes) all |= lane;
    TileHead head;
    head.pairs = pairs_of(all);
    head.axes = axes;
    const std::uint32_t base = zigzag32(base_);
    head.base_bytes = base_bytes_of(base);
    head.patched = patch_count_ != 0;
    head.bytes = head.base_bytes + patch_bytes<T>(patch_count_);
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
    for (std::uint32_t pair = 0; pair < head.dense; ++pair)
      for (const Lanes& lanes : plane_[pair])
        for (const std::uint32_t word : lanes) out.add_word(word);
    for (std::uint32_t pair = head.dense; pair < head.pairs; ++pair) out.add_word(lanes_[pair]);
    out.add_bytes(base, head.base_bytes);
    for (std::uint32_t pair = head.dense; pair < head.pairs; ++pair)
      for (const std::uint8_t flags : flags_[pair])
        if (flags != 0) out.add_byte(flags);
    for (unsigned lane = 0; lane < tile_lanes; ++lane)
      for (std::uint32_t pair = head.dense; pair < head.pairs; ++pair) write_bytes(pair, lane, out);
    if (head.patched) write_patches(out);
  }

  /// Finds which bytes of a pair are not zero; the bytes it takes without those that are.
  std::uint32_t look_at_pair(std::uint32_t pair) {
    std::uint32_t bytes = 0;
    lanes_[pair] = 0;
    for (unsigned lane = 0; lane < tile_lanes; ++lane) {
      const std::uint32_t unions[4] = {kept_union_[0][lane], kept_union_[1][lane],
                                       kept_union_[2][lane], kept_union_[3][lane]};
      const std::uint32_t flags = flags_of_pair(unions, pair);
      flags_[pair][lane] = static_cast<std::uint8_t>(flags);
      lanes_[pair] |= std::uint32_t{flags != 0} << lane;
      std::uint32_t ones = flags - ((flags >> 1) & 0x55U);
      ones = (ones & 0x33U) + ((ones >> 2) & 0x33U);
      bytes += (flags != 0 ? 1 : 0) + ((ones + (ones >> 4)) & 15);
    }
    return bytes;
  }

  void write_bytes(std::uint32_t pair, unsigned lane, ChunkWriter& out) const {
    const std::uint64_t bytes = plane_[pair][0][lane] | std::uint64_t{plane_[pair][1][lane]} << 32;
    for (std::uint32_t flags = flags_[pair][lane]; flags != 0; flags &= flags - 1)
      out.add_byte(static_cast<std::uint32_t>(bytes >> (8 * std::countr_zero(flags))) & 255);
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
    for (const auto& lanes : value_) {
      for (const T value : lanes) {
        const auto bits = std::bit_cast<Bits>(value);
        out.add_word(static_cast<std::uint32_t>(bits));
        if constexpr (sizeof(T) == 8) out.add_word(static_cast<std::uint32_t>(bits >> 32));
      }
    }
  }

  const TileGrid& grid_;
  const FrameInput<T>& frame_;
  TileQuantizer<T> quantizer_;
  std::uint64_t patches_ = 0;  ///< of all tiles
  Extents3 first_{};           ///< point of the tile
  T value_[lane_points][tile_lanes];
  LanePoints integer_;
  LanePoints kept_;  ///< the best differences so far
  Lanes union_[4];
  Lanes kept_union_[4];
  std::uint32_t base_ = 0;
  Lanes absent_;
  Lanes patched_;
  std::uint32_t patch_count_ = 0;
  Lanes plane_[TileHead::max_pairs][2];
  std::uint32_t lanes_[TileHead::max_pairs];
  std::uint8_t flags_[TileHead::max_pairs][tile_lanes];
};

/// Neighbouring chunks, which one thread codes.
struct ChunkRun {
  static constexpr std::uint64_t most_chunks = 64;

  std::vector<std::uint32_t> begins;  ///< of its chunks, in words
  std::vector<std::uint32_t> words;
};

/// Codes the chunks of a run.
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

/// The index and the codes of all runs.
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

}  // namespace

template <class T>
SelfCoded encode_values(const TilesParams& params, double bound, const FrameInput<T>& frame) {
  return with_tile_shape(frame.extents, [&](auto shape) {
    using Encoder = TileEncoder<T, decltype(shape)>;
    struct State {
      Encoder encoder;
      ChunkWriter writer = {};
    };
    const TileGrid grid = TileGrid::of<T, decltype(shape)>(frame.extents);
    std::vector<ChunkRun> runs(ceil_div(grid.chunks, ChunkRun::most_chunks));
    SelfCoded result;
    parallel_for(
        runs.size(), [&] { return State{Encoder(grid, frame, params.half_step, bound)}; },
        [&](State& state, std::uint64_t i) {
          runs[i] = code_run<T>(grid, i, state.encoder, state.writer);
        },
        [&](const State& state) { result.counts.patches += state.encoder.patches(); });
    result.sections = join(runs, grid.chunks);
    return result;
  });
}

template SelfCoded encode_values(const TilesParams&, double, const FrameInput<float>&);
template SelfCoded encode_values(const TilesParams&, double, const FrameInput<double>&);

}  // namespace cuszi::cpu

#include <algorithm>
#include <cstring>
#include <limits>

#include "cpu_ref/tiles/tile_planes.hpp"
#include "cpu_ref/tiles/tiles.hpp"

namespace cuszi::cpu {

namespace {

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
class TileEncoder : private TilePlanes<Shape> {
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
    Planes::choose_axes();
    write(out);
  }

  std::uint64_t patches() const { return patches_; }
  /// Valid if all values so far are finite.
  const Extremes<T>& extremes() const { return extremes_; }
  bool all_finite() const { return all_finite_; }

 private:
  using Planes = TilePlanes<Shape>;
  using Planes::integer_;
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

  void write(ChunkWriter& out) {
    TileHead head = Planes::plan();
    const std::uint64_t base =
        has_signs() ? signs_.base_of(zigzag32(base_), is_narrow()) : zigzag32(base_);
    head.base_bytes = base_bytes_of(base);
    head.patched = patch_count_ != 0;
    head.bytes += head.base_bytes + sign_bytes() + patch_bytes<T>(patch_count_);
    if (4 * head.words(0) + head.bytes >= tile_points * sizeof(T)) {
      write_raw(out);
      return;
    }
    out.add_head(head);
    Planes::write_words(head, out);
    out.add_bytes(base, head.base_bytes);
    if (sign_bytes() != 0) write_signs(out);
    Planes::write_bytes(head, out);
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
  std::uint32_t base_ = 0;
  bool any_absent_ = false;
  Lanes absent_;
  Lanes patched_;
  std::uint32_t patch_count_ = 0;
  TileSigns signs_;
  Lanes sign_word_;
};

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
    const TileGrid grid = TileGrid::of<T, decltype(shape)>(frame.extents);
    CodedTiles result;
    result.coded.sections = code_chunks<T>(
        grid, [&] { return Encoder(grid, frame, params.half_step, bound); },
        [&](const Encoder& encoder) {
          result.coded.counts.patches += encoder.patches();
          result.min = std::min(result.min, static_cast<double>(encoder.extremes().least()));
          result.max = std::max(result.max, static_cast<double>(encoder.extremes().largest()));
          result.all_finite &= encoder.all_finite();
        });
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

#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string_view>
#include <vector>

#include "core/base/bytes.hpp"
#include "core/base/dims.hpp"
#include "core/base/dtype.hpp"
#include "core/base/hd.hpp"
#include "core/base/units.hpp"
#include "core/field/config.hpp"
#include "core/field/mask.hpp"
#include "core/field/quantizer.hpp"
#include "core/field/sample.hpp"

namespace cuszi {

/// A fast single-pass codec. Values are rounded to integers (dual quantisation, cuSZ, PACT'20,
/// 3.1); each tile takes differences along the 0 to 3 axes that give the fewest bytes, and stores
/// the nonzero bytes of its bit planes. Layout: docs/reference/format.md.
struct TilesParams {
  static constexpr PredictorId id = PredictorId::tiles;
  static constexpr std::string_view name = "tiles";
  static constexpr bool has_own_coder = true;

  double half_step = 0;  ///< negative: values are odd multiples of it, else even ones

  static TilesParams draft(const PredictorConfig& /*config*/, const Extents3& /*extents*/) {
    return {};
  }
  /// The step is below the bound by the rounding of the largest value, but at most 1/16: smaller
  /// steps would need more patches. A sampled maximum suffices.
  void choose(const PredictorConfig& /*config*/, const FieldScan& scan, double bound, DType dtype) {
    const double rounding = dtype == DType::f32 ? 0x1p-22 : 0x1p-51;
    half_step = bound - std::min(scan.sampled * rounding, bound / 16);
  }

  /// Lays an isovalue half way between two restored values, so that rounding moves no value across
  /// it, unless that takes a step smaller by more than an eighth. `keeps_zero`: 0 stays exact.
  void part_at(double isovalue, bool keeps_zero) {
    const double magnitude = std::fabs(isovalue);
    double halves = std::ceil(magnitude / half_step);
    const auto is_even = [&] { return std::fmod(halves, 2) == 0; };
    if (keeps_zero && is_even()) ++halves;
    const double finer = halves == 0 ? half_step : magnitude / halves;
    if (finer >= half_step * 0.875) half_step = is_even() ? -finer : finer;
  }

  std::vector<int> level_of_pass() const { return {0}; }
  bool is_usable(DType dtype) const { return is_usable_half_step(magnitude_of(half_step), dtype); }

  void write(ByteWriter& out) const { out.put(half_step); }
  static TilesParams read(ByteReader& in, const Extents3& /*extents*/, DType dtype) {
    return {read_half_step(in, dtype, true)};
  }

  friend bool operator==(const TilesParams&, const TilesParams&) = default;
};

/// 32 lanes of 32 points: a warp's registers, or a CPU loop's vectors.
inline constexpr unsigned tile_lanes = 32;
inline constexpr unsigned lane_points = 32;
inline constexpr unsigned tile_points = tile_lanes * lane_points;

/// Lanes, a lane's block of points, and groups of eight points that share bytes. Points of a lane
/// are in raster order.
template <int LanesZ, int LanesY, int LanesX, int BlockZ, int BlockY, int BlockX, int GroupZ,
          int GroupY, int GroupX>
struct TileShape {
  CUSZI_HD static constexpr int along(int axis, int z, int y, int x) {
    return axis == 0 ? z : axis == 1 ? y : x;
  }
  CUSZI_HD static constexpr int lanes(int axis) { return along(axis, LanesZ, LanesY, LanesX); }
  CUSZI_HD static constexpr int block(int axis) { return along(axis, BlockZ, BlockY, BlockX); }
  CUSZI_HD static constexpr int lane_stride(int axis) {
    return along(axis, LanesY * LanesX, LanesX, 1);
  }
  CUSZI_HD static constexpr int point_stride(int axis) {
    return along(axis, BlockY * BlockX, BlockX, 1);
  }
  static constexpr Extents3 extents{LanesZ * BlockZ, LanesY* BlockY, LanesX* BlockX};
  static_assert(LanesZ * LanesY * LanesX == tile_lanes && BlockZ * BlockY * BlockX == lane_points);
  static_assert(GroupZ * GroupY * GroupX == 8);

  CUSZI_HD static constexpr int point_of(int group, int bit) {
    constexpr int across_x = BlockX / GroupX;
    constexpr int across_y = BlockY / GroupY;
    const int z = group / (across_x * across_y) * GroupZ + bit / (GroupY * GroupX);
    const int y = group / across_x % across_y * GroupY + bit / GroupX % GroupY;
    const int x = group % across_x * GroupX + bit % GroupX;
    return (z * BlockY + y) * BlockX + x;
  }

  CUSZI_HD static constexpr int lane_along(int lane, int axis) {
    return lane / lane_stride(axis) % lanes(axis);
  }
  CUSZI_HD static constexpr int point_along(int point, int axis) {
    return point / point_stride(axis) % block(axis);
  }
  CUSZI_HD static constexpr int coordinate(int lane, int point, int axis) {
    return lane_along(lane, axis) * block(axis) + point_along(point, axis);
  }
};

using BoxTile = TileShape<2, 4, 4, 4, 2, 4, 2, 2, 2>;     ///< 8 x 8 x 16
using SquareTile = TileShape<1, 4, 8, 1, 8, 4, 1, 2, 4>;  ///< 32 x 32
using LineTile = TileShape<1, 1, 32, 1, 1, 32, 1, 1, 8>;  ///< 1024

template <class F>
decltype(auto) with_tile_shape(const Extents3& extents, F&& f) {
  switch (rank_of(extents)) {
    case 1: return f(LineTile{});
    case 2: return f(SquareTile{});
    default: return f(BoxTile{});
  }
}

/// Tiles per chunk, in raster order; the last chunk may have fewer.
template <class T>
inline constexpr unsigned chunk_tiles = 32 / sizeof(T);

struct TileGrid {
  Extents3 extents;
  Extents3 tile;
  Extents3 tiles;
  std::uint64_t count;
  std::uint64_t chunks;

  template <class T, class Shape>
  static TileGrid of(const Extents3& extents) {
    TileGrid grid{extents, Shape::extents, {}, 0, 0};
    for (unsigned axis = 0; axis < 3; ++axis)
      grid.tiles[axis] = ceil_div(extents[axis], Shape::extents[axis]);
    grid.count = count_of(grid.tiles);
    grid.chunks = ceil_div(grid.count, chunk_tiles<T>);
    return grid;
  }

  CUSZI_HD Extents3 first(std::uint64_t number) const {
    return count >> 32 == 0 ? first_of<std::uint32_t>(number) : first_of<std::uint64_t>(number);
  }

  /// Linear position of a tile's point. Outside the field, the last values are repeated.
  struct Place {
    std::uint64_t index;
    bool inside;
  };
  template <class Shape>
  CUSZI_HD Place place_of(const Extents3& first, int lane, int point) const {
    Place place{0, true};
    for (unsigned axis = 0; axis < 3; ++axis) {
      const std::uint64_t at = first[axis] + static_cast<unsigned>(Shape::coordinate(
                                                 lane, point, static_cast<int>(axis)));
      const bool inside = at < extents[axis];
      place.index = place.index * extents[axis] + (inside ? at : extents[axis] - 1);
      place.inside &= inside;
    }
    return place;
  }

 private:
  /// 32-bit where possible: 64-bit division is slow on GPUs.
  template <class Int>
  CUSZI_HD Extents3 first_of(std::uint64_t number) const {
    const auto tile_number = static_cast<Int>(number);
    const auto across_x = static_cast<Int>(tiles[2]);
    const auto across_y = static_cast<Int>(tiles[1]);
    const Int row = tile_number / across_x;
    return {row / across_y * tile[0], row % across_y * tile[1],
            (tile_number - row * across_x) * tile[2]};
  }
};

CUSZI_HD constexpr std::uint32_t zigzag32(std::uint32_t value) {
  return (value << 1) ^ static_cast<std::uint32_t>(static_cast<std::int32_t>(value) >> 31);
}

/// Bitwise OR of zigzags, without computing each zigzag.
struct ZigzagUnion {
  std::uint32_t magnitudes = 0;
  std::uint32_t signs = 0;

  CUSZI_HD constexpr void add(std::uint32_t value) {
    magnitudes |= value ^ static_cast<std::uint32_t>(static_cast<std::int32_t>(value) >> 31);
    signs |= value;
  }
  CUSZI_HD constexpr std::uint32_t get() const { return magnitudes << 1 | signs >> 31; }
};

CUSZI_HD constexpr std::uint32_t unzigzag32(std::uint32_t value) {
  return (value >> 1) ^ (0 - (value & 1));
}

template <class T>
struct TileQuantizer {
  using Bits = typename IntegerBits<T>::Bits;
  /// Limit of integers: exact by addition, and 32 bits hold them.
  static constexpr T reach = sizeof(T) == 4 ? T(4194303) : T(1073741823);

  T step;
  T inverse_step;
  T shift;  ///< of values from multiples of the step, in steps: 0 or a half
  T certain;
  double bound;
  RuleZone<T> zone;  ///< values that rules may affect

  /// TilesParams::half_step.
  explicit TileQuantizer(double half_step, double absolute_bound = 0,
                         const RestoreRules<T>& rules = {})
      : step(static_cast<T>(2 * magnitude_of(half_step))),
        inverse_step(static_cast<T>(1 / (2 * magnitude_of(half_step)))),
        shift(half_step < 0 ? T(0.5) : T(0)),
        certain(certainly_within<T>(absolute_bound)),
        bound(absolute_bound),
        zone(zone_of(rules)) {}

  /// RestoreRules::zone(), but of a single isovalue about half way between two restored values only
  /// the values that rounding may take to either.
  RuleZone<T> zone_of(const RestoreRules<T>& rules) const {
    const RuleZone<T> all = rules.zone(bound);
    if (rules.fills.count != 0 || rules.isovalues.count != 1) return all;
    const double isovalue = rules.isovalues.values[0];
    const auto width = static_cast<double>(step);
    const double to_middle = 0.5 - static_cast<double>(shift);
    const double middle = (std::round(isovalue / width - to_middle) + to_middle) * width;
    const double distance = std::fabs(isovalue - middle);
    if (!(distance < width / 16)) return all;
    const double rounding = 16.0 * std::numeric_limits<T>::epsilon();
    const double around = distance + (std::fabs(isovalue) + width) * rounding;
    return {static_cast<T>(isovalue), static_cast<T>(around)};
  }

  /// Values up to this magnitude are restored within the bound without a check. Errors are half a
  /// step, plus the value times the deviation of step x inverse_step from 1 and the products'
  /// rounding. Negative if there are none; finite.
  T certain_magnitude() const {
    if (certain <= 0 || zone.any()) return -1;
    constexpr double rounding = sizeof(T) == 4 ? 0x1p-24 : 0x1p-53;
    const double product = static_cast<double>(step) * static_cast<double>(inverse_step);
    const int roundings = (sizeof(T) == 4 ? 2 : 3) + (shift != 0 ? 1 : 0);
    const double share = std::fabs(product - 1) + roundings * rounding;
    const double room =
        bound - static_cast<double>(step) / 2 * (1 + (shift != 0 ? 8 : 4) * rounding);
    const double in_reach = static_cast<double>(reach - 2) * static_cast<double>(step);
    constexpr auto largest = static_cast<double>(std::numeric_limits<T>::max());
    return static_cast<T>(std::min({room / share, in_reach, largest}) * (1 - 0x1p-20));
  }

  CUSZI_HD T scaled(T value) const { return value * inverse_step - shift; }

  /// round(value / step - shift) mod 2^32; unspecified beyond certain_magnitude().
  CUSZI_HD std::uint32_t integer_of(T value) const {
    const T rounded = scaled(value) + IntegerBits<T>::rounding;
    return static_cast<std::uint32_t>(std::bit_cast<Bits>(rounded) -
                                      std::bit_cast<Bits>(IntegerBits<T>::rounding));
  }

  /// 0 if the value is certainly restored within the bound, else 1; of type T, so that loops
  /// vectorise.
  CUSZI_HD T doubt_of(T value) const {
    const T in_steps = scaled(value);
    const T restored = (round_half_even(in_steps) + shift) * step;
    const bool near = magnitude_of(value - restored) < certain;
    const T doubt = (near & !zone.has(value)) != 0 ? T(0) : T(1);
    // A float is restored from the low 32 bits, whatever the integer.
    return sizeof(T) == 4 || magnitude_of(in_steps) < reach ? doubt : T(1);
  }

  struct Result {
    std::uint32_t integer;
    bool in_range;  ///< else `integer` is valid only if `certain`
    bool certain;   ///< acceptable; else fits() decides
  };
  CUSZI_HD Result operator()(T value) const {
    return {integer_of(value), magnitude_of(scaled(value)) < reach, doubt_of(value) == 0};
  }

  /// Before clamping to the frame's range.
  CUSZI_HD T restored(std::uint32_t integer) const {
    using Signed = std::make_signed_t<Bits>;
    const auto offset = static_cast<Bits>(static_cast<Signed>(static_cast<std::int32_t>(integer)));
    const Bits bits = std::bit_cast<Bits>(IntegerBits<T>::rounding) + offset;
    return ((std::bit_cast<T>(bits) - IntegerBits<T>::rounding) + shift) * step;
  }

  CUSZI_HD bool fits(T value, std::uint32_t integer, const RestoreRules<T>& rules) const {
    return may_restore_to(value, restored(integer), bound, rules);
  }
};

/// Transposes 8 x 8 bits: byte i becomes bit i of each byte.
CUSZI_HD constexpr void transpose_bits(std::uint32_t& low, std::uint32_t& high) {
  const auto swap_in = [](std::uint32_t word, int distance, std::uint32_t mask) {
    const std::uint32_t moved = (word ^ (word >> distance)) & mask;
    return word ^ moved ^ (moved << distance);
  };
  low = swap_in(swap_in(low, 7, 0x00AA00AAU), 14, 0x0000CCCCU);
  high = swap_in(swap_in(high, 7, 0x00AA00AAU), 14, 0x0000CCCCU);
  const std::uint32_t moved = ((low >> 4) ^ high) & 0x0F0F0F0FU;
  high ^= moved;
  low ^= moved << 4;
}

/// A tile's entry in its chunk's first words.
///
/// Bit planes come in pairs. The lowest `dense` pairs are complete, two words per lane. Each other
/// pair has a word that marks lanes with nonzero bytes; each of these has a byte that marks its
/// nonzero ones, followed by those.
struct TileHead {
  static constexpr std::uint32_t max_pairs = 16;
  static constexpr std::uint32_t max_bytes = (1U << 14) - 1;

  std::uint32_t pairs = 0;       ///< of bit planes with ones
  std::uint32_t dense = 0;       ///< complete pairs
  std::uint32_t axes = 0;        ///< differences: bit 0 along x, 1 along y, 2 along z
  std::uint32_t base_bytes = 0;  ///< 0..5
  std::uint32_t bytes = 0;       ///< in the chunk's byte part
  bool patched = false;
  bool raw = false;  ///< stores original values

  CUSZI_HD std::uint32_t word() const {
    return pairs | dense << 5 | axes << 10 | base_bytes << 13 | bytes << 16 |
           std::uint32_t{patched} << 30 | std::uint32_t{raw} << 31;
  }
  CUSZI_HD static TileHead from(std::uint32_t word) {
    TileHead head;
    head.pairs = word & 31;
    head.dense = (word >> 5) & 31;
    head.axes = (word >> 10) & 7;
    head.base_bytes = (word >> 13) & 7;
    head.bytes = (word >> 16) & max_bytes;
    head.patched = ((word >> 30) & 1) != 0;
    head.raw = (word >> 31) != 0;
    return head;
  }
  /// False if no encoder writes it.
  CUSZI_HD bool is_valid() const { return pairs <= max_pairs && dense <= pairs && base_bytes <= 5; }
  /// In the chunk's word part.
  CUSZI_HD std::uint32_t words(std::uint32_t value_bytes) const {
    return raw ? tile_points / 4 * value_bytes : dense * 2 * tile_lanes + (pairs - dense);
  }
};

/// A pair is dense if that takes no more bytes.
inline constexpr std::uint32_t dense_pair_bytes = 2 * 4 * tile_lanes;
inline constexpr std::uint32_t sparse_pair_bytes = 4;  ///< besides the lanes' bytes

/// Marks the nonzero bytes of a pair, from the OR of each group's integers.
CUSZI_HD constexpr std::uint32_t flags_of_pair(const std::uint32_t (&unions)[4],
                                               std::uint32_t pair) {
  std::uint32_t flags = 0;
  for (unsigned group = 0; group < 4; ++group)
    flags |= ((unions[group] >> (2 * pair)) & 3) << (2 * group);
  return flags;
}

CUSZI_HD constexpr std::uint32_t pairs_of(std::uint32_t integers) {
  std::uint32_t width = 0;
  for (; integers != 0; integers >>= 2) ++width;
  return width;
}

/// Largest spread of integers for 16-bit arithmetic: differences along three axes are up to 4 times
/// larger.
inline constexpr std::uint32_t narrow_reach = 8000;

/// `base` is the zigzag of the first point's integer, or TileSigns::base_of().
CUSZI_HD constexpr std::uint32_t base_bytes_of(std::uint64_t base) {
  return (base != 0 ? 1 : 0) + (base >> 8 != 0 ? 1 : 0) + (base >> 16 != 0 ? 1 : 0) +
         (base >> 24 != 0 ? 1 : 0) + (base >> 32 != 0 ? 1 : 0);
}

/// Points of a log-transformed frame beyond the bound are patched in tiles; more are in the mask.
CUSZI_HD constexpr std::uint64_t most_kept_in_tiles(std::uint64_t points) { return points / 4096; }

/// Signs of a tile's log-transformed points, a word per lane. Stored after the base unless all are
/// equal.
struct TileSigns {
  std::uint32_t negative = 0;  ///< all-negative lanes
  std::uint32_t mixed = 0;     ///< lanes with both signs

  static constexpr std::uint32_t most_bytes = 8 + 4 * tile_lanes;

  CUSZI_HD bool alike() const { return mixed == 0 && (negative == 0 || ~negative == 0); }
  /// Both masks and the mixed lanes' words.
  CUSZI_HD static std::uint32_t bytes_of(std::uint32_t mixed_lanes) { return 8 + 4 * mixed_lanes; }
  // Low bits of a base, below the zigzag.
  static constexpr std::uint32_t all_negative = 1;
  static constexpr std::uint32_t differ = 2;
  static constexpr std::uint32_t narrow = 4;  ///< integers differ by at most narrow_reach
  static constexpr int base_bits = 3;

  CUSZI_HD std::uint64_t base_of(std::uint32_t zigzag, bool is_narrow) const {
    const std::uint32_t of_signs = alike() ? negative & all_negative : differ;
    return std::uint64_t{zigzag} << base_bits | (is_narrow ? narrow : 0) | of_signs;
  }
};

/// Absent points take the sign of the lane's others if any is negative; an empty lane that of the
/// tile.
CUSZI_HD constexpr std::uint32_t signs_of_lane(std::uint32_t negative, std::uint32_t absent,
                                               bool any_in_tile) {
  const std::uint32_t present = negative & ~absent;
  const bool rest = ~absent == 0 ? any_in_tile : present != 0;
  return rest ? present | absent : present;
}

/// Exact values of `count` points: the count, positions (lane * 32 + point) and bits.
template <class T>
CUSZI_HD constexpr std::uint32_t patch_bytes(std::uint32_t count) {
  return count == 0 ? 0 : 2 + count * (2 + static_cast<std::uint32_t>(sizeof(T)));
}

/// Absent points take the previous present integer, else the next, else `other`.
CUSZI_HD inline void fill_absent(std::uint32_t (&integers)[lane_points], std::uint32_t absent,
                                 std::uint32_t other) {
  std::uint32_t last = other;
  for (unsigned point = lane_points; point-- > 0;)
    if (((absent >> point) & 1) == 0) last = integers[point];
  for (unsigned point = 0; point < lane_points; ++point) {
    if (((absent >> point) & 1) == 0)
      last = integers[point];
    else
      integers[point] = last;
  }
}

/// Heads, raw tiles, and padding to a word.
template <class T>
inline constexpr unsigned max_chunk_words = chunk_tiles<T>*(1 + tile_points * sizeof(T) / 4) + 1;

}  // namespace cuszi

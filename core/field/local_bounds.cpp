#include "core/field/local_bounds.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <span>
#include <utility>

#include "core/base/lossless.hpp"
#include "core/field/quantizer.hpp"

namespace cuszi {

namespace {

constexpr int blocks_level = 9;         ///< zstd level
constexpr std::size_t most_exact = 32;  ///< number of bounds that are not rounded

/// Whether the bound can be quantised at all levels.
bool can_be_coded(const LocalBound& local, DType dtype) {
  return is_usable_half_step(local.half_step, dtype) &&
         is_usable_half_step(local.half_step / 4, dtype);
}

/// The quantiser's step, twice the bound, and its inverse must be finite.
double largest_bound(DType dtype) {
  return with_type_of(dtype, [](auto zero) {
    return static_cast<double>(std::numeric_limits<decltype(zero)>::max() / 8);
  });
}

/// `largest`, then quarter octaves below it down to `least`; at most LocalBounds::most.
std::vector<double> rounded_bounds(double largest, double least) {
  constexpr std::array parts{1.0, 0x1.ae89f995ad3adp-1, 0x1.6a09e667f3bcdp-1, 0x1.306fe0a31b715p-1};
  std::vector<double> all{largest};
  double octave = largest;
  while (all.back() > least && all.size() <= LocalBounds::most) {
    const std::size_t part = all.size() % parts.size();
    if (part == 0) octave /= 2;
    all.push_back(octave * parts.at(part));
  }
  return all;
}

/// The distinct bounds, descending, rounded if too many.
std::vector<double> coded_bounds(std::vector<double> asked) {
  std::sort(asked.begin(), asked.end(), [](double a, double b) { return a > b; });
  asked.erase(std::unique(asked.begin(), asked.end()), asked.end());
  if (asked.size() <= most_exact) return asked;
  std::vector<double> coded;
  auto next = asked.begin();  // largest not yet coded
  for (const double rounded : rounded_bounds(asked.front(), asked.back())) {
    const auto end =
        std::partition_point(next, asked.end(), [&](double b) { return b >= rounded; });
    if (end != next) coded.push_back(rounded);
    next = end;
  }
  return coded;
}

/// The median bound weighted by expected bits: half a bit per point at the largest, one more per
/// octave below.
double typical_bound(std::span<const double> coded, std::span<const std::uint8_t> blocks) {
  std::vector<std::uint64_t> halves(coded.size());
  std::uint64_t all = 0;
  for (const std::uint8_t block : blocks) {
    const int octaves = std::ilogb(coded.front()) - std::ilogb(coded[block]);
    const std::uint64_t bits = 1 + 2 * static_cast<std::uint64_t>(octaves);
    halves[block] += bits;
    all += bits;
  }
  std::size_t at = 0;
  for (std::uint64_t sum = halves[0]; 2 * sum < all; sum += halves[at]) ++at;
  return coded[at];
}

void keep_blocks(const std::vector<bool>& blocks, const Dims& dims,
                 std::vector<std::uint64_t>& points) {
  points.resize(ceil_div(dims.count(), 64));
  const BlockRows rows = BlockRows::of({dims});
  std::uint64_t point = 0;
  for (std::uint64_t row = 0; row < rows.rows(); ++row) {
    const std::uint64_t first = rows.first_block(row);
    for (std::uint64_t x = 0; x < rows.row_points(); ++x, ++point) {
      if (!blocks[first + rows.block_in_row(x)]) continue;
      points[point / 64] |= std::uint64_t{1} << (point % 64);
    }
  }
}

}  // namespace

BlockGrid BlockGrid::of(const Extents3& extents) {
  constexpr std::array<std::uint8_t, 4> log2_by_rank{0, 9, 4, 3};
  const std::uint8_t log2 = log2_by_rank.at(static_cast<std::size_t>(rank_of(extents)));
  BlockGrid grid;
  for (std::size_t axis = 0; axis < extents.size(); ++axis) {
    grid.log2.at(axis) = extents.at(axis) > 1 ? log2 : 0;
    grid.blocks.at(axis) = ceil_div(extents.at(axis), std::uint64_t{1} << grid.log2.at(axis));
  }
  return grid;
}

BlockRows BlockRows::of(const Selection& points) {
  BlockRows rows;
  rows.frame.fill(1);
  rows.extents.fill(1);
  rows.step.fill(1);
  rows.grid = BlockGrid::of(points.from.as_3d());
  std::size_t to = rows.frame.size();
  for (int axis = points.from.rank(); axis-- > 0;) {
    if (points.from[axis] == 1) continue;
    --to;
    rows.frame.at(to) = points.from[axis];
    rows.extents.at(to) = points.count(axis);
    rows.first.at(to) = points.first.at(static_cast<std::size_t>(axis));
    rows.step.at(to) = points.step.at(static_cast<std::size_t>(axis));
  }
  return rows;
}

std::vector<std::byte> LocalBounds::encode() const {
  ByteWriter out;
  out.put(static_cast<std::uint8_t>(bounds.size()));
  for (const LocalBound& local : bounds) {
    out.put(local.bound);
    out.put(local.half_step);
  }
  out.append(zstd_compress(std::as_bytes(std::span(blocks)), blocks_level));
  return out.take();
}

LocalBounds LocalBounds::decode(Bytes bytes, const FrameShape& shape) {
  ByteReader in(bytes, "the local bounds");
  LocalBounds local;
  local.bounds.resize(in.get<std::uint8_t>());
  for (LocalBound& entry : local.bounds) {
    entry.bound = in.get<double>();
    entry.half_step = in.get<double>();
    if (!std::isfinite(entry.bound) || !(entry.bound > 0) || !can_be_coded(entry, shape.dtype)) {
      throw ArchiveError("a local bound is impossible");
    }
  }
  local.blocks.resize(BlockGrid::of(shape.extents()).count());
  zstd_decompress(in.take(in.remaining()), std::as_writable_bytes(std::span(local.blocks)));
  const auto last = std::max_element(local.blocks.begin(), local.blocks.end());
  if (*last > local.bounds.size()) throw ArchiveError("a block has a bound that is not listed");
  return local;
}

std::vector<std::uint8_t> LocalBounds::of_points(const Selection& points) const {
  const BlockRows rows = BlockRows::of(points);
  std::vector<std::uint8_t> result(rows.rows() * rows.row_points());
  std::uint8_t* out = result.data();
  for (std::uint64_t row = 0; row < rows.rows(); ++row) {
    const std::uint8_t* const first = blocks.data() + rows.first_block(row);
    for (std::uint64_t x = 0; x < rows.row_points(); ++x) *out++ = first[rows.block_in_row(x)];
  }
  return result;
}

PointBounds::PointBounds(double largest, const LocalBounds* local, const Selection& selected)
    : bounds{largest} {
  if (local == nullptr) return;
  for (const LocalBound& smaller : local->bounds) bounds.push_back(smaller.bound);
  points = local->of_points(selected);
}

BoundPlan plan_bounds(const AskedBounds& asked, double bound, const FieldScan& scan,
                      const FrameShape& shape, HalfStepRule half_step) {
  BoundPlan plan{bound, bound, std::nullopt, asked.lossless};
  const double most = std::min(bound, largest_bound(shape.dtype));
  std::vector<double> of_blocks;
  of_blocks.reserve(asked.of_blocks.size());
  for (const double least : asked.of_blocks) of_blocks.push_back(std::min(least, most));
  const auto local_bound = [&](double b) {
    return LocalBound{b, half_step(b, scan.min, scan.max, shape.dtype)};
  };

  std::vector<double> coded = coded_bounds(of_blocks);
  const auto refused = std::partition_point(coded.begin(), coded.end(), [&](double b) {
    return b > 0 && can_be_coded(local_bound(b), shape.dtype);
  });
  coded.erase(refused, coded.end());
  if (coded.empty()) return {0, 0, std::nullopt, {}};

  LocalBounds local;
  std::vector<bool> kept(of_blocks.size());
  for (std::size_t block = 0; block < of_blocks.size(); ++block) {
    const auto at = std::partition_point(coded.begin(), coded.end(),
                                         [&](double b) { return b > of_blocks[block]; });
    kept[block] = at == coded.end();
    local.blocks.push_back(kept[block] ? std::uint8_t{0}
                                       : static_cast<std::uint8_t>(at - coded.begin()));
  }
  if (std::find(kept.begin(), kept.end(), true) != kept.end()) {
    keep_blocks(kept, shape.dims, plan.kept);
  }
  plan.bound = coded.front();
  plan.typical = typical_bound(coded, local.blocks);
  if (coded.size() == 1) return plan;
  for (std::size_t i = 1; i < coded.size(); ++i) local.bounds.push_back(local_bound(coded[i]));
  plan.local = std::move(local);
  return plan;
}

}  // namespace cuszi

#include "core/interp/interp.hpp"

#include <algorithm>
#include <limits>

#include "core/field/quantizer.hpp"

namespace cuszi {

namespace {

constexpr std::uint64_t max_box_points = std::uint64_t{1} << 20;

/// Describes an invalid tile or anchor stride; nullptr if valid.
const char* flaw_of(const InterpParams& params, const Extents3& extents) {
  const bool power_of_two = std::has_single_bit(params.anchor);
  if (!power_of_two || params.anchor < 2 || params.levels() > InterpParams::max_levels) {
    return "the anchor stride is not a power of two from 2 to 65536";
  }
  std::uint64_t points = 1;
  for (unsigned axis = 0; axis < 3; ++axis) {
    const std::uint64_t tile = params.tile[axis];
    if (extents[axis] == 1 ? tile != 1 : (tile == 0 || tile % params.anchor != 0)) {
      return "the tile is not a multiple of the anchor stride (1 where the extent is 1)";
    }
    if (tile + 1 > max_box_points / points) return "the tile has more than 2^20 points";
    points *= tile + 1;
  }
  return nullptr;
}

/// Tile extents of 1 along axes of extent 1; if the user gave only one of tile and stride, adapts
/// the other.
void fit_each_other(InterpParams& params, const Extents3& extents, const InterpConfig& forced) {
  for (unsigned axis = 0; axis < 3; ++axis) {
    std::uint64_t& tile = params.tile[axis];
    if (extents[axis] == 1) {
      tile = 1;
    } else if (forced.anchor && !forced.tile && params.anchor != 0) {
      tile = ceil_div(tile, params.anchor) * params.anchor;
    } else if (forced.tile && !forced.anchor) {
      while (params.anchor > 2 && tile % params.anchor != 0) params.anchor /= 2;
    }
  }
}

/// Roughest first; axes too short to be profiled count as roughest.
std::array<std::uint8_t, 3> order_by_smoothness(const SplineErrors& splines) {
  std::array<double, 3> roughness{};
  for (unsigned axis = 0; axis < 3; ++axis) {
    const auto& sum = splines.sum[axis];
    roughness[axis] =
        splines.profiled[axis] ? std::min(sum[0], sum[1]) : std::numeric_limits<double>::infinity();
  }
  std::array<std::uint8_t, 3> order{0, 1, 2};
  std::stable_sort(order.begin(), order.end(),
                   [&](std::uint8_t a, std::uint8_t b) { return roughness[a] > roughness[b]; });
  return order;
}

}  // namespace

double alpha_for(double relative_bound) {
  struct Knot {
    double bound;
    double alpha;
  };
  constexpr std::array<Knot, 5> knots{
      {{1e-5, 1.0}, {1e-4, 1.25}, {1e-3, 1.5}, {1e-2, 1.75}, {1e-1, 2.0}}};
  if (relative_bound <= knots.front().bound) return knots.front().alpha;
  for (std::size_t i = 1; i < knots.size(); ++i) {
    if (relative_bound >= knots[i].bound) continue;
    const Knot& low = knots[i - 1];
    const Knot& high = knots[i];
    return low.alpha +
           (high.alpha - low.alpha) * (relative_bound - low.bound) / (high.bound - low.bound);
  }
  return knots.back().alpha;
}

InterpParams InterpParams::draft(const PredictorConfig& config, const Extents3& extents) {
  InterpParams params;
  switch (rank_of(extents)) {
    case 1:
      params.tile = {1, 1, 512};
      params.anchor = 512;
      break;
    case 2:
      params.tile = {1, 16, 16};
      params.anchor = 16;
      break;
    default: params.tile = {8, 8, 32}; params.anchor = 8;
  }
  const InterpConfig& forced = config.interp;
  if (forced.tile) params.tile = *forced.tile;
  if (forced.anchor) params.anchor = *forced.anchor;
  fit_each_other(params, extents, forced);
  if (forced.order) params.order = *forced.order;
  if (forced.cubic) params.cubic.fill(*forced.cubic);
  if (const char* flaw = flaw_of(params, extents)) {
    const auto& [z, y, x] = params.tile;
    throw UsageError("tile=" + std::to_string(z) + 'x' + std::to_string(y) + 'x' +
                         std::to_string(x) + ",anchor=" + std::to_string(params.anchor) + ": " +
                         flaw,
                     Setting::interp);
  }
  return params;
}

void InterpParams::choose(const PredictorConfig& config, const FieldScan& scan, double bound,
                          DType dtype) {
  if (!config.interp.order) order = order_by_smoothness(scan.splines);
  if (!config.interp.cubic) {
    for (unsigned axis = 0; axis < 3; ++axis) {
      const auto& sum = scan.splines.sum[axis];
      cubic[axis] = sum[1] < sum[0] ? Cubic::natural : Cubic::not_a_knot;
    }
  }
  const double alpha = config.interp.alpha.value_or(alpha_for(bound / (scan.max - scan.min)));
  double level_bound = bound;
  for (int level = 1; level <= levels(); ++level, level_bound /= alpha) {
    half_step[static_cast<std::size_t>(level - 1)] =
        half_step_for(level_bound, scan.min, scan.max, dtype);
  }
  radius = choose_radius(config, scan.errors, 2 * half_step[0]);
}

bool InterpParams::is_usable(DType dtype) const {
  return std::all_of(half_step.begin(), half_step.begin() + levels(),
                     [&](double h) { return is_usable_half_step(h, dtype); });
}

void InterpParams::write(ByteWriter& out) const {
  for (const std::uint64_t extent : tile) out.varint(extent);
  out.varint(anchor);
  for (unsigned axis = 0; axis < 3; ++axis) {
    out.put(cubic[axis]);
    out.put(order[axis]);
  }
  out.varint(radius);
  for (int level = 1; level <= levels(); ++level) {
    out.put(half_step[static_cast<std::size_t>(level - 1)]);
  }
}

InterpParams InterpParams::read(ByteReader& in, const Extents3& extents, DType dtype) {
  InterpParams params;
  for (std::uint64_t& extent : params.tile) extent = in.varint();
  params.anchor = static_cast<std::uint32_t>(std::min<std::uint64_t>(in.varint(), 0xFFFFFFFF));
  if (const char* flaw = flaw_of(params, extents)) throw ArchiveError(flaw);
  unsigned axes = 0;
  for (unsigned axis = 0; axis < 3; ++axis) {
    params.cubic[axis] = in.get<Cubic>();
    params.order[axis] = in.get<std::uint8_t>();
    if (params.cubic[axis] > Cubic::natural || params.order[axis] > 2) {
      throw ArchiveError("the splines or axes of interp are unknown");
    }
    axes |= 1U << params.order[axis];
  }
  if (axes != 7) throw ArchiveError("the axis order of interp names an axis twice");
  params.radius = read_radius(in);
  for (int level = 1; level <= params.levels(); ++level) {
    params.half_step[static_cast<std::size_t>(level - 1)] = read_half_step(in, dtype);
  }
  return params;
}

}  // namespace cuszi

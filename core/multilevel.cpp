#include "core/multilevel.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>

#include "core/ans.hpp"
#include "core/bits.hpp"
#include "core/radius.hpp"
#include "core/sparse_list.hpp"

namespace cuszi {

namespace {

constexpr std::uint64_t max_anchors = 64;
constexpr int max_slice_levels = 4;
constexpr std::uint64_t points_of_first_level = 4096;
constexpr int size_bits = 4;  ///< of a stored coefficient's bit count

using Roles = std::array<AxisRole, max_axes>;

std::uint64_t lattice_points(std::uint64_t extent, int levels) {
  return ((extent - 1) >> levels) + 1;
}

std::uint64_t anchor_count(const MultilevelParams& p, int levels) {
  std::uint64_t count = 1;
  for (unsigned axis = 0; axis < max_axes; ++axis) {
    const int shift = p.roles[axis] == AxisRole::lattice   ? levels
                      : p.roles[axis] == AxisRole::layered ? p.slice_levels
                                                           : 0;
    count *= lattice_points(p.extents[axis], shift);
  }
  return count;
}

Index4 extents_of(const Dims& dims, bool merged) {
  const Dims squeezed = dims.squeezed();
  Index4 extents{1, 1, 1, 1};
  if (merged) {
    const Extents3 e = dims.as_3d();
    std::copy(e.begin(), e.end(), extents.begin() + 1);
  } else {
    std::copy_backward(squeezed.extents().begin(), squeezed.extents().end(), extents.end());
  }
  return extents;
}

/// What is wrong with the roles of the axes, or nothing.
const char* flaw_of(const Index4& extents, const Roles& roles) {
  const auto is = [&](AxisRole role) { return std::count(roles.begin(), roles.end(), role); };
  if (is(AxisRole::layered) > 1) return "at most one axis can be layered";
  if (extents[0] > 1 && roles[0] == AxisRole::lattice) {
    return "of four axes the slowest cannot be a lattice axis";
  }
  return nullptr;
}

int layered_axis(const Roles& roles) {
  const auto* const at = std::find(roles.begin(), roles.end(), AxisRole::layered);
  return at == roles.end() ? -1 : static_cast<int>(at - roles.begin());
}

Tap tap_at(unsigned axis, int offset) {
  Tap tap{};
  tap[axis] = static_cast<std::int8_t>(offset);
  return tap;
}

Tap operator+(const Tap& a, const Tap& b) {
  Tap sum{};
  for (unsigned axis = 0; axis < max_axes; ++axis)
    sum[axis] = static_cast<std::int8_t>(a[axis] + b[axis]);
  return sum;
}

/// All sums of a tap of one group and a tap of the other.
TapGroup products(const TapGroup& a, const TapGroup& b) {
  TapGroup all;
  for (const Tap& x : a) {
    for (const Tap& y : b) all.push_back(x + y);
  }
  return all;
}

TapGroup pair_on(unsigned axis, int offset) {
  return {tap_at(axis, -offset), tap_at(axis, offset)};
}

/// The axes of a class along which it has neighbours on the lattice.
struct ClassAxes {
  std::vector<unsigned> odd;
  std::vector<unsigned> even;
};

ClassAxes axes_of(const MultilevelParams& params, const PointClass& points) {
  ClassAxes axes;
  for (unsigned axis = 0; axis < max_axes; ++axis) {
    if (params.roles[axis] != AxisRole::lattice) continue;
    if (points.is_odd(axis)) {
      axes.odd.push_back(axis);
    } else if (params.extents[axis] > 2 * points.unit[axis]) {
      axes.even.push_back(axis);
    }
  }
  return axes;
}

void add_groups_in_slices(unsigned layered, const std::vector<unsigned>& odd,
                          std::vector<TapGroup>& groups) {
  const TapGroup slices = pair_on(layered, 1);
  groups.push_back(slices);
  for (const int offset : {1, 3}) {
    TapGroup around;
    for (const unsigned axis : odd) {
      const TapGroup there = products(slices, pair_on(axis, offset));
      around.insert(around.end(), there.begin(), there.end());
    }
    if (!around.empty()) groups.push_back(around);
  }
}

/// The classes of a level that the given order and stage have.
class LevelBuilder {
 public:
  LevelBuilder(const MultilevelParams& params, int level, Schedule& schedule)
      : params_(params), level_(level), schedule_(schedule) {}

  void add_passes() {
    const bool top = level_ == params_.levels + 1;
    const int stages = layered_axis(params_.roles) < 0 ? 1 : params_.slice_levels + 1;
    const int last_order = top ? 0 : 3;
    for (int turn = top ? 0 : 1; turn < last_order + stages; ++turn) {
      pass_ = Pass{};
      pass_.level = level_;
      for (int order = top ? 0 : 1; order <= last_order; ++order) {
        const int stage = turn - order;
        if (stage >= 0 && stage < stages) add_classes(order, stage);
      }
      if (pass_.points != 0) schedule_.passes.push_back(std::move(pass_));
    }
  }

 private:
  void add_classes(int order, int stage) {
    const std::uint64_t before = pass_.points;
    for (unsigned odd = 0; odd < (1U << max_axes); ++odd) {
      if (std::popcount(odd) != order) continue;
      PointClass points = make_class(odd, stage);
      if (points.points() == 0) continue;
      points.start = pass_.points;
      points.index = schedule_.classes++;
      points.group = pass_.groups;
      pass_.points += points.points();
      pass_.classes.push_back(points);
    }
    if (pass_.points != before) ++pass_.groups;
  }

  PointClass make_class(unsigned odd, int stage) const {
    PointClass c;
    c.level = static_cast<std::uint8_t>(level_);
    c.order = static_cast<std::uint8_t>(std::popcount(odd));
    c.odd = static_cast<std::uint8_t>(odd);
    c.stage = static_cast<std::uint8_t>(stage);
    c.enclosed = stage > 0;
    const std::uint64_t spacing = std::uint64_t{1} << (level_ - params_.finest);
    const bool top = level_ == params_.levels + 1;
    for (unsigned axis = 0; axis < max_axes; ++axis) {
      const std::uint64_t distance = std::uint64_t{1} << (params_.slice_levels - stage);
      switch (params_.roles[axis]) {
        case AxisRole::lattice:
          c.unit[axis] = spacing;
          c.step[axis] = top ? spacing : 2 * spacing;
          c.first[axis] = c.is_odd(axis) ? spacing : 0;
          break;
        case AxisRole::independent: c.unit[axis] = c.step[axis] = 1; break;
        case AxisRole::layered:
          c.unit[axis] = distance;
          c.step[axis] = stage == 0 ? distance : 2 * distance;
          c.first[axis] = stage == 0 ? 0 : distance;
      }
      const bool odd_elsewhere = c.is_odd(axis) && params_.roles[axis] != AxisRole::lattice;
      c.count[axis] = odd_elsewhere || params_.extents[axis] <= c.first[axis]
                          ? 0
                          : (params_.extents[axis] - c.first[axis] - 1) / c.step[axis] + 1;
    }
    return c;
  }

  const MultilevelParams& params_;
  int level_;
  Schedule& schedule_;
  Pass pass_;
};

Grid make_grid(const MultilevelParams& params) {
  Grid grid{params.extents, {1, 1, 1, 1}, {1, 1, 1, 1}};
  for (unsigned axis = max_axes - 1; axis > 0; --axis) {
    grid.strides[axis - 1] = grid.strides[axis] * grid.extents[axis];
  }
  const std::uint64_t edge = params.lattice_rank <= 1 ? 64 : params.lattice_rank == 2 ? 8 : 4;
  for (unsigned axis = 0; axis < max_axes; ++axis) {
    const bool lattice = params.roles[axis] == AxisRole::lattice;
    if (lattice && params.extents[axis] > 1) grid.tile[axis] = edge;
  }
  return grid;
}

/// Whether a group is the pair of taps at this distance on one axis.
bool is_pair_at(const TapGroup& group, int offset) {
  int sum = 0;
  for (const std::int8_t t : group.front()) sum += std::abs(t);
  return group.size() == 2 && sum == offset;
}

/// Puts a neighbour at distance 1 into the group that its place in the coding order gives it, or
/// nowhere if it is not known before the class's pass.
void classify(const PointClass& points, int layered, const Tap& tap, EnergyTaps& taps) {
  unsigned moved = 0;
  for (unsigned axis = 0; axis < max_axes; ++axis) {
    if (tap[axis] != 0 && static_cast<int>(axis) != layered) moved |= 1U << axis;
  }
  const int order = std::popcount(points.odd ^ moved);
  if (layered >= 0 && tap[static_cast<unsigned>(layered)] != 0) {
    if (moved == 0) {
      taps.same_point.push_back(tap);
    } else if (order <= points.order && std::popcount(moved) <= 2) {
      taps.slices.push_back(tap);
    }
  } else if (order >= points.order || moved == 0) {
    return;
  } else if (order == 0) {
    taps.parent.push_back(tap);
  } else {
    (std::popcount(moved) == 1 ? taps.direct : taps.diagonal).push_back(tap);
  }
}

void write_coefficients(const std::vector<Coefficients>& all, ByteWriter& out) {
  BitWriter bits;
  for (const Coefficients& some : all) {
    bits.put(some.empty() ? 0 : 1, 1);
    for (const std::int16_t c : some) {
      const std::uint64_t value = zigzag(c);
      const int width = static_cast<int>(std::bit_width(value));
      bits.put(static_cast<std::uint64_t>(width), size_bits);
      if (width > 1) bits.put(value & ((std::uint64_t{1} << (width - 1)) - 1), width - 1);
    }
  }
  const std::vector<std::byte> bytes = bits.take();
  out.varint(bytes.size());
  out.append(bytes);
}

Coefficients read_class(BitReader& bits, std::size_t groups) {
  Coefficients some;
  if (bits.get(1) == 0) return some;
  for (std::size_t i = 1; i < groups; ++i) {
    const int width = static_cast<int>(bits.get(size_bits));
    std::uint64_t value = width == 0 ? 0 : 1;
    if (width > 1) value = (value << (width - 1)) | bits.get(width - 1);
    some.push_back(static_cast<std::int16_t>(unzigzag(value)));
  }
  return some;
}

/// Where an axis of `dims` stands among those longer than 1; nothing if it is not one of them.
/// Throws UsageError if there is no such axis.
std::optional<unsigned> squeezed_axis(const Dims& dims, int axis) {
  if (axis < 0 || axis >= dims.rank()) {
    throw UsageError("--axes: there is no axis " + std::to_string(axis) + " in " +
                     dims.to_string() + ", whose axes are 0 to " + std::to_string(dims.rank() - 1));
  }
  if (dims[axis] == 1) return std::nullopt;
  const auto slower = dims.extents().first(static_cast<std::size_t>(axis));
  return static_cast<unsigned>(
      std::count_if(slower.begin(), slower.end(), [](std::uint64_t extent) { return extent > 1; }));
}

}  // namespace

void check_axes(const AxisChoice& choice, const Dims& dims) {
  if (squeezed_axis(dims, choice.axis) || choice.role == AxisRole::lattice) return;
  throw UsageError("--axes: axis " + std::to_string(choice.axis) + " of " + dims.to_string() +
                   " has one index only; name another axis, or leave it to auto");
}

void MultilevelParams::set_axes(const Dims& dims, bool merge, const Roles& axis_roles) {
  merged = merge;
  roles = axis_roles;
  extents = extents_of(dims, merged);
  slice_levels = 0;
  if (const int axis = layered_axis(roles); axis >= 0) {
    const std::uint64_t extent = extents[static_cast<unsigned>(axis)];
    while (slice_levels < max_slice_levels && lattice_points(extent, slice_levels) > 1)
      ++slice_levels;
  }
  std::uint64_t longest = 1;
  lattice_rank = 0;
  for (unsigned axis = 0; axis < max_axes; ++axis) {
    if (roles[axis] != AxisRole::lattice) continue;
    longest = std::max(longest, extents[axis]);
    lattice_rank += extents[axis] > 1 ? 1 : 0;
  }
  levels = 0;
  while (lattice_points(longest, levels) > 1 && anchor_count(*this, levels) > max_anchors) ++levels;
}

MultilevelParams MultilevelParams::at_stride(std::uint64_t stride) const {
  MultilevelParams coarse = *this;
  coarse.finest = finest + static_cast<int>(std::bit_width(stride)) - 1;
  for (unsigned axis = 0; axis < max_axes; ++axis) {
    if (roles[axis] == AxisRole::lattice) coarse.extents[axis] = ceil_div(extents[axis], stride);
  }
  return coarse;
}

MultilevelParams MultilevelParams::draft(const PredictorConfig& config, const Dims& dims) {
  MultilevelParams params;
  const int rank = dims.squeezed().rank();
  const auto pad = max_axes - static_cast<unsigned>(rank);
  Roles roles{};
  if (config.multilevel.axes) {
    const AxisChoice choice = *config.multilevel.axes;
    if (const auto axis = squeezed_axis(dims, choice.axis)) roles[pad + *axis] = choice.role;
  }
  if (rank == max_axes && roles[0] == AxisRole::lattice) roles[0] = AxisRole::independent;
  params.set_axes(dims, false, roles);
  if (const auto& found = config.multilevel.roles) {
    params.set_axes(dims, found->merged, found->roles);
  }
  if (config.multilevel.reach) params.reach = *config.multilevel.reach;
  const auto in_64ths = [](double value, const char* option) {
    if (!(value >= 1 && value <= max_level_factor)) {
      throw UsageError(std::string(option) + ' ' + std::to_string(value) +
                       " is not from 1 to 3.98");
    }
    return static_cast<std::uint8_t>(std::lround(value * 64));
  };
  if (config.multilevel.alpha) params.alpha = in_64ths(*config.multilevel.alpha, "--alpha");
  if (config.multilevel.beta) params.beta = in_64ths(*config.multilevel.beta, "--beta");
  return params;
}

void MultilevelParams::choose(const PredictorConfig& config, const FieldScan& scan, double bound,
                              DType dtype) {
  slack = config.multilevel.slack;
  half_step = half_step_for(bound / slack, scan.min, scan.max, dtype);
  radius = config.radius.value_or(max_radius);
}

std::vector<int> MultilevelParams::level_of_pass() const {
  std::vector<int> result;
  std::uint64_t points = 0;
  int part = 0;
  int level = 0;
  for (const Pass& pass : make_schedule(*this).passes) {
    if (pass.level != level && points > points_of_first_level) ++part;
    level = pass.level;
    points += pass.points;
    result.push_back(part);
  }
  return result;
}

double MultilevelParams::half_step_of(int level) const {
  double divisor = 1;
  const double limit = beta / 64.0;
  for (int l = 1; l < level && divisor < limit; ++l) divisor *= alpha / 64.0;
  return half_step / (divisor < limit ? divisor : limit);
}

bool MultilevelParams::is_usable(DType dtype) const {
  return is_usable_half_step(half_step, dtype) && is_usable_half_step(half_step / 4, dtype);
}

void MultilevelParams::write(ByteWriter& out) const {
  unsigned packed = merged ? 1 : 0;
  for (const AxisRole role : roles) packed = packed * 4 + static_cast<unsigned>(role);
  out.varint(packed);
  out.put(static_cast<std::uint8_t>(reach));
  out.put(alpha);
  out.put(beta);
  out.put(half_step);
  out.varint(radius);
  write_coefficients(coefficients, out);
}

MultilevelParams MultilevelParams::read(ByteReader& in, const Dims& dims, DType dtype) {
  MultilevelParams params;
  std::uint64_t packed = in.varint();
  Roles roles{};
  for (unsigned axis = max_axes; axis-- > 0; packed /= 4) {
    roles[axis] = static_cast<AxisRole>(packed % 4);
    if (roles[axis] > AxisRole::layered) throw ArchiveError("an axis has an unknown role");
  }
  if (packed > 1) throw ArchiveError("the axes of multilevel are unknown");
  if (const char* flaw = flaw_of(extents_of(dims, packed == 1), roles)) throw ArchiveError(flaw);
  params.set_axes(dims, packed == 1, roles);
  params.reach = in.get<std::uint8_t>();
  params.alpha = in.get<std::uint8_t>();
  params.beta = in.get<std::uint8_t>();
  if ((params.reach != 3 && params.reach != 5 && params.reach != 7) || params.alpha < 64 ||
      params.beta < 64) {
    throw ArchiveError("the reach or the level-wise bounds of multilevel are out of range");
  }
  params.half_step = read_half_step(in, dtype);
  params.radius = read_radius(in);
  if (!params.is_usable(dtype)) throw ArchiveError("the bounds of multilevel are too small");
  BitReader bits(in.take(in.varint()), "the coefficients");
  for (const Pass& pass : make_schedule(params).passes) {
    for (const PointClass& points : pass.classes) {
      params.coefficients.push_back(read_class(bits, stencil_of(params, points).size()));
    }
  }
  bits.expect_end();
  return params;
}

Schedule make_schedule(const MultilevelParams& params) {
  Schedule schedule;
  schedule.grid = make_grid(params);
  for (int level = params.levels + 1; level >= params.finest; --level) {
    LevelBuilder(params, level, schedule).add_passes();
  }
  return schedule;
}

std::vector<TapGroup> stencil_of(const MultilevelParams& params, const PointClass& points) {
  const ClassAxes axes = axes_of(params, points);
  const std::vector<unsigned>& odd = axes.odd;
  std::vector<TapGroup> groups;
  for (int offset = 1; offset <= params.reach; offset += 2) {
    for (const unsigned axis : odd) {
      const bool real =
          offset == 1 || params.extents[axis] > static_cast<unsigned>(offset) * points.unit[axis];
      if (real) groups.push_back(pair_on(axis, offset));
    }
  }
  for (std::size_t i = 0; i < odd.size(); ++i) {
    for (std::size_t j = i + 1; j < odd.size(); ++j) {
      groups.push_back(products(pair_on(odd[i], 1), pair_on(odd[j], 1)));
    }
  }
  if (odd.size() == 3) {
    groups.push_back(
        products(products(pair_on(odd[0], 1), pair_on(odd[1], 1)), pair_on(odd[2], 1)));
  }
  if (odd.size() < 3) {
    for (const unsigned near : odd) {
      for (const unsigned side : axes.even) {
        groups.push_back(products(pair_on(near, 1), pair_on(side, 2)));
      }
    }
  }
  if (points.enclosed) {
    add_groups_in_slices(static_cast<unsigned>(layered_axis(params.roles)), odd, groups);
  }
  return groups;
}

std::vector<double> tap_weights(const MultilevelParams& params, const PointClass& points,
                                const std::vector<TapGroup>& stencil) {
  std::vector<double> weights(stencil.size(), 0);
  const Coefficients* fitted =
      params.coefficients.empty() ? nullptr : &params.coefficients[points.index];
  if (fitted != nullptr && !fitted->empty()) {
    int rest = 1 << coefficient_bits;
    for (std::size_t i = 1; i < weights.size(); ++i) {
      const int c = (*fitted)[i - 1];
      weights[i] = static_cast<double>(c) / (1 << coefficient_bits);
      rest -= c;
    }
    weights[0] = static_cast<double>(rest) / (1 << coefficient_bits);
  } else if (points.order == 0) {
    std::fill_n(weights.begin(), std::min<std::size_t>(weights.size(), 1), 1.0);
  } else {
    const double axes = points.order;
    std::size_t far = 0;
    for (std::size_t i = points.order; i < 2U * points.order && i < stencil.size(); ++i) {
      if (is_pair_at(stencil[i], 3)) weights[i] = -0.125 / axes, ++far;
    }
    const double near = (1.0 + 0.125 * static_cast<double>(far) / axes) / axes;
    std::fill_n(weights.begin(), points.order, near);
  }
  for (std::size_t i = 0; i < weights.size(); ++i) {
    weights[i] /= static_cast<double>(stencil[i].size());
  }
  return weights;
}

EnergyTaps energy_taps(const MultilevelParams& params, const PointClass& points) {
  EnergyTaps taps;
  const int layered = points.enclosed ? layered_axis(params.roles) : -1;
  const auto visit = [&](const auto& self, unsigned axis, Tap tap) -> void {
    if (axis == max_axes) {
      classify(points, layered, tap, taps);
      return;
    }
    const bool moves =
        (params.roles[axis] == AxisRole::lattice && params.extents[axis] > points.unit[axis]) ||
        static_cast<int>(axis) == layered;
    for (int offset = moves ? -1 : 0; offset <= (moves ? 1 : 0); ++offset) {
      self(self, axis + 1, tap + tap_at(axis, offset));
    }
  };
  visit(visit, 0, Tap{});
  return taps;
}

/// At high rates a bit is worth ln(2) / 6 of a squared step. An error of z steps that is coded as 0
/// instead of 1 costs 2 z - 1 of them.
double thrifty_zone(std::uint64_t zeros, std::uint64_t ones, double slack) {
  // ln(2) / 12: by a bit per value more, a distortion of step^2 / 12 falls by 2 ln(2) times itself,
  // while an error of z steps coded as 0 instead of 1 adds (2z - 1) step^2.
  constexpr double steps_per_bit = 0.0578;
  const auto odds = static_cast<std::int64_t>(log2_of(zeros + 1)) - log2_of(ones + 1);
  const double bits = 1 + static_cast<double>(odds) / (1 << cost_bits);  // 1: the sign
  return std::min(slack / 2, 0.5 + steps_per_bit * std::max(bits, 0.0));
}

Index4 margins_of(const PointClass& points, const std::vector<TapGroup>& groups) {
  Index4 margins{};
  for (const TapGroup& group : groups) {
    for (const Tap& tap : group) {
      for (unsigned axis = 0; axis < max_axes; ++axis) {
        const auto reach = static_cast<std::uint64_t>(std::abs(tap[axis])) * points.unit[axis];
        margins[axis] = std::max(margins[axis], reach);
      }
    }
  }
  return margins;
}

}  // namespace cuszi

#include "core/multilevel/multilevel.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>

#include "core/base/bits.hpp"
#include "core/field/quantizer.hpp"
#include "core/field/sparse_list.hpp"

namespace cuszi {

namespace {

constexpr std::uint64_t points_of_first_level = 4096;
constexpr int size_bits = 4;  ///< of a coefficient's stored bit count

bool is_pair_at(const Stencil& stencil, unsigned group, int offset) {
  int sum = 0;
  for (const std::int8_t t : stencil.taps.at(stencil.begin(group))) sum += std::abs(t);
  return stencil.taps_of(group) == 2 && sum == offset;
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

/// Storage of the background value, in the byte of the snap.
constexpr std::uint8_t background_as_float = 32;
constexpr std::uint8_t background_as_double = 64;
/// In the same byte.
constexpr std::uint8_t contexts_are_split = 128;

void write_rest(const MultilevelParams& params, ByteWriter& out) {
  const auto narrow = static_cast<float>(params.background);
  const int first = params.snap | (params.split_contexts ? contexts_are_split : 0);
  if (params.snap == 0 || params.background == 0) {
    out.put(static_cast<std::uint8_t>(first));
  } else if (static_cast<double>(narrow) == params.background) {
    out.put(static_cast<std::uint8_t>(first | background_as_float));
    out.put(narrow);
  } else {
    out.put(static_cast<std::uint8_t>(first | background_as_double));
    out.put(params.background);
  }
}

bool is_value_of(double value, DType dtype) {
  return std::isfinite(value) &&
         (dtype == DType::f64 || static_cast<double>(static_cast<float>(value)) == value);
}

void read_rest(ByteReader& in, DType dtype, MultilevelParams& params) {
  const auto first = in.get<std::uint8_t>();
  params.split_contexts = first >= contexts_are_split;
  const int packed = first % contexts_are_split;
  params.snap = static_cast<std::uint8_t>(packed % background_as_float);
  const int stored = packed - params.snap;
  if (stored == background_as_float) params.background = static_cast<double>(in.get<float>());
  if (stored == background_as_double) params.background = in.get<double>();
  if (params.snap > snap_units || stored > background_as_double ||
      !is_value_of(params.background, dtype) ||
      stored == (background_as_float | background_as_double) || (params.snap == 0 && stored != 0)) {
    throw ArchiveError("the background value of multilevel is out of range");
  }
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

/// Index among the axes longer than 1; nullopt if the axis is shorter. Throws UsageError if it does
/// not exist.
std::optional<unsigned> squeezed_axis(const Dims& dims, int axis) {
  if (axis < 0 || axis >= dims.rank()) {
    throw UsageError("there is no axis " + std::to_string(axis) + " in " + dims.to_string() +
                         ", whose axes are 0 to " + std::to_string(dims.rank() - 1),
                     Setting::axes);
  }
  if (dims[axis] == 1) return std::nullopt;
  const auto slower = dims.extents().first(static_cast<std::size_t>(axis));
  return static_cast<unsigned>(
      std::count_if(slower.begin(), slower.end(), [](std::uint64_t extent) { return extent > 1; }));
}

}  // namespace

void check_axes(const AxisChoice& choice, const Dims& dims) {
  if (squeezed_axis(dims, choice.axis) || choice.role == AxisRole::lattice) return;
  throw UsageError("axis " + std::to_string(choice.axis) + " of " + dims.to_string() +
                       " has only one index; name another axis or use auto",
                   Setting::axes);
}

MultilevelParams MultilevelParams::at_stride(std::uint64_t stride) const {
  MultilevelParams coarse = *this;
  coarse.lattice = lattice.at_stride(stride);
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
  params.lattice = Lattice::of(dims, false, roles);
  if (const auto& found = config.multilevel.roles) {
    params.lattice = Lattice::of(dims, found->merged, found->roles);
  }
  if (config.multilevel.reach) params.reach = *config.multilevel.reach;
  const auto in_64ths = [](double value, Setting setting) {
    if (!(value >= 1 && value <= max_level_factor)) {
      throw UsageError(std::to_string(value) + " is not from 1 to 3.98", setting);
    }
    return static_cast<std::uint8_t>(std::lround(value * 64));
  };
  if (config.multilevel.alpha) params.alpha = in_64ths(*config.multilevel.alpha, Setting::alpha);
  if (config.multilevel.beta) params.beta = in_64ths(*config.multilevel.beta, Setting::beta);
  return params;
}

void MultilevelParams::choose(const PredictorConfig& config, const FieldScan& scan, double bound,
                              DType dtype) {
  half_step =
      half_step_for(bound / config.multilevel.bound_over_half_step, scan.min, scan.max, dtype);
  radius = config.radius.value_or(max_radius);
}

std::vector<int> MultilevelParams::level_of_pass() const {
  std::vector<int> result;
  std::uint64_t points = 0;
  int part = 0;
  int level = 0;
  for (const Pass& pass : make_schedule(lattice).passes) {
    if (pass.level != level && points > points_of_first_level) ++part;
    level = pass.level;
    points += pass.points;
    result.push_back(part);
  }
  return result;
}

double MultilevelParams::half_step_of(int level, double first) const {
  double divisor = 1;
  const double limit = beta / 64.0;
  for (int l = 1; l < level && divisor < limit; ++l) divisor *= alpha / 64.0;
  return first / (divisor < limit ? divisor : limit);
}

bool MultilevelParams::is_usable(DType dtype) const {
  return is_usable_half_step(half_step, dtype) && is_usable_half_step(half_step / 4, dtype);
}

void MultilevelParams::write(ByteWriter& out) const {
  unsigned packed = lattice.merged ? 1 : 0;
  for (const AxisRole role : lattice.roles) packed = packed * 4 + static_cast<unsigned>(role);
  out.varint(packed);
  out.put(static_cast<std::uint8_t>(reach));
  out.put(alpha);
  out.put(beta);
  out.put(half_step);
  write_rest(*this, out);
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
  params.lattice = Lattice::of(dims, packed == 1, roles);
  if (const char* flaw = params.lattice.flaw()) throw ArchiveError(flaw);
  params.reach = in.get<std::uint8_t>();
  params.alpha = in.get<std::uint8_t>();
  params.beta = in.get<std::uint8_t>();
  if ((params.reach != 3 && params.reach != 5 && params.reach != 7) || params.alpha < 64 ||
      params.beta < 64) {
    throw ArchiveError("the reach or the level-wise bounds of multilevel are out of range");
  }
  params.half_step = read_half_step(in, dtype);
  read_rest(in, dtype, params);
  params.radius = read_radius(in);
  if (!params.is_usable(dtype)) throw ArchiveError("the bounds of multilevel are too small");
  BitReader bits(in.take(in.varint()), "the coefficients");
  for (const PointClass& points : make_schedule(params.lattice).classes) {
    const Stencil stencil = stencil_of(params.lattice, params.reach, points);
    params.coefficients.push_back(read_class(bits, stencil.size));
  }
  bits.expect_end();
  return params;
}

StencilWeights MultilevelParams::shares_of(const PointClass& points, const Stencil& stencil) const {
  if (coefficients.empty()) return preset_shares(points, stencil);
  return cuszi::shares_of(coefficients[points.index], points, stencil);
}

StencilWeights shares_of(const Coefficients& coefficients, const PointClass& points,
                         const Stencil& stencil) {
  return coefficients.empty() ? preset_shares(points, stencil)
                              : fitted_shares(coefficients.data(), stencil);
}

StencilWeights preset_shares(const PointClass& points, const Stencil& stencil) {
  StencilWeights shares{};
  if (points.order == 0) {
    if (stencil.size != 0) shares[0] = 1;
    return shares;
  }
  const double axes = points.order;
  unsigned far = 0;
  for (unsigned g = points.order; g < 2U * points.order && g < stencil.size; ++g) {
    if (is_pair_at(stencil, g, 3)) shares.at(g) = -0.125 / axes, ++far;
  }
  const double near = (1.0 + 0.125 * static_cast<double>(far) / axes) / axes;
  std::fill_n(shares.begin(), points.order, near);
  return shares;
}

}  // namespace cuszi

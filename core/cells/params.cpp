#include "core/cells/params.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "core/cells/anchors.hpp"
#include "core/cells/quantiser.hpp"
#include "core/field/quantizer.hpp"

namespace cuszi {

namespace {

// Which limits an archive has, as flags beside the rank.
constexpr int floor_bit = 16;
constexpr int ceiling_bit = 32;

/// Whether many sampled values are within the bound of an extreme, and enough others are not: then
/// hardly any value is farther outside.
bool are_near(const std::uint32_t (&by_octave)[sample_octaves], double range, double bound) {
  constexpr std::uint64_t enough = 256;
  std::uint64_t near = 0;
  std::uint64_t others = 0;
  for (unsigned octave = 0; octave < sample_octaves; ++octave) {
    const bool is_near = std::ldexp(range, 1 - static_cast<int>(octave)) <= bound;
    (is_near ? near : others) += by_octave[octave];
  }
  return near * 16 >= near + others && others >= enough;
}

void write_limit(const std::optional<double>& limit, ByteWriter& out) {
  if (limit) out.put(*limit);
}

/// Reads a value of the field's type. Throws ArchiveError if it is none.
double read_value(ByteReader& in, DType dtype, const char* what) {
  const auto value = in.get<double>();
  const double stored =
      dtype == DType::f32 ? static_cast<double>(static_cast<float>(value)) : value;
  if (!std::isfinite(stored) || stored != value)
    throw ArchiveError(std::string(what) + " of `cells` is not a value of the field's type");
  return value;
}

}  // namespace

double cells_half_step(double bound, double min, double max, DType dtype) {
  const double largest = std::max(std::fabs(min), std::fabs(max));
  const double rounding = dtype == DType::f32 ? 0x1p-22 : 0x1p-51;
  return bound - std::min(largest * rounding, bound / 16);
}

void CellsParams::choose(const PredictorConfig& /*config*/, const FieldScan& scan, double bound,
                         DType dtype) {
  half_step = cells_half_step(bound, scan.min, scan.max, dtype);
  const double most =
      dtype == DType::f32 ? std::numeric_limits<float>::max() : std::numeric_limits<double>::max();
  constexpr double room = 256;  // for sums of weighted values
  const double largest = std::max(std::fabs(scan.min), std::fabs(scan.max));
  const double reach = std::max(largest, scan.max - scan.min);
  const double anchor_step = 2 * half_step_of_level(half_step, most_cell_levels);
  if (!(reach < most / room && reach < anchor_step * static_cast<double>(largest_anchor)))
    half_step = 0;
}

void CellsParams::learn(const CellsSample& sample, double bound, DType dtype) {
  background = sample.background;
  half_step = cells_half_step(bound, sample.min, sample.max, dtype);
  const double range = sample.max - sample.min;
  if (are_near(sample.near_min, range, bound)) floor = sample.min;
  if (are_near(sample.near_max, range, bound)) ceiling = sample.max;
}

std::vector<int> CellsParams::level_of_pass() const {
  std::vector<int> levels(static_cast<std::size_t>(cell_passes(rank)));
  for (std::size_t i = 0; i < levels.size(); ++i) levels[i] = static_cast<int>(i);
  return levels;
}

std::size_t CellsParams::passes_of_stride(std::uint64_t stride) const {
  return with_cell_rank(rank, [&]<class Shape>(Shape) {
    return static_cast<std::size_t>(pass_of_spacing<Shape>(static_cast<int>(stride))) + 1;
  });
}

void CellsParams::write(ByteWriter& out) const {
  out.put(static_cast<std::uint8_t>(rank | (floor ? floor_bit : 0) | (ceiling ? ceiling_bit : 0)));
  out.put(half_step);
  out.put(background);
  write_limit(floor, out);
  write_limit(ceiling, out);
}

CellsParams CellsParams::read(ByteReader& in, const Extents3& extents, DType dtype) {
  const int rank_and_limits = in.get<std::uint8_t>();
  const int rank = rank_and_limits & ~(floor_bit | ceiling_bit);
  if (rank != rank_of(extents) && (rank != 2 || rank_of(extents) != 3))
    throw ArchiveError(std::to_string(rank) + " is no rank of the tiles of a frame");
  CellsParams params{.rank = rank, .half_step = read_half_step(in, dtype)};
  params.background = read_value(in, dtype, "the background");
  if ((rank_and_limits & floor_bit) != 0) params.floor = read_value(in, dtype, "the floor");
  if ((rank_and_limits & ceiling_bit) != 0) params.ceiling = read_value(in, dtype, "the ceiling");
  return params;
}

CellsSample cells_sample(const std::vector<double>& sorted) {
  if (sorted.empty()) return {};
  double commonest = 0;
  std::size_t most = 0;
  for (std::size_t i = 0; i < sorted.size();) {
    std::size_t end = i;
    while (end < sorted.size() && sorted[end] == sorted[i]) ++end;
    if (end - i > most) {
      most = end - i;
      commonest = sorted[i];
    }
    i = end;
  }
  CellsSample sample{.background = background_of(commonest, most, sorted.size()),
                     .min = sorted.front() + 0.0,  // never -0
                     .max = sorted.back() + 0.0};
  const double range = sample.max - sample.min;
  for (const double value : sorted) {
    ++sample.near_min[octave_of(value - sample.min, range)];
    ++sample.near_max[octave_of(sample.max - value, range)];
  }
  return sample;
}

}  // namespace cuszi

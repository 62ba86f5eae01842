#include "core/cells/params.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "core/cells/anchors.hpp"
#include "core/cells/quantiser.hpp"
#include "core/field/quantizer.hpp"

namespace cuszi {

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
  out.put(static_cast<std::uint8_t>(rank));
  out.put(half_step);
  out.put(background);
}

CellsParams CellsParams::read(ByteReader& in, const Extents3& extents, DType dtype) {
  const int rank = in.get<std::uint8_t>();
  if (rank != rank_of(extents) && (rank != 2 || rank_of(extents) != 3))
    throw ArchiveError(std::to_string(rank) + " is no rank of the tiles of a frame");
  CellsParams params{rank, read_half_step(in, dtype), in.get<double>()};
  const double stored = dtype == DType::f32
                            ? static_cast<double>(static_cast<float>(params.background))
                            : params.background;
  if (!std::isfinite(stored) || stored != params.background)
    throw ArchiveError("the background of `cells` is not a value of the field's type");
  return params;
}

double background_of(const std::vector<double>& sorted) {
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
  return background_of(commonest, most, sorted.size());
}

}  // namespace cuszi

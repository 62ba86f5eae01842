#include "core/tuning/stencil_fit.hpp"

#include <algorithm>

#include "core/tuning/candidates.hpp"

namespace cuszi {

namespace {

constexpr std::uint64_t least_sample = 2048;
constexpr std::uint64_t most_sample = 8192;

}  // namespace

Shares unknowns_of(const Coefficients& coefficients) {
  Shares shares{};
  std::transform(coefficients.begin(), coefficients.end(), shares.begin(), share_of);
  return shares;
}

Shares preset_unknowns(const PointClass& points, const Stencil& stencil) {
  Shares shares{};
  if (stencil.size < 2) return shares;
  const StencilWeights preset = preset_shares(points, stencil);
  std::copy_n(preset.begin() + 1, stencil.size - 1U, shares.begin());
  return shares;
}

double fit_bound(const MultilevelParams& params, int level) {
  return with_bounds(params, middle_bounds).half_step_of(level);
}

bool have_same_fits(const MultilevelParams& a, const MultilevelParams& b) {
  return a.lattice == b.lattice && a.reach == b.reach && a.half_step == b.half_step;
}

std::uint64_t stencil_sample(std::uint64_t points) {
  return std::min(points, std::clamp(points / 6, least_sample, most_sample));
}

}  // namespace cuszi

#pragma once

#include <cstdint>
#include <vector>

#include "core/tuning/stencil_fit.hpp"

namespace cuszi::cpu {

/// Sampled points of a class: sample k is lane k mod 32 of block k / 32.
class Observations {
 public:
  Observations(unsigned unknowns, std::uint64_t samples);

  unsigned unknowns() const { return unknowns_; }
  std::uint64_t samples() const { return samples_; }
  std::size_t blocks() const { return values_.size() / block_size(); }
  std::uint64_t used() const;

  void set(std::uint64_t k, const Observation& seen, double bound) {
    const std::size_t block = k / sum_lanes;
    const std::size_t lane = k % sum_lanes;
    targets(block)[lane] = seen.target;
    taking_part(block)[lane] = seen.is_used ? 1 : 0;
    bins_[k] = curvature_key(seen.curvature, bound);
  }
  /// By curvature.
  void make_bins();

  /// 32 values each: an unknown, the targets, and 1 or 0 for whether samples are used.
  double* row(std::size_t block, unsigned unknown) {
    return values_.data() + block * block_size() + unknown * sum_lanes;
  }
  const double* row(std::size_t block, unsigned unknown) const {
    return values_.data() + block * block_size() + unknown * sum_lanes;
  }
  double* targets(std::size_t block) { return row(block, unknowns_); }
  const double* targets(std::size_t block) const { return row(block, unknowns_); }
  double* taking_part(std::size_t block) { return row(block, unknowns_ + 1); }
  const double* taking_part(std::size_t block) const { return row(block, unknowns_ + 1); }

  std::uint8_t& bin(std::uint64_t k) { return bins_[k]; }
  std::uint8_t bin(std::uint64_t k) const { return bins_[k]; }

 private:
  std::size_t block_size() const { return (unknowns_ + 2) * sum_lanes; }

  unsigned unknowns_;
  std::uint64_t samples_;
  std::vector<double> values_;
  std::vector<std::uint8_t> bins_;  ///< curvature keys until make_bins()
};

/// The equations of a round, with weights by the shares `before`.
StencilEquations stencil_equations(const Observations& sample, const Stencil& stencil, double bound,
                                   const Shares& before);

/// Empty if fewer than `fewest` samples are used, or a round is singular.
Coefficients fit_stencil(const Observations& sample, const Stencil& stencil,
                         const PointClass& points, double bound, std::uint64_t fewest);

}  // namespace cuszi::cpu

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "core/backend/encode_session.hpp"
#include "core/lorenzo/lorenzo.hpp"
#include "core/multilevel/multilevel.hpp"
#include "core/tuning/sampled_cost.hpp"

namespace cuszi {

/// Number of values of a frame up to which coding it once more takes next to no time.
inline constexpr std::uint64_t few_values = std::uint64_t{1} << 17;

/// What trials of a frame measure: sampled costs of all of it, and what codings take in a part of
/// it, each of which is tried once.
class FrameTrials {
 public:
  /// Keeps references.
  FrameTrials(EncodeSession& session, const FrameConfig& config, TrialPart part, double bound)
      : session_(session), config_(config), part_(std::move(part)), bound_(bound) {}

  const TrialPart& part() const { return part_; }
  /// From now on codings are tried in this part of the frame.
  void go_to(TrialPart part);

  /// See TrialSession.
  std::vector<std::vector<ClassErrors>> sampled_errors(
      std::span<const MultilevelParams> candidates);
  void for_each(std::size_t count, const std::function<void(std::size_t)>& each);

  /// The estimated bytes of the part for each candidate.
  std::vector<std::uint64_t> costs(std::span<const MultilevelParams> candidates);

  /// Codes the part by these candidates, and by `lorenzo` with each of its coders, so that
  /// later calls find the results. Does nothing if the backend can try fewer than half of them side
  /// by side.
  void prefetch_trials(std::span<const MultilevelParams> candidates,
                       const std::optional<LorenzoParams>& lorenzo);

  struct CoderCost {
    CoderId coder;
    std::uint64_t bytes;
  };

  /// The best coder after this predictor; the earlier one on ties. The second one saves not so much
  /// that it needs to be tried where the first takes half as much again as what is to be beaten.
  CoderCost best_coder(const LorenzoParams& params, std::uint64_t to_be_beaten);

 private:
  /// A coding that has been tried.
  struct Known {
    FrameCoding coding;
    std::uint64_t bytes;
  };

  std::vector<FrameCoding> codings_of(std::span<const MultilevelParams> candidates) const;
  std::vector<FrameCoding> codings_of(const LorenzoParams& params) const;
  std::vector<std::uint64_t> costs(const std::vector<FrameCoding>& codings);
  CoderParams coding(CoderId coder, const LorenzoParams& params) const;
  TrialSession& frame_session();
  TrialSession& part_session();

  EncodeSession& session_;
  const FrameConfig& config_;
  TrialPart part_;
  double bound_;
  std::unique_ptr<TrialSession> frame_session_;
  std::unique_ptr<TrialSession> part_session_;
  std::vector<Known> known_;
};

}  // namespace cuszi

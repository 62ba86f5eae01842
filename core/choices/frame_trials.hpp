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

/// Caches sampled costs of a frame and coded bytes of its part.
class FrameTrials {
 public:
  FrameTrials(EncodeSession& session, const FrameConfig& config, TrialPart part, double bound)
      : session_(session), config_(config), part_(std::move(part)), bound_(bound) {}

  const TrialPart& part() const { return part_; }
  /// Later codings use this part.
  void go_to(TrialPart part);

  std::vector<std::vector<ClassErrors>> sampled_errors(
      std::span<const MultilevelParams> candidates);
  void for_each(std::size_t count, const std::function<void(std::size_t)>& each);

  std::vector<std::uint64_t> costs(std::span<const MultilevelParams> candidates);

  /// Codes candidates in advance, if the backend runs at least half of them concurrently.
  void prefetch_trials(std::span<const MultilevelParams> candidates,
                       const std::optional<LorenzoParams>& lorenzo);

  std::uint64_t cost(const LorenzoParams& params);

 private:
  struct Known {
    FrameCoding coding;
    std::uint64_t bytes;
  };

  std::vector<FrameCoding> codings_of(std::span<const MultilevelParams> candidates) const;
  FrameCoding coding_of(const LorenzoParams& params) const;
  std::vector<std::uint64_t> costs(const std::vector<FrameCoding>& codings);
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

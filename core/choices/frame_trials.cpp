#include "core/choices/frame_trials.hpp"

#include <algorithm>
#include <iterator>

namespace cuszi {

namespace {

bool is_same(const FrameCoding& a, const FrameCoding& b) {
  return a.predictor == b.predictor && a.coder.index() == b.coder.index();
}

}  // namespace

void FrameTrials::go_to(TrialPart part) {
  part_ = std::move(part);
  part_session_.reset();
  known_.clear();
}

std::vector<std::vector<ClassErrors>> FrameTrials::sampled_errors(
    std::span<const MultilevelParams> candidates) {
  return frame_session().sampled_errors(candidates);
}

void FrameTrials::for_each(std::size_t count, const std::function<void(std::size_t)>& each) {
  frame_session().for_each(count, each);
}

std::vector<std::uint64_t> FrameTrials::costs(std::span<const MultilevelParams> candidates) {
  return costs(codings_of(candidates));
}

void FrameTrials::prefetch_trials(std::span<const MultilevelParams> candidates,
                                  const std::optional<LorenzoParams>& lorenzo) {
  std::vector<FrameCoding> codings = codings_of(candidates);
  if (lorenzo) codings.push_back(coding_of(*lorenzo));
  if (codings.size() <= 2 * part_session().side_by_side()) costs(codings);
}

std::uint64_t FrameTrials::cost(const LorenzoParams& params) {
  return costs({coding_of(params)}).front();
}

std::vector<FrameCoding> FrameTrials::codings_of(
    std::span<const MultilevelParams> candidates) const {
  std::vector<FrameCoding> codings;
  for (const MultilevelParams& params : candidates) {
    codings.push_back({params,
                       {bound_, config_.predictor.multilevel.bound_over_half_step},
                       AnsParams{params.radius},
                       {}});
  }
  return codings;
}

FrameCoding FrameTrials::coding_of(const LorenzoParams& params) const {
  return {params, {bound_}, coder_params(config_.coder, config_, params.radius), {}};
}

std::vector<std::uint64_t> FrameTrials::costs(const std::vector<FrameCoding>& codings) {
  const auto find = [&](const FrameCoding& coding) {
    return std::find_if(known_.begin(), known_.end(),
                        [&](const Known& known) { return is_same(known.coding, coding); });
  };
  std::vector<FrameCoding> unknown;
  std::copy_if(codings.begin(), codings.end(), std::back_inserter(unknown),
               [&](const FrameCoding& coding) { return find(coding) == known_.end(); });
  if (!unknown.empty()) {
    const std::vector<std::uint64_t> bytes = part_session().costs(unknown);
    for (std::size_t i = 0; i < unknown.size(); ++i) known_.push_back({unknown[i], bytes.at(i)});
  }
  std::vector<std::uint64_t> all;
  all.reserve(codings.size());
  for (const FrameCoding& coding : codings) all.push_back(find(coding)->bytes);
  return all;
}

TrialSession& FrameTrials::frame_session() {
  if (!frame_session_) frame_session_ = session_.trials(TrialPart::whole(part_.frame()));
  return *frame_session_;
}

TrialSession& FrameTrials::part_session() {
  if (part_.all()) return frame_session();
  if (!part_session_) part_session_ = session_.trials(part_);
  return *part_session_;
}

}  // namespace cuszi

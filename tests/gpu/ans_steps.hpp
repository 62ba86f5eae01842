#pragma once

#include <cstdint>
#include <vector>

#include "core/coders/ans_slots.hpp"

namespace cuszi::test {

/// What the functions of core make of one quant-code and one lane's state.
struct AnsSteps {
  std::uint32_t token;
  std::uint32_t raw;
  std::uint32_t code;   ///< again
  std::uint32_t gap;    ///< of the code's number, after its token
  std::uint32_t state;  ///< with the token, without what was spilled
  std::uint32_t taken;  ///< the state without it again

  friend bool operator==(const AnsSteps&, const AnsSteps&) = default;
};

CUSZI_HD inline AnsSteps ans_steps(QuantCode code, std::uint32_t state, std::uint32_t centre) {
  const Token token = token_of(SlotKind::code, code, centre);
  AnsSteps steps{};
  steps.token = token.token;
  steps.raw = token.raw;
  steps.code = value_of_slot(SlotKind::code, token.token, token.raw, centre);
  const Token gap = token_of(SlotKind::gap, code * 4093U, centre);
  steps.gap = value_of_slot(SlotKind::gap, gap.token, gap.raw, centre);
  const TokenShare share{1U + code % 4000U, code % 90U};
  if (spills_for_token(state, share.frequency)) state >>= 16;
  steps.state = put_token(state, share);
  const std::uint32_t entry =
      decoder_entry(token.token, share.frequency, decoder_slot(steps.state) - share.first);
  const std::uint32_t taken = take_token(steps.state, entry);
  steps.taken = needs_refill(taken) ? refilled(taken, code) : taken;
  return steps;
}

/// The state that goes with a code in these tests.
CUSZI_HD inline std::uint32_t state_for(QuantCode code) {
  return lane_start + 65521U * static_cast<std::uint32_t>(code) / 2;
}

/// The steps of all codes, computed by a kernel.
std::vector<AnsSteps> ans_steps_on_device(std::uint32_t centre);

}  // namespace cuszi::test

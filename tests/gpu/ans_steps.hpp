#pragma once

#include <cstdint>
#include <vector>

#include "core/ans.hpp"

namespace cuszi::test {

/// What the functions of core make of one quant-code and one lane's state.
struct AnsSteps {
  std::uint32_t token;
  std::uint32_t raw;
  std::uint32_t code;   ///< again
  std::uint32_t state;  ///< with the token and its raw bits, without what was spilled
  std::uint32_t taken;  ///< the state without them again
  std::uint32_t context;

  friend bool operator==(const AnsSteps&, const AnsSteps&) = default;
};

CUSZI_HD inline AnsSteps ans_steps(QuantCode code, std::uint32_t state, std::uint32_t centre) {
  const Token token = token_of(code, centre);
  AnsSteps steps{};
  steps.token = token.token;
  steps.raw = token.raw;
  steps.code = code_of(token.token, token.raw, centre);
  if (token.raw_bits != 0) {
    if (spills_for_raw(state, token.raw_bits)) state >>= 16;
    state = put_raw(state, token);
  }
  const TokenShare share{1U + code % 4000U, code % 90U};
  if (spills_for_token(state, share.frequency)) state >>= 16;
  steps.state = put_token(state, share);
  const std::uint32_t entry =
      decoder_entry(token.token, share.frequency, decoder_slot(steps.state) - share.first);
  const std::uint32_t taken = take_token(steps.state, entry);
  steps.taken = needs_refill(taken) ? refilled(taken, code) : taken;
  steps.context = flag_context(bucket_weight(static_cast<std::uint8_t>(code)) + code);
  return steps;
}

/// The state that goes with a code in these tests.
CUSZI_HD inline std::uint32_t state_for(QuantCode code) {
  return lane_start + 65521U * static_cast<std::uint32_t>(code) / 2;
}

/// The steps of all codes, computed by a kernel.
std::vector<AnsSteps> ans_steps_on_device(std::uint32_t centre);

}  // namespace cuszi::test

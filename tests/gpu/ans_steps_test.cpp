#include "tests/gpu/ans_steps.hpp"

#include "tests/gpu/device.hpp"
#include "tests/support/catch.hpp"

namespace cuszi::test {

TEST_CASE("core's steps of ANS are the same on the device", "[gpu]") {
  if (device() == nullptr) return;
  for (const std::uint32_t centre : {1U, 512U, 32'768U}) {
    const std::vector<AnsSteps> made = ans_steps_on_device(centre);
    for (std::uint32_t code = 0; code < made.size(); ++code) {
      const auto symbol = static_cast<QuantCode>(code);
      REQUIRE(made[code] == ans_steps(symbol, state_for(symbol), centre));
    }
  }
}

}  // namespace cuszi::test

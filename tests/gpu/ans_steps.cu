#include "gpu/runtime/copies.hpp"
#include "tests/gpu/ans_steps.hpp"

namespace cuszi::test {

namespace {

constexpr unsigned all_codes = 1U << 16;

__global__ void run_ans_steps(std::uint32_t centre, AnsSteps* steps) {
  const auto code = static_cast<QuantCode>(blockIdx.x * blockDim.x + threadIdx.x);
  steps[code] = ans_steps(code, state_for(code), centre);
}

}  // namespace

std::vector<AnsSteps> ans_steps_on_device(std::uint32_t centre) {
  gpu::DeviceContext gpu;
  auto* const steps = gpu.take<AnsSteps>(all_codes);
  run_ans_steps<<<all_codes / 256, 256, 0, gpu.stream()>>>(centre, steps);
  gpu::check_launch("run_ans_steps");
  const AnsSteps* const host = download(gpu, steps, all_codes);
  gpu.sync();
  return {host, host + all_codes};
}

}  // namespace cuszi::test

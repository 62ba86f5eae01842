#include <algorithm>

#include "core/tuning/trial_subsample.hpp"
#include "gpu/runtime/copies.hpp"
#include "gpu/runtime/launch.cuh"
#include "gpu/tuning/trial_subsample.cuh"

namespace cuszi::gpu {

namespace {

/// A pass of which a part is counted.
struct PartOfPass {
  TrialSubsample part;
  const QuantCode* codes;
  const std::uint8_t* contexts;
  std::uint32_t codes_of_context;  ///< that follow each other
  std::uint64_t count;             ///< of the part
  QuantCode* counted_codes;
  std::uint8_t* counted_contexts;
};

/// A row of blocks for each pass.
__global__ void take_counted(const PartOfPass* passes) {
  const PartOfPass pass = passes[blockIdx.y];
  const std::uint64_t i = ItemPolicy::first();
  if (i >= pass.count) return;
  const std::uint64_t code_position = pass.part.code_position(i);
  pass.counted_codes[i] = pass.codes[code_position];
  pass.counted_contexts[i] = pass.contexts[code_position / pass.codes_of_context];
}

}  // namespace

LevelSymbols trial_subsamples(DeviceContext& gpu, const LevelSymbols& passes,
                              std::uint64_t box_points) {
  LevelSymbols counted = passes;
  std::vector<PartOfPass> parts;
  std::uint64_t most = 0;
  for (PassSymbols& pass : counted) {
    const TrialSubsample part = TrialSubsample::of_trial(pass.count, box_points);
    if (part.all()) continue;
    const std::uint64_t count = part.size(pass.count);
    auto* const codes = gpu.take<QuantCode>(count);
    auto* const contexts = gpu.take<std::uint8_t>(count);
    const std::uint32_t codes_of_context = pass.by_blocks ? block_codes : 1;
    parts.push_back({part, pass.codes, pass.contexts, codes_of_context, count, codes, contexts});
    pass = {codes, contexts, count, pass.shape, part.times};
    most = std::max(most, count);
  }
  if (parts.empty()) return counted;
  const dim3 blocks(blocks_for(most, ItemPolicy::threads), static_cast<unsigned>(parts.size()));
  take_counted<<<blocks, ItemPolicy::threads, 0, gpu.stream()>>>(
      upload(gpu, parts.data(), parts.size()));
  check_launch("take_counted");
  return counted;
}

}  // namespace cuszi::gpu

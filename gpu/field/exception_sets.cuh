#pragma once

#include "gpu/field/frame_work.cuh"

namespace cuszi::gpu {

inline ExceptionSets make_exceptions(DeviceContext& gpu, std::uint64_t points, bool has_patches) {
  const std::uint64_t blocks = ceil_div(points, RankedBits::block_points);
  const std::uint64_t words = blocks * RankedBits::block_words;
  constexpr std::uint64_t count_words = sizeof(PassCounts) / sizeof(std::uint64_t);
  auto* const cleared = gpu.take_zeroed<std::uint64_t>((has_patches ? 2 : 1) * words + count_words);
  const auto make = [&](std::uint64_t* set) {
    return RankedBits{set, gpu.take<std::uint16_t>(words), gpu.take<std::uint64_t>(blocks + 1),
                      blocks};
  };
  std::uint64_t* const sets = cleared + count_words;
  return {make(sets), has_patches ? make(sets + words) : RankedBits{},
          reinterpret_cast<PassCounts*>(cleared)};
}

}  // namespace cuszi::gpu

#pragma once

#include "core/zfp_check.hpp"
#include "gpu/frame_work.cuh"

namespace cuszi::gpu {

/// Finds the points of a frame that must be patched.
template <class T>
struct ZfpPatches {
  ZfpCheck<T> check;
  RankedBits missing;  ///< points that do not matter; no words if there are none
  ExceptionSets exceptions;

  __device__ void look_at(std::uint64_t point, T original, T decoded) const {
    if (check.accepts(original, decoded)) return;
    if (missing.words != nullptr && missing.test(point)) return;
    exceptions.add_patch(point);
  }
};

}  // namespace cuszi::gpu

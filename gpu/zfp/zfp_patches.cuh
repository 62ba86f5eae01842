#pragma once

#include "core/zfp/zfp_check.hpp"
#include "gpu/field/frame_work.cuh"
#include "gpu/zfp/zfp.cuh"

namespace cuszi::gpu {

/// The points of a frame that must be patched. Coding looks whether blocks are certainly right; the
/// others, which are few, are decoded afterwards and looked at point by point.
template <class T>
struct ZfpPatches {
  ZfpCheck<T> check;
  RankedBits missing;        ///< points that do not matter; no words if there are none
  bool any = false;          ///< whether there may be any
  ExceptionSets exceptions;  ///< if there may

  __device__ void look_at(std::uint64_t point, T original, T decoded) const {
    if (check.accepts(original, decoded)) return;
    if (missing.words != nullptr && missing.test(point)) return;
    exceptions.add_patch(point);
  }
};

/// Decodes blocks of a stream, those of which `suspects` has other bytes than 0 or all if there are
/// none, and looks for patches among their points.
template <class T>
void zfp_look_at(Work& work, const ZfpParams& params, const Dims& dims, const ZfpStream& stream,
                 const std::uint8_t* suspects, const T* values, ZfpPatches<T>& patches);

}  // namespace cuszi::gpu

#pragma once

#include "core/zfp/zfp_check.hpp"
#include "gpu/field/frame_work.cuh"
#include "gpu/zfp/zfp.cuh"

namespace cuszi::gpu {

/// The points of a frame that must be patched. The encoder checks whether blocks certainly keep the
/// bound; the other blocks, which are few, are decoded afterwards and checked point by point.
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

/// Decodes blocks of a stream and finds the patches among their points. `suspects` marks these
/// blocks by bytes other than 0; nullptr means all blocks.
template <class T>
void zfp_look_at(DeviceContext& gpu, const ZfpParams& params, const Dims& dims,
                 const ZfpStream& stream, const std::uint8_t* suspects, const T* values,
                 ZfpPatches<T>& patches);

}  // namespace cuszi::gpu

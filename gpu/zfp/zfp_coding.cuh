#pragma once

#include "core/zfp/zfp_check.hpp"
#include "core/zfp/zfp_coding.hpp"
#include "gpu/field/frame_work.cuh"
#include "gpu/zfp/zfp.cuh"

namespace cuszi::gpu {

/// Stream, index, and patches of values beyond the bound or restored as fill values. Missing points
/// take the last valid value, initially the minimum. Synchronises.
template <class T>
OwnCoded encode_values(DeviceContext& gpu, const ZfpCoding& coding, double bound,
                       const FrameInput<T>& frame);

/// Asynchronous. Damage throws ArchiveError or sets a flaw.
template <class T>
void decode_values(DeviceContext& gpu, const ZfpCoding& coding, const Sections& sections,
                   const FrameOutput<T>& frame);

/// The encoder marks blocks that are not certainly within the bound; these few are decoded and
/// checked.
template <class T>
struct ZfpPatches {
  ZfpCheck<T> check;
  RankedBits missing;        ///< need no patches; no words without missing points
  bool any = false;          ///< whether there may be patches
  ExceptionSets exceptions;  ///< valid if `any`

  __device__ void look_at(std::uint64_t point, T original, T decoded) const {
    if (check.accepts(original, decoded)) return;
    if (missing.words != nullptr && missing.test(point)) return;
    exceptions.add_patch(point);
  }
};

/// `suspects`: nonzero bytes mark blocks to decode; null means all.
template <class T>
void zfp_look_at(DeviceContext& gpu, const ZfpParams& params, const Dims& dims,
                 const ZfpStream& stream, const std::uint8_t* suspects, const T* values,
                 ZfpPatches<T>& patches);

}  // namespace cuszi::gpu

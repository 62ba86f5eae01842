#pragma once

#include <memory>

#include "core/backend/decode_session.hpp"
#include "core/backend/encode_session.hpp"
#include "gpu/field/frame_work.cuh"
#include "gpu/runtime/context.hpp"

namespace cuszi::gpu {

/// The passes of `multilevel` on their way from values to sections. Another encoder may use the
/// same memory when this one has been deleted.
template <class T>
std::unique_ptr<PassEncoder> make_multilevel_encoder(DeviceContext& gpu, FrameMemory& memory,
                                                     const FrameCoding& coding,
                                                     const FrameInput<T>& frame);

/// The bytes that coding a frame by `multilevel` and `ans` takes, about: those of a trial on the
/// CPU (cpu_ref/tuning/trials).
template <class T>
std::uint64_t multilevel_cost(DeviceContext& gpu, FrameMemory& memory, const FrameCoding& coding,
                              const FrameInput<T>& frame);

/// And back.
template <class T>
std::unique_ptr<PassDecoder> make_multilevel_decoder(DeviceContext& gpu, const FrameTarget& target,
                                                     const MultilevelParams& predictor,
                                                     const CoderParams& coder);

}  // namespace cuszi::gpu

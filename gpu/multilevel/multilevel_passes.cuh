#pragma once

#include <memory>

#include "core/backend/decode_session.hpp"
#include "core/backend/encode_session.hpp"
#include "gpu/field/frame_work.cuh"
#include "gpu/runtime/context.hpp"

namespace cuszi::gpu {

/// Encoders may share `memory`, one after the other.
template <class T>
std::unique_ptr<PassEncoder> make_multilevel_encoder(DeviceContext& gpu, FrameMemory& memory,
                                                     const FrameCoding& coding,
                                                     const FrameInput<T>& frame);

/// Estimated bytes of a frame, as trials on the CPU give them (cpu_ref/tuning/trials).
template <class T>
std::uint64_t multilevel_cost(DeviceContext& gpu, FrameMemory& memory, const FrameCoding& coding,
                              const FrameInput<T>& frame);

template <class T>
std::unique_ptr<PassDecoder> make_multilevel_decoder(DeviceContext& gpu, const FrameTarget& target,
                                                     const MultilevelParams& predictor,
                                                     const CoderParams& coder);

}  // namespace cuszi::gpu

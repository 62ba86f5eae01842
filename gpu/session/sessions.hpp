#pragma once

#include <memory>

#include "core/backend/backend.hpp"
#include "core/backend/transfer.hpp"
#include "gpu/runtime/context.hpp"

namespace cuszi::gpu {

/// See Backend; memory is taken from `gpu`, which forgets the last frame.
std::unique_ptr<EncodeSession> make_encode_session(FrameSlot& slot, DeviceContext& gpu,
                                                   const FrameShape& shape, Bytes values,
                                                   const ValueRules& rules,
                                                   const PredictorParams& draft,
                                                   const std::optional<FieldScan>& known);
std::unique_ptr<DecodeSession> make_decode_session(FrameSlot& slot, DeviceContext& gpu,
                                                   Bytes payload);
std::unique_ptr<FrameBatch> make_frame_batch(FrameSlot& slot, DeviceContext& gpu);

/// The transfers of the device of this number.
std::unique_ptr<Transfer> make_transfer(int device);

}  // namespace cuszi::gpu

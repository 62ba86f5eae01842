#pragma once

#include <memory>

#include "core/backend/backend.hpp"
#include "core/backend/transfer.hpp"
#include "gpu/runtime/context.hpp"

namespace cuszi::gpu {

/// See Backend; memory is taken from `gpu`, which forgets the last frame.
std::unique_ptr<EncodeSession> make_encode_session(FrameSlot& slot, DeviceContext& gpu,
                                                   const FrameShape& shape, Bytes values,
                                                   const FillValues& fills,
                                                   const PredictorParams& draft);
/// An EncodeSession for a frame whose scan is known from an earlier session.
std::unique_ptr<EncodeSession> make_encode_session(FrameSlot& slot, DeviceContext& gpu,
                                                   const FrameShape& shape, Bytes values,
                                                   const FillValues& fills, const FieldScan& scan);
/// A OnePassSession on the device; nullptr for predictors that cannot code a frame in one pass.
std::unique_ptr<OnePassSession> make_one_pass_session(FrameSlot& slot, DeviceContext& gpu,
                                                      const FrameShape& shape, Bytes values,
                                                      const PredictorParams& draft);
std::unique_ptr<DecodeSession> make_decode_session(FrameSlot& slot, DeviceContext& gpu,
                                                   Bytes payload);

/// The transfers of the device of this number.
std::unique_ptr<Transfer> make_transfer(int device);

}  // namespace cuszi::gpu

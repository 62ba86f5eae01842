#pragma once

#include <memory>

#include "core/backend/backend.hpp"
#include "cpu_ref/base/workspace.hpp"

namespace cuszi::cpu {

/// Begins to encode a frame as Backend::encode() says, in the memory of `workspace`.
std::unique_ptr<EncodeSession> make_encode_session(Workspace& workspace, const FrameShape& shape,
                                                   Bytes values, const ValueRules& rules,
                                                   const PredictorParams& draft,
                                                   const std::optional<FieldScan>& known);
std::unique_ptr<DecodeSession> make_decode_session(Workspace& workspace, Bytes payload);

/// Throws DeviceError, with `what` as the subject of its message. Bitcomp is NVIDIA's: its streams
/// have no public description, and its library's decoder for the CPU does not survive damaged ones.
[[noreturn]] void refuse_bitcomp(const char* what);

}  // namespace cuszi::cpu

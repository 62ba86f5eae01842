#pragma once

#include <memory>

#include "core/backend/backend.hpp"
#include "cpu_ref/base/workspace.hpp"

namespace cuszi::cpu {

/// See Backend::encode().
std::unique_ptr<EncodeSession> make_encode_session(Workspace& workspace, const FrameShape& shape,
                                                   Bytes values, const ValueRules& rules,
                                                   const PredictorParams& draft,
                                                   const std::optional<FieldScan>& known);
std::unique_ptr<DecodeSession> make_decode_session(Workspace& workspace, Bytes payload);

/// Throws DeviceError; `what` is the subject. Bitcomp is proprietary, and its CPU decoder crashes
/// on damaged streams.
[[noreturn]] void refuse_bitcomp(const char* what);

}  // namespace cuszi::cpu

#pragma once

#include "core/field/stored_type.hpp"
#include "gpu/runtime/context.hpp"

namespace cuszi::gpu {

/// Work values of stored ones: these if the types are alike, else a copy (asynchronous). Both are
/// on the device.
Bytes to_work(DeviceContext& gpu, DType stored, Bytes values);

/// cuszi::from_work() on the device (asynchronous).
void from_work(DeviceContext& gpu, DType stored, Bytes work, MutableBytes values);

/// EncodeSession::distinct_values(). Synchronises.
DistinctValues distinct_values(DeviceContext& gpu, DType stored, Bytes values);

}  // namespace cuszi::gpu

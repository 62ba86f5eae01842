#pragma once

#include <memory>

#include "core/backend/transfer.hpp"

namespace cuszi::gpu {

/// The transfers of the device of this number.
std::unique_ptr<Transfer> make_transfer(int device);

}  // namespace cuszi::gpu

#pragma once

#include "core/backend/backend.hpp"

namespace cuszi::test {

/// The device's backend, one for all tests so that its memory is reused; none, with a warning,
/// without a device.
Backend* device();

}  // namespace cuszi::test

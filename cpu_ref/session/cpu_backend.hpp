#pragma once

#include <memory>
#include <string_view>

#include "core/backend/backend.hpp"

namespace cuszi::cpu {

/// Vectorised and multithreaded.
std::unique_ptr<Backend> make_backend();

/// "AVX-512", "AVX2" or "portable".
std::string_view simd_in_use();

}  // namespace cuszi::cpu

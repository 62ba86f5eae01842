#pragma once

#include <memory>
#include <string_view>

#include "core/backend/backend.hpp"

namespace cuszi::cpu {

/// The CPU backend: the steps of core in vectors and threads, where that changes no byte.
std::unique_ptr<Backend> make_backend();

/// The vectors that the CPU backend computes with on this processor: "AVX-512", "AVX2" or
/// "portable".
std::string_view simd_in_use();

}  // namespace cuszi::cpu

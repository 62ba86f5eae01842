#pragma once

#include <memory>
#include <string_view>

#include "core/backend/backend.hpp"

namespace cuszi::cpu {

/// The serial reference, threaded where results cannot depend on it.
std::unique_ptr<Backend> make_backend();

/// The vectors that it computes with on this processor: "AVX-512", "AVX2" or "portable".
std::string_view simd_in_use();

}  // namespace cuszi::cpu

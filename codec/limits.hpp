#pragma once

#include <cmath>
#include <cstdint>

#include "core/config.hpp"

namespace cuszi {

// What may be asked for, whoever asks.

inline constexpr std::uint32_t least_chunk = 64;  ///< symbols; a power of two
inline constexpr std::uint32_t most_chunk = 1 << 20;
inline constexpr std::uint32_t most_partition = 1 << 20;  ///< chunks
inline constexpr std::uint32_t least_anchor = 2;          ///< stride; a power of two
inline constexpr std::uint32_t most_anchor = 65536;
inline constexpr double most_interp_alpha = 16;
inline constexpr std::uint64_t most_stride = 1 << 20;  ///< of a preview; a power of two
inline constexpr int most_threads = 4096;
inline constexpr double most_psnr = 400;  ///< dB
inline constexpr double most_ratio = 1e9;

/// A relative bound is a share of the value range, below 1.
inline bool is_possible_bound(double bound, ErrorMode mode) {
  return std::isfinite(bound) && bound >= 0 && (mode == ErrorMode::absolute || bound < 1);
}

}  // namespace cuszi

#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <string_view>

#include "core/field/bound.hpp"
#include "core/field/config.hpp"

namespace cuszi {

// For command line, C API and filter.

inline constexpr std::uint32_t least_chunk = 64;  ///< symbols; power of two
inline constexpr std::uint32_t most_chunk = 1 << 20;
inline constexpr std::uint32_t most_partition = 1 << 20;  ///< chunks
inline constexpr std::uint32_t least_anchor = 2;          ///< stride; power of two
inline constexpr std::uint32_t most_anchor = 65536;
inline constexpr double most_interp_alpha = 16;
inline constexpr std::string_view interp_axes = "zyx";  ///< slowest first
inline constexpr std::uint64_t most_stride = 1 << 20;   ///< of a preview; power of two
inline constexpr int most_threads = 4096;
inline constexpr int most_device_index = 1023;
inline constexpr int most_shared_devices = 64;  ///< lowest numbers
inline constexpr double most_psnr = 400;        ///< dB
inline constexpr double most_ratio = 1e9;

inline constexpr std::uint32_t most_zfp_planes = 64;
inline constexpr double most_zfp_rate = 64;             ///< bits per value
inline constexpr std::uint32_t most_zfp_chunk = 65536;  ///< blocks

inline bool is_possible(const ZfpMode& mode) {
  switch (mode.kind) {
    case ZfpMode::Kind::precision:
      return mode.amount >= 1 && mode.amount <= most_zfp_planes &&
             mode.amount == std::floor(mode.amount);
    case ZfpMode::Kind::rate: return mode.amount > 0 && mode.amount <= most_zfp_rate;
    default: return true;
  }
}

/// The predictor's own absolute bound: 0 if reversible, no_bound for zfp of fixed precision or
/// rate.
inline std::optional<double> own_bound(const PredictorConfig& predictor) {
  if (predictor.is_reversible()) return 0;
  const bool has_own =
      predictor.id == PredictorId::zfp && predictor.zfp.mode.kind != ZfpMode::Kind::accuracy;
  return has_own ? std::optional(no_bound) : std::nullopt;
}

/// The words of cuszi_option.
inline constexpr const char* mode_words = "rel|abs|pwrel|abs-or-pwrel|abs-and-pwrel";

constexpr std::string_view name_of(ErrorMode mode) {
  constexpr std::string_view names[] = {"abs", "rel", "pwrel", "abs-or-pwrel", "abs-and-pwrel"};
  return names[static_cast<unsigned>(mode)];
}

inline bool is_possible_bound(double bound, ErrorMode mode) {
  return std::isfinite(bound) && bound >= 0 && (mode == ErrorMode::absolute || bound < 1);
}

}  // namespace cuszi

#pragma once

#include <string>

#include "codec/settings/limits.hpp"

namespace cuszi {

/// What a user may ask for instead of a bound.
struct Target {
  enum class Kind {
    psnr,   ///< at least `value` dB, with as few bits as possible
    ratio,  ///< at least `value` times smaller, with as little error as possible
  };
  Kind kind = Kind::psnr;
  double value = 0;
};

/// A PSNR is above 0, a ratio at least 1; both have limits.
inline bool is_possible(const Target& target) {
  if (target.kind == Target::Kind::psnr) return target.value > 0 && target.value <= most_psnr;
  return target.value >= 1 && target.value <= most_ratio;
}

/// Whether a result with this PSNR (infinite without error) or ratio is what was asked for.
inline bool is_met(const Target& target, double reached) { return reached >= target.value; }

/// "psnr:80", as on the command line.
std::string to_string(const Target& target);

}  // namespace cuszi

#pragma once

#include <string>

#include "codec/settings/limits.hpp"

namespace cuszi {

/// Replaces a bound.
struct Target {
  enum class Kind {
    psnr,   ///< at least `value` dB, smallest size
    ratio,  ///< at least `value`, smallest error
  };
  Kind kind = Kind::psnr;
  double value = 0;
};

inline bool is_possible(const Target& target) {
  if (target.kind == Target::Kind::psnr) return target.value > 0 && target.value <= most_psnr;
  return target.value >= 1 && target.value <= most_ratio;
}

/// `reached` is a PSNR or ratio.
inline bool is_met(const Target& target, double reached) { return reached >= target.value; }

/// "psnr:80".
std::string to_string(const Target& target);

}  // namespace cuszi

#pragma once

#include <cstdint>

#include "core/base/hd.hpp"
#include "core/field/sample.hpp"

namespace cuszi {

/// magnitude_sample() for any k without a division, which dominates on GPUs.
class MagnitudeSample {
 public:
  CUSZI_HD explicit MagnitudeSample(std::uint64_t points)
      : points_(points), inverse_(~std::uint64_t{0} / points) {}

  CUSZI_HD std::uint64_t operator[](std::uint64_t k) const {
    if (points_ <= sample_points) return k;
    const std::uint64_t hash = sample_hash(k);
    // The rounded-down inverse can make the quotient 1 too small.
    const std::uint64_t rest = hash - high_word(hash, inverse_) * points_;
    return rest < points_ ? rest : rest - points_;
  }

 private:
  CUSZI_HD static std::uint64_t high_word(std::uint64_t a, std::uint64_t b) {
#if defined(__CUDA_ARCH__)
    return __umul64hi(a, b);
#else
    __extension__ using Wide = unsigned __int128;
    return static_cast<std::uint64_t>((static_cast<Wide>(a) * b) >> 64);
#endif
  }

  std::uint64_t points_;
  std::uint64_t inverse_;
};

}  // namespace cuszi

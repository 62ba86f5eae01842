#include "cpu_ref/base/wide_vectors.hpp"

#include <algorithm>
#include <cstdlib>
#include <string_view>

namespace cuszi::cpu {

namespace {

VectorSet supported() {
#ifdef CUSZI_WIDE_VECTORS
  if (__builtin_cpu_supports("avx2") == 0 || __builtin_cpu_supports("fma") == 0)
    return VectorSet::portable;
  const bool has_avx512 =
      __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512bw") != 0 &&
      __builtin_cpu_supports("avx512cd") != 0 && __builtin_cpu_supports("avx512dq") != 0 &&
      __builtin_cpu_supports("avx512vl") != 0;
  return has_avx512 ? VectorSet::avx512 : VectorSet::avx2;
#else
  return VectorSet::portable;
#endif
}

VectorSet allowed() {
  const char* const text = std::getenv("CUSZI_SIMD");
  const std::string_view name = text == nullptr ? "" : text;
  if (name == "portable") return VectorSet::portable;
  return name == "avx2" ? VectorSet::avx2 : VectorSet::avx512;
}

}  // namespace

VectorSet widest_vectors() {
  static const VectorSet widest = std::min(supported(), allowed());
  return widest;
}

}  // namespace cuszi::cpu

#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

#include "core/base/dims.hpp"
#include "core/field/stored_type.hpp"

namespace cuszi::gpu {

/// How four values of a type are accessed.
template <class V>
using FourBits =
    std::conditional_t<sizeof(V) == 1, unsigned, std::conditional_t<sizeof(V) == 2, uint2, uint4>>;

/// Four neighbours in wide accesses, streaming (no reuse).
__device__ inline void load_four(const float* from, float (&four)[4]) {
  const float4 loaded = __ldcs(reinterpret_cast<const float4*>(from));
  four[0] = loaded.x;
  four[1] = loaded.y;
  four[2] = loaded.z;
  four[3] = loaded.w;
}
__device__ inline void load_four(const double* from, double (&four)[4]) {
#pragma unroll
  for (int i = 0; i < 4; i += 2) {
    const double2 loaded = __ldcs(reinterpret_cast<const double2*>(from + i));
    four[i] = loaded.x;
    four[i + 1] = loaded.y;
  }
}
__device__ inline void store_four(const float (&four)[4], float* to) {
  __stcs(reinterpret_cast<float4*>(to), make_float4(four[0], four[1], four[2], four[3]));
}
__device__ inline void store_four(const double (&four)[4], double* to) {
  __stcs(reinterpret_cast<double2*>(to), make_double2(four[0], four[1]));
  __stcs(reinterpret_cast<double2*>(to + 2), make_double2(four[2], four[3]));
}

template <class V>
struct FourValues {
  V all[4];
};

/// Converts from values of up to 32 bits.
template <class S, class T>
__device__ void load_four(const S* from, T (&four)[4]) {
  const auto loaded =
      std::bit_cast<FourValues<S>>(__ldcs(reinterpret_cast<const FourBits<S>*>(from)));
#pragma unroll
  for (int i = 0; i < 4; ++i) four[i] = converted_to<T>(loaded.all[i]);
}
/// Converts to values of up to 32 bits.
template <class T, class S>
__device__ void store_four(const T (&four)[4], S* to) {
  FourValues<S> stored;
#pragma unroll
  for (int i = 0; i < 4; ++i) stored.all[i] = converted_to<S>(four[i]);
  __stcs(reinterpret_cast<FourBits<S>*>(to), std::bit_cast<FourBits<S>>(stored));
}

/// Whether values at this address can be accessed so.
template <class V>
bool are_in_fours(const V* values) {
  return reinterpret_cast<std::uintptr_t>(values) % sizeof(FourBits<V>) == 0;
}

/// Whether rows can be accessed so.
template <class V>
bool allows_four(const Extents3& extents, const V* values) {
  return extents[2] % 4 == 0 && are_in_fours(values);
}

}  // namespace cuszi::gpu

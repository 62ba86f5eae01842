#pragma once

#include <cstddef>

namespace cuszi::cpu {

// Hot loops are also compiled for AVX2 and AVX-512 and chosen at run time. Results are the same:
// iterations are independent, and only explicit FMAs are fused (-ffp-contract=off).

enum class VectorSet { portable, avx2, avx512 };

/// The widest set that this build has and the processor supports. CUSZI_SIMD in the environment
/// ("portable" or "avx2") sets a narrower one.
VectorSet widest_vectors();

template <std::size_t doubles_of_vector, bool fuses>
struct Vectors {
  static constexpr std::size_t doubles = doubles_of_vector;
  static constexpr std::size_t bytes = doubles * sizeof(double);
  static constexpr std::size_t register_bytes = fuses ? bytes : 16;
  static constexpr bool has_fma = fuses;

  using Doubles [[gnu::vector_size(doubles_of_vector * sizeof(double))]] = double;
};

/// Supported by any processor.
using PortableVectors = Vectors<4, false>;

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && defined(__OPTIMIZE__)
#define CUSZI_WIDE_VECTORS

/// gnu::flatten inlines all callees, so that all of `work` is compiled for the wide vectors.
template <class Work>
[[gnu::target("avx2,fma"), gnu::flatten, gnu::noinline]] auto call_with_avx2(const Work& work) {
  return work();
}
template <class Work>
[[gnu::target("avx512f,avx512bw,avx512cd,avx512dq,avx512vl,fma,prefer-vector-width=512"),
  gnu::flatten, gnu::noinline]] auto
call_with_avx512(const Work& work) {
  return work();
}

/// Calls work(), compiled for the widest vectors of this processor.
template <class Work>
auto with_wide_vectors(const Work& work) {
  const VectorSet widest = widest_vectors();
  if (widest == VectorSet::avx512) return call_with_avx512(work);
  return widest == VectorSet::avx2 ? call_with_avx2(work) : work();
}

/// Like with_wide_vectors(), but passes work() the matching Vectors type.
template <class Work>
auto with_vectors(const Work& work) {
  const VectorSet widest = widest_vectors();
  if (widest == VectorSet::avx512)
    return call_with_avx512([&] { return work(Vectors<8, true>{}); });
  if (widest == VectorSet::avx2) return call_with_avx2([&] { return work(Vectors<4, true>{}); });
  return work(PortableVectors{});
}

#else

template <class Work>
auto with_wide_vectors(const Work& work) {
  return work();
}

template <class Work>
auto with_vectors(const Work& work) {
  return work(PortableVectors{});
}

#endif

}  // namespace cuszi::cpu

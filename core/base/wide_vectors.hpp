#pragma once

#include <cstddef>
#include <cstring>

namespace cuszi {

// Loops over values that do not depend on each other give the same results whatever the width of
// the processor's vectors. Releases are built for any x86-64 processor, so what is worth it is
// compiled twice more, for AVX2 and AVX-512, and chosen where it runs. Multiplications and
// additions are fused only where the code says so (-ffp-contract=off).

/// What a processor works on at once.
template <std::size_t doubles_of_vector, bool fuses>
struct Vectors {
  static constexpr std::size_t doubles = doubles_of_vector;
  static constexpr std::size_t bytes = doubles * sizeof(double);
  static constexpr std::size_t register_bytes = fuses ? bytes : 16;
  static constexpr bool has_fma = fuses;  ///< fused multiply-add is one instruction

  using Doubles [[gnu::vector_size(doubles_of_vector * sizeof(double))]] = double;
};

/// What any processor has.
using PortableVectors = Vectors<4, false>;

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && defined(__OPTIMIZE__)

/// Whether this processor has AVX2, and the parts of AVX-512 that all have but the first; both with
/// fused multiply-add.
inline bool has_avx2() {
  return __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0;
}
inline bool has_avx512() {
  return has_avx2() && __builtin_cpu_supports("avx512f") != 0 &&
         __builtin_cpu_supports("avx512bw") != 0 && __builtin_cpu_supports("avx512dq") != 0 &&
         __builtin_cpu_supports("avx512vl") != 0;
}

/// with_wide_vectors() on a processor that has them. Everything that is called is inlined here, so
/// that all of it is compiled for them.
template <class Work>
[[gnu::target("avx2,fma"), gnu::flatten, gnu::noinline]] auto call_with_avx2(const Work& work) {
  return work();
}
template <class Work>
[[gnu::target("avx512f,avx512bw,avx512dq,avx512vl,fma,prefer-vector-width=512"), gnu::flatten,
  gnu::noinline]] auto
call_with_avx512(const Work& work) {
  return work();
}

/// Calls work() with loops compiled for the widest vectors that this processor has.
template <class Work>
auto with_wide_vectors(const Work& work) {
  if (has_avx512()) return call_with_avx512(work);
  return has_avx2() ? call_with_avx2(work) : work();
}

/// Calls work(vectors) with loops compiled for the widest vectors that this processor has.
/// `vectors` is an object of the matching Vectors type, for work whose code differs by vector
/// width.
template <class Work>
auto with_vectors(const Work& work) {
  if (has_avx512()) return call_with_avx512([&] { return work(Vectors<8, true>{}); });
  if (has_avx2()) return call_with_avx2([&] { return work(Vectors<4, true>{}); });
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

}  // namespace cuszi

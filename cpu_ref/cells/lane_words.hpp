#pragma once

#include "core/coders/symbol_lanes.hpp"
#include "cpu_ref/base/wide_vectors.hpp"

namespace cuszi::cpu {

/// How Vectors move words between lanes and a chain.
template <class V>
struct LaneWords : WordByWord {};

}  // namespace cuszi::cpu

#ifdef CUSZI_WIDE_VECTORS

#include <immintrin.h>

namespace cuszi::cpu {

#define CUSZI_AVX512 [[gnu::target("avx512f,avx512bw,avx512vl")]]

/// AVX-512: sixteen lanes at once.
template <>
struct LaneWords<Vectors<8, true>> {
  CUSZI_AVX512 static std::size_t refill(const LaneFlags& flags, const std::uint16_t* words,
                                         std::uint32_t* states) {
    const std::uint32_t low = bits_of(flags);
    const auto first = static_cast<std::size_t>(__builtin_popcount(low & 0xFFFFU));
    refill_half(static_cast<__mmask16>(low), words, states);
    refill_half(static_cast<__mmask16>(low >> 16), words + first, states + 16);
    return first + static_cast<std::size_t>(__builtin_popcount(low >> 16));
  }
  CUSZI_AVX512 static std::size_t spill(const LaneFlags& flags, const std::uint16_t* spilled,
                                        std::uint16_t* end) {
    const std::uint32_t spilling = bits_of(flags);
    const std::size_t high = spill_half(static_cast<__mmask16>(spilling >> 16), spilled + 16, end);
    return high + spill_half(static_cast<__mmask16>(spilling), spilled, end - high);
  }

 private:
  // Forms with masks, as g++ warns of what others leave undefined.
  static constexpr __mmask16 sixteen = 0xFFFF;

  CUSZI_AVX512 static std::uint32_t bits_of(const LaneFlags& flags) {
    const __m256i bytes = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(flags));
    return _mm256_test_epi8_mask(bytes, bytes);
  }
  CUSZI_AVX512 static __m512i load_words(const std::uint16_t* words) {
    return _mm512_maskz_cvtepu16_epi32(sixteen,
                                       _mm256_loadu_si256(reinterpret_cast<const __m256i*>(words)));
  }
  CUSZI_AVX512 static void refill_half(__mmask16 low, const std::uint16_t* words,
                                       std::uint32_t* states) {
    const __m512i state = _mm512_loadu_si512(states);
    const __m512i next = _mm512_maskz_expand_epi32(low, load_words(words));
    _mm512_storeu_si512(
        states, _mm512_mask_or_epi32(state, low, _mm512_maskz_slli_epi32(low, state, 16), next));
  }
  CUSZI_AVX512 static std::size_t spill_half(__mmask16 spilling, const std::uint16_t* spilled,
                                             std::uint16_t* end) {
    const auto count = static_cast<std::size_t>(__builtin_popcount(spilling));
    const __m512i words = _mm512_maskz_compress_epi32(spilling, load_words(spilled));
    _mm256_mask_storeu_epi16(end - count, static_cast<__mmask16>((1U << count) - 1),
                             _mm512_maskz_cvtepi32_epi16(sixteen, words));
    return count;
  }
};

#undef CUSZI_AVX512

}  // namespace cuszi::cpu

#endif

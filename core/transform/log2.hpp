#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "core/base/bit_width.hpp"
#include "core/base/hd.hpp"

namespace cuszi {

// Bit-exact on every processor: IEEE +, - and x in one order. Floats use one polynomial each,
// doubles tables of correctly rounded constants.

/// log2(|x|) - centre of a normal float; error below 0x1.f2p-24 before the last rounding.
/// Monotonic. Other x give at most -127 - centre or at least 128 - centre.
CUSZI_HD inline float log2_of_normal(float x, int centre) {
  constexpr float coefficients[9]{0x1.2b8034p-1F, 0x1.ec7086p-1F,  -0x1.484a8ap-2F,
                                  0x1.23e4dep-3F, -0x1.240b32p-4F, 0x1.32e568p-5F,
                                  -0x1.51299p-6F, 0x1.e44586p-7F,  -0x1.29d340p-7F};
  constexpr std::uint32_t exponent_bits = 0xFF;
  constexpr std::uint32_t fraction_bits = 0x7FFFFF;
  constexpr float addend = 8388608.0F;  // 2^23: its bits plus n represent 2^23 + n
  constexpr float middle = 1.5F;
  const auto bits = std::bit_cast<std::uint32_t>(x);
  const float exponent =
      std::bit_cast<float>((bits >> 23 & exponent_bits) | std::bit_cast<std::uint32_t>(addend)) -
      (addend + static_cast<float>(127 + centre));
  const float rest =
      std::bit_cast<float>((bits & fraction_bits) | std::bit_cast<std::uint32_t>(1.0F)) - middle;
  float sum = coefficients[8];
  CUSZI_UNROLL
  for (int n = 7; n >= 0; --n) sum = sum * rest + coefficients[n];
  return exponent + sum;
}

/// 2^y for |y| < 2^21: mantissa in [1, 2] and exponent, relative error below 2^-23.3. Monotonic:
/// all sums and products are of nonnegative numbers.
struct FloatPower {
  float mantissa;
  int exponent;

  CUSZI_HD static FloatPower of(float y) {
    constexpr float coefficients[6]{0x1.62e430p-1F, 0x1.ebfc40p-3F,  0x1.c69f3ap-5F,
                                    0x1.3c4c98p-7F, 0x1.4c9214p-10F, 0x1.b50dbap-13F};
    constexpr float addend = 12582912.0F;  // 1.5 x 2^23: adding it rounds to integers
    const float placed = (y - 0.5F) + addend;
    const float rest = y - (placed - addend);  // in [0, 1]
    float sum = coefficients[5];
    CUSZI_UNROLL
    for (int n = 4; n >= 0; --n) sum = sum * rest + coefficients[n];
    return {1.0F + rest * sum, static_cast<int>(std::bit_cast<std::uint32_t>(placed) -
                                                std::bit_cast<std::uint32_t>(addend))};
  }

  /// 2^(y + more), which must be normal.
  CUSZI_HD float scaled_by(int more) const {
    const auto shift = static_cast<std::uint32_t>(exponent + more);
    return std::bit_cast<float>(std::bit_cast<std::uint32_t>(mantissa) + (shift << 23));
  }
};

/// 1 / centre of a 64th of [1, 2), in 512ths; the outer end for the first and last part, so that
/// powers of two have exact logarithms.
CUSZI_HD inline double reciprocal_of_part(unsigned i) {
  CUSZI_TABLE std::uint16_t table[64]{
      512, 500, 493, 485, 478, 471, 465, 458, 452, 446, 440, 434, 428, 423, 417, 412,
      407, 402, 397, 392, 388, 383, 379, 374, 370, 366, 362, 358, 354, 350, 347, 343,
      340, 336, 333, 329, 326, 323, 320, 317, 314, 311, 308, 305, 302, 299, 297, 294,
      291, 289, 286, 284, 281, 279, 277, 274, 272, 270, 267, 265, 263, 261, 259, 256};
  return table[i] * 0x1p-9;
}

CUSZI_HD inline double log2_of_part(unsigned i) {
  CUSZI_TABLE double table[64]{
      0x0.0000000000000p+0, 0x1.184b8e4c56af8p-5, 0x1.beec9151aac2ep-5, 0x1.4023b7b26ac9ep-4,
      0x1.960caf9abb7cap-4, 0x1.ed3a1d4cdbebbp-4, 0x1.1c7e77dde33dcp-3, 0x1.494f863b8df35p-3,
      0x1.7046031c79f85p-3, 0x1.97c1cb13c7ec1p-3, 0x1.bfc67a7fff4ccp-3, 0x1.e857d3d361368p-3,
      0x1.08bce0d95fa38p-2, 0x1.1a190a5d674a0p-2, 0x1.2f33e6d2120f2p-2, 0x1.4106017c3eca3p-2,
      0x1.530fd08f29fa7p-2, 0x1.6552b49986277p-2, 0x1.77d01b66fbd37p-2, 0x1.8a8980abfbd32p-2,
      0x1.99b072a96c6b2p-2, 0x1.acd9c130dd53fp-2, 0x1.bc5c5489254ccp-2, 0x1.cffae611ad12bp-2,
      0x1.dfdd89d586e2bp-2, 0x1.efec61b011f85p-2, 0x1.0014332be0033p-1, 0x1.08494c66b8ef0p-1,
      0x1.1096015dee4dap-1, 0x1.18fadb6e2d3c2p-1, 0x1.1f56ac9ed9a8dp-1, 0x1.27e72080fcde6p-1,
      0x1.2e644fac04fd8p-1, 0x1.37222bb70747cp-1, 0x1.3dc21e613cf39p-1, 0x1.46af4e41a1f3fp-1,
      0x1.4d7380dcc422dp-1, 0x1.5447b7266439bp-1, 0x1.5b2c3da19723bp-1, 0x1.622162faf1183p-1,
      0x1.6927781d932a8p-1, 0x1.703ed0493b8f6p-1, 0x1.7767c12967a45p-1, 0x1.7ea2a2ed97ccep-1,
      0x1.85efd062c656dp-1, 0x1.8d4fa70e23c8ep-1, 0x1.9244c3a281a86p-1, 0x1.99c48be2063c8p-1,
      0x1.a15804e0be888p-1, 0x1.a6702414dbb3ap-1, 0x1.ae255819f022dp-1, 0x1.b35458761d479p-1,
      0x1.bb2c792ddbe75p-1, 0x1.c0732be1e9febp-1, 0x1.c5c3963948fa5p-1, 0x1.cdcebd2373995p-1,
      0x1.d338120a6dd9dp-1, 0x1.d8aba045b01c8p-1, 0x1.e0ec767ccdac6p-1, 0x1.e67a403cb6ae7p-1,
      0x1.ec12cf6b97a5ep-1, 0x1.f1b64e22bd784p-1, 0x1.f764e7742b428p-1, 0x1.0000000000000p+0};
  return table[i];
}

CUSZI_HD inline double power_of_part(unsigned j) {
  CUSZI_TABLE double table[33]{
      0x1.0000000000000p+0, 0x1.059b0d3158574p+0, 0x1.0b5586cf9890fp+0, 0x1.11301d0125b51p+0,
      0x1.172b83c7d517bp+0, 0x1.1d4873168b9aap+0, 0x1.2387a6e756238p+0, 0x1.29e9df51fdee1p+0,
      0x1.306fe0a31b715p+0, 0x1.371a7373aa9cbp+0, 0x1.3dea64c123422p+0, 0x1.44e086061892dp+0,
      0x1.4bfdad5362a27p+0, 0x1.5342b569d4f82p+0, 0x1.5ab07dd485429p+0, 0x1.6247eb03a5585p+0,
      0x1.6a09e667f3bcdp+0, 0x1.71f75e8ec5f74p+0, 0x1.7a11473eb0187p+0, 0x1.82589994cce13p+0,
      0x1.8ace5422aa0dbp+0, 0x1.93737b0cdc5e5p+0, 0x1.9c49182a3f090p+0, 0x1.a5503b23e255dp+0,
      0x1.ae89f995ad3adp+0, 0x1.b7f76f2fb5e47p+0, 0x1.c199bdd85529cp+0, 0x1.cb720dcef9069p+0,
      0x1.d5818dcfba487p+0, 0x1.dfc97337b9b5fp+0, 0x1.ea4afa2a490dap+0, 0x1.f50765b6e4540p+0,
      0x1.0000000000000p+1};
  return table[j];
}

template <class T>
struct SeriesTerms;
template <>
struct SeriesTerms<float> {
  static constexpr int log2 = 4;
  static constexpr int exp2 = 4;
};
template <>
struct SeriesTerms<double> {
  static constexpr int log2 = 8;
  static constexpr int exp2 = 7;
};

/// log2(x) of a finite x > 0 with an error below 2^-31 (float) or 2^-51 (double) plus rounding.
/// Powers of two are exact.
template <class T>
CUSZI_HD inline double log2_of_value(double x) {
  constexpr double coefficients[8]{
      0x1.71547652b82fep+0, -0x1.71547652b82fep-1, 0x1.ec709dc3a03fdp-2, -0x1.71547652b82fep-2,
      0x1.2776c50ef9bfep-2, -0x1.ec709dc3a03fdp-3, 0x1.a61762a7aded9p-3, -0x1.71547652b82fep-3};
  constexpr double subnormal_scale = 0x1p54;
  const bool is_subnormal = x < 0x1p-1022;
  const auto bits = std::bit_cast<std::uint64_t>(is_subnormal ? x * subnormal_scale : x);
  const int exponent = static_cast<int>(bits >> 52) - (is_subnormal ? 1023 + 54 : 1023);
  const std::uint64_t fraction = bits & ((std::uint64_t{1} << 52) - 1);
  const auto part = static_cast<unsigned>(fraction >> 46);
  const auto mantissa = std::bit_cast<double>(fraction | std::uint64_t{1023} << 52);
  const double rest = mantissa * reciprocal_of_part(part) - 1;
  double sum = coefficients[SeriesTerms<T>::log2 - 1];
  CUSZI_UNROLL
  for (int n = SeriesTerms<T>::log2 - 2; n >= 0; --n) sum = sum * rest + coefficients[n];
  return exponent + (log2_of_part(part) + sum * rest);
}

/// 2^y with the accuracy of T, not for NaN; may overflow. Monotonic: all sums and products are of
/// nonnegative numbers, and parts are clamped to the next one's start.
template <class T>
CUSZI_HD inline double exp2_of_value(double y) {
  constexpr double coefficients[7]{
      0x1.62e42fefa39efp-1,  0x1.ebfbdff82c58fp-3,  0x1.c6b08d704a0c0p-5, 0x1.3b2ab6fba4e77p-7,
      0x1.5d87fe78a6731p-10, 0x1.430912f86c787p-13, 0x1.ffcbfc588b0c7p-17};
  constexpr int parts = 32;
  constexpr double most = 1100;
  y = y < -most ? -most : (y > most ? most : y);
  const double whole = std::floor(y);
  const double scaled = (y - whole) * parts;
  const auto part = static_cast<unsigned>(scaled < parts - 1 ? scaled : parts - 1);
  const double rest = (scaled - part) / parts;
  double sum = coefficients[SeriesTerms<T>::exp2 - 1];
  CUSZI_UNROLL
  for (int n = SeriesTerms<T>::exp2 - 2; n >= 0; --n) sum = sum * rest + coefficients[n];
  const double begin = power_of_part(part);
  const double next = power_of_part(part + 1);
  const double inside = begin + begin * (sum * rest);
  const auto exponent = static_cast<int>(whole);
  const int half = exponent / 2;
  return (inside < next ? inside : next) * power_of_two(half) * power_of_two(exponent - half);
}

}  // namespace cuszi

#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

#include "core/zfp/zfp.hpp"
#include "test_data/random.hpp"

namespace cuszi::test {

/// A field and the parameters to code it with.
template <class T>
struct ZfpCase {
  Dims dims;
  ZfpParams params;
  std::string text;  ///< what it is, for messages
  std::vector<T> values;
};

/// What a field's values are like.
enum class ZfpValues {
  waves,         ///< smooth
  noise,         ///< over 40 binades
  all_finite,    ///< any bits of a finite number
  tiny,          ///< subnormals and what overflows zfp's scaling
  signed_zeros,  ///< zeros of both signs among others
  integers,      ///< that fixed point holds exactly
  sparse,        ///< mostly zeros
  any_bits,      ///< NaN and infinities too
};
inline constexpr std::uint64_t zfp_value_kinds = 8;

template <class T>
T random_value(Random& random, ZfpValues kind, double wave) {
  const double u = random.uniform() * 2 - 1;
  const std::uint64_t bits = random.next();
  if constexpr (std::is_integral_v<T>) {
    if (kind == ZfpValues::all_finite || kind == ZfpValues::any_bits) return static_cast<T>(bits);
    if (kind == ZfpValues::sparse) return static_cast<T>(random.one_in(20) ? u * 1e6 : 0.0);
    return static_cast<T>(1e6 * (wave + 0.01 * u));
  } else {
    T any;
    std::memcpy(&any, &bits, sizeof any);
    switch (kind) {
      case ZfpValues::waves: return static_cast<T>(wave);
      case ZfpValues::noise: return static_cast<T>(std::ldexp(u, static_cast<int>(bits % 40) - 20));
      case ZfpValues::all_finite: return std::isfinite(any) ? any : T{1};
      case ZfpValues::tiny:
        return static_cast<T>(
            std::ldexp(u, static_cast<int>(bits % 60) + (sizeof(T) == 4 ? -150 : -1075)));
      case ZfpValues::signed_zeros:
        return static_cast<T>(bits % 5 == 0 ? -0.0 : (bits % 2 == 0 ? 0.0 : u));
      case ZfpValues::integers: return static_cast<T>(static_cast<int>(u * 100));
      case ZfpValues::sparse: return static_cast<T>(bits % 20 == 0 ? u : 0.0);
      case ZfpValues::any_bits: return any;
    }
    return T{0};
  }
}

/// One to four dimensions; one of the extents up to 70, the others such that tests stay short.
inline Dims random_zfp_dims(Random& random) {
  constexpr std::uint64_t limits[] = {280, 70, 18, 9};
  const std::size_t rank = 1 + random.below(4);
  std::uint64_t extents[4];
  for (std::size_t axis = 0; axis < rank; ++axis)
    extents[axis] = 1 + random.below(limits[rank - 1]);
  if (random.one_in(3)) extents[random.below(rank)] = 1 + random.below(70);
  return *Dims::make(std::span(extents, rank));
}

/// Accuracy, precision, rate, reversible and expert, all as the library would be set.
template <class T>
ZfpParams random_zfp_params(Random& random, int rank) {
  switch (random.below(5)) {
    case 0:
      return ZfpParams::accuracy(
          std::ldexp(1 + random.uniform(), static_cast<int>(random.below(60)) - 50));
    case 1: return ZfpParams::precision(static_cast<std::uint32_t>(1 + random.below(64)));
    case 2:
      return ZfpParams::rate(random.uniform() * sizeof(T) * 9, rank, ZfpType<T>::exponent_bits);
    case 3: return ZfpParams::reversible();
    default: {
      ZfpParams params;
      params.max_bits = static_cast<std::uint32_t>(20 + random.below(3000));
      params.min_bits = static_cast<std::uint32_t>(1 + random.below(params.max_bits));
      params.max_precision = static_cast<std::uint32_t>(1 + random.below(64));
      if (random.one_in(2)) params.min_exponent = static_cast<std::int32_t>(random.below(60)) - 40;
      return params;
    }
  }
}

template <class T>
ZfpCase<T> random_zfp_case(Random& random) {
  ZfpCase<T> made;
  made.dims = random_zfp_dims(random);
  const auto kind = static_cast<ZfpValues>(random.below(zfp_value_kinds));
  made.params = random_zfp_params<T>(random, made.dims.rank());
  if (kind == ZfpValues::any_bits) made.params = ZfpParams::reversible();
  const double phase = random.uniform() * 9;
  made.values.resize(made.dims.count());
  for (std::size_t i = 0; i < made.values.size(); ++i) {
    const double wave = std::sin(phase + 0.05 * static_cast<double>(i));
    made.values[i] = random_value<T>(random, kind, wave);
  }
  made.text = made.dims.to_string() + ", values of kind " + std::to_string(static_cast<int>(kind)) +
              ", bits " + std::to_string(made.params.min_bits) + " to " +
              std::to_string(made.params.max_bits) + ", planes " +
              std::to_string(made.params.max_precision) + ", exponent " +
              std::to_string(made.params.min_exponent);
  return made;
}

}  // namespace cuszi::test

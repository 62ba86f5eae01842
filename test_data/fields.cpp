#include "test_data/fields.hpp"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <span>
#include <type_traits>

#include "core/field/stored_type.hpp"
#include "test_data/random.hpp"

namespace cuszi::test {

namespace {

using Position = std::array<double, Dims::max_rank>;

/// A wave of period 1 between -1 and 1: a parabola for each half.
double wave(double t) {
  const double phase = t - std::floor(t);
  const double half = phase < 0.5 ? phase : phase - 0.5;
  const double arch = 16 * half * (0.5 - half);
  return phase < 0.5 ? arch : -arch;
}

/// A few plane waves over the unit cube.
class Waves {
 public:
  explicit Waves(Random& random) {
    for (Component& component : components_) {
      component.amplitude = 0.5 + random.uniform();
      component.phase = random.uniform();
      for (double& frequency : component.frequency) frequency = 2.5 * random.uniform();
    }
  }

  double operator()(const Position& at) const {
    double sum = 0;
    for (const Component& component : components_) {
      double t = component.phase;
      for (std::size_t axis = 0; axis < at.size(); ++axis)
        t += component.frequency[axis] * at[axis];
      sum += component.amplitude * wave(t);
    }
    return sum;
  }

 private:
  struct Component {
    double amplitude;
    double phase;
    Position frequency;
  };
  std::array<Component, 3> components_{};
};

/// Calls each(point, its position in the unit cube) in raster order.
template <class Each>
void for_each_point(const Dims& dims, const Each& each) {
  for (std::uint64_t point = 0; point < dims.count(); ++point) {
    Position at{};
    std::uint64_t rest = point;
    for (int axis = dims.rank() - 1; axis >= 0; --axis) {
      const std::uint64_t extent = dims[axis];
      at[static_cast<std::size_t>(axis)] =
          static_cast<double>(rest % extent) / static_cast<double>(extent);
      rest /= extent;
    }
    each(point, at);
  }
}

/// Any finite value of the type whose exponent bits are equally likely, zeros of both signs among
/// them.
template <class T>
T any_finite(Random& random) {
  constexpr int fraction_bits = std::numeric_limits<T>::digits - 1;
  constexpr int exponent_bits = 8 * static_cast<int>(sizeof(T)) - 1 - fraction_bits;
  constexpr std::uint64_t exponents = (std::uint64_t{1} << exponent_bits) - 1;
  std::uint64_t fraction = random.next() >> (64 - fraction_bits);
  if (random.one_in(8)) fraction = 0;
  const std::uint64_t sign = random.below(2);
  const std::uint64_t exponent = random.below(exponents);
  const std::uint64_t bits = (((sign << exponent_bits) | exponent) << fraction_bits) | fraction;
  return std::bit_cast<T>(static_cast<BitsOf<T>>(bits));
}

/// What a measurement may leave where there is none: infinities and NaN, some with a payload.
template <class T>
T any_missing(Random& random) {
  constexpr T infinity = std::numeric_limits<T>::infinity();
  constexpr T nan = std::numeric_limits<T>::quiet_NaN();
  const T with_payload =
      std::bit_cast<T>(static_cast<BitsOf<T>>(std::bit_cast<BitsOf<T>>(nan) + 5));
  return random.pick({nan, infinity, -infinity, with_payload});
}

template <class T>
T value_at(FieldKind kind, const Waves& waves, const Position& at, Random& random) {
  const double base = waves(at);
  const bool in_region = waves({at[3], at[0], at[1], at[2]}) > 1;
  switch (kind) {
    case FieldKind::smooth: return static_cast<T>(base);
    case FieldKind::rough: return static_cast<T>(base + random.uniform() - 0.5);
    case FieldKind::sparse: return static_cast<T>(random.one_in(50) ? random.uniform() : 0);
    case FieldKind::constant: return static_cast<T>(273.15);
    case FieldKind::missing:
      if (random.one_in(200)) return any_missing<T>(random);
      return in_region ? std::numeric_limits<T>::quiet_NaN() : static_cast<T>(base);
    case FieldKind::filled: return static_cast<T>(in_region ? filled_value : base);
    case FieldKind::wide: return any_finite<T>(random);
    case FieldKind::ramp: return static_cast<T>(at[0] + 2 * at[1] + 3 * at[2] + 4 * at[3]);
    case FieldKind::steps: return static_cast<T>(std::floor(4 * base));
    case FieldKind::slices: return static_cast<T>(waves({97 * at[0], at[1], at[2], at[3]}));
  }
  return T{};
}

}  // namespace

template <class T>
std::vector<T> make_values(FieldKind kind, const Dims& dims, std::uint64_t seed) {
  Random random(seed);
  const Waves waves(random);
  std::vector<T> values(dims.count());
  for_each_point(dims, [&](std::uint64_t point, const Position& at) {
    values[point] = value_at<T>(kind, waves, at, random);
  });
  return values;
}

template std::vector<float> make_values(FieldKind, const Dims&, std::uint64_t);
template std::vector<double> make_values(FieldKind, const Dims&, std::uint64_t);

namespace {

/// Values as a stored type; for integers, times a power of two that spreads them over their range.
std::vector<std::byte> converted(DType dtype, const std::vector<double>& values) {
  const double most =
      is_integer(dtype) ? std::ldexp(1.0, static_cast<int>(8 * size_of(dtype)) - 4) : 1;
  std::vector<std::byte> stored(values.size() * size_of(dtype));
  with_stored_type_of(dtype, [&](auto zero) {
    using S = decltype(zero);
    for (std::size_t i = 0; i < values.size(); ++i) {
      S value{};
      if constexpr (std::is_floating_point_v<S>) {
        value = static_cast<S>(values[i]);
      } else if constexpr (std::is_integral_v<S>) {
        const double scaled = std::floor(values[i] * most);
        if (is_stored_value(dtype, scaled)) value = static_cast<S>(scaled);
      } else {
        value = S::nearest(static_cast<float>(values[i]));
      }
      std::memcpy(stored.data() + i * sizeof(S), &value, sizeof(S));
    }
  });
  return stored;
}

}  // namespace

std::vector<std::byte> make_field(FieldKind kind, const Dims& dims, DType dtype,
                                  std::uint64_t seed) {
  if (is_cast(dtype)) return converted(dtype, make_values<double>(kind, dims, seed));
  return with_type_of(dtype, [&](auto zero) {
    const auto values = make_values<decltype(zero)>(kind, dims, seed);
    const auto bytes = std::as_bytes(std::span(values));
    return std::vector<std::byte>(bytes.begin(), bytes.end());
  });
}

}  // namespace cuszi::test

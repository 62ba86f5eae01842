#include "core/field/stored_type.hpp"

#include <cmath>
#include <functional>
#include <span>
#include <type_traits>

#include "core/base/error.hpp"

namespace cuszi {

namespace {

/// Times a bound, makes up for the roundings of the few operations that led to it.
constexpr double rounding_margin = 1 - 0x1p-48;
/// Exceeds the range of 32-bit integers.
constexpr double most_integer_bound = 0x1p33;

template <class S, class V>
std::span<S> as_values(std::span<V> bytes) {
  return {reinterpret_cast<S*>(bytes.data()), bytes.size() / sizeof(S)};
}

template <class From, class To>
void convert(std::span<const From> from, std::span<To> to, const ForEach& for_each) {
  constexpr std::size_t piece = std::size_t{1} << 16;
  for_each(ceil_div(from.size(), piece), [&](std::size_t part) {
    const std::size_t end = std::min(from.size(), (part + 1) * piece);
    for (std::size_t i = part * piece; i < end; ++i) to[i] = converted_to<To>(from[i]);
  });
}

/// The values of a type of at most 16 bits, or of 32-bit integers, by ascending numbers; both zeros
/// are number 0.
template <class S>
struct OrderedValues {
  static constexpr bool is_half = !std::is_arithmetic_v<S>;
  static constexpr std::int64_t most() {
    if constexpr (is_half)
      return S::infinity - 1;
    else
      return std::numeric_limits<S>::max();
  }
  static constexpr std::int64_t least() {
    if constexpr (is_half)
      return -most();
    else
      return std::numeric_limits<S>::min();
  }

  static double value(std::int64_t number) {
    if constexpr (is_half) {
      const double magnitude = S{static_cast<std::uint16_t>(std::abs(number))}.value();
      return number < 0 ? -magnitude : magnitude;
    } else {
      return static_cast<double>(number);
    }
  }

  /// NaN and infinities have numbers beyond least() and most().
  static std::int64_t number(S value) {
    if constexpr (is_half) {
      const std::int64_t magnitude = value.bits & 0x7FFF;
      return (value.bits & 0x8000) != 0 ? -magnitude : magnitude;
    } else {
      return value;
    }
  }

  static double between(std::int64_t number) { return (value(number) + value(number + 1)) / 2; }
};

/// How far work values may be from a value for their roundings to be within a bound of it.
template <class S>
class RoundingReach {
 public:
  explicit RoundingReach(const ValueBound& bound) : bound_(bound) {}

  /// The reach of a value, by its number. Quickest if numbers follow each other.
  double of(std::int64_t number) {
    const double value = L::value(number);
    above_ = furthest(number, 1, L::most() - number, above_);
    below_ = furthest(number, -1, number - L::least(), below_);
    double reach = std::numeric_limits<double>::infinity();
    if (number + above_ < L::most()) reach = L::between(number + above_) - value;
    if (number - below_ > L::least())
      reach = std::min(reach, value - L::between(number - below_ - 1));
    return reach;
  }

 private:
  using L = OrderedValues<S>;

  /// The last of `most` numbers in a direction that is within the bound, as a distance: by doubled
  /// steps from a guess until it is between two, then by halves.
  std::int64_t furthest(std::int64_t number, int direction, std::int64_t most,
                        std::int64_t guess) const {
    const double value = L::value(number);
    std::int64_t within = 0;
    std::int64_t beyond = most + 1;
    bool has_within = false;
    bool has_beyond = false;
    std::int64_t tried = std::min(guess, most);
    for (std::int64_t step = 1; beyond - within > 1; step *= 2) {
      const bool holds = bound_.holds(value, L::value(number + direction * tried));
      (holds ? has_within : has_beyond) = true;
      (holds ? within : beyond) = tried;
      if (has_within && has_beyond) {
        tried = within + (beyond - within) / 2;
      } else {
        tried = holds ? std::min(within + step, beyond - 1) : std::max(beyond - step, within + 1);
      }
    }
    return within;
  }

  const ValueBound& bound_;
  std::int64_t above_ = 0;
  std::int64_t below_ = 0;
};

/// The part of `bound` that work errors may have for the roundings of all values to keep it.
template <class S>
double part_of_bound(const ValueBound& bound, const DistinctValues& distinct) {
  using L = OrderedValues<S>;
  double part = bound.goes_with_values() ? 1 : 2;
  RoundingReach<S> reach(bound);
  for (std::size_t bits = 0; bits >> (8 * sizeof(S)) == 0; ++bits) {
    if (!distinct.has(bits)) continue;
    const std::int64_t number = L::number(std::bit_cast<S>(static_cast<StoredBits<S>>(bits)));
    if (number < L::least() || number > L::most()) continue;
    const double error = bound.limit(bound.share * std::fabs(L::value(number)));
    if (error > 0) part = std::min(part, reach.of(number) / error);
  }
  return part * rounding_margin;
}

/// Less than half from an integer, so that rounding leads back to it.
double integer_work_bound(double bound) {
  return std::nextafter(std::min(std::floor(bound), most_integer_bound) + 0.5, 0.0);
}

void add_halfway(DType stored, double value, IsoValues& isovalues) {
  with_stored_type_of(stored, [&](auto zero) {
    using S = decltype(zero);
    if constexpr (!std::is_floating_point_v<S> && sizeof(S) < 8) {
      using L = OrderedValues<S>;
      const std::int64_t number = L::number(converted_to<S>(value));
      if (number > L::least()) isovalues.add(L::between(number - 1));
      if (number < L::most()) isovalues.add(L::between(number));
    }
  });
}

template <class I>
I quantised(I value, std::uint64_t bound) {
  const bool is_negative = value < 0;
  const std::uint64_t step = 2 * bound + 1;
  const auto bits = static_cast<std::uint64_t>(value);
  const std::uint64_t magnitude = is_negative ? 0 - bits : bits;
  const std::uint64_t rest = magnitude % step;
  const auto most = static_cast<std::uint64_t>(std::numeric_limits<I>::max());
  if (rest > bound && step - rest > most - std::min(magnitude, most)) return value;
  const std::uint64_t moved = rest > bound ? magnitude + (step - rest) : magnitude - rest;
  return static_cast<I>(is_negative ? 0 - moved : moved);
}

template <class I>
void quantise_all(std::uint64_t bound, const FillValues& fills, std::span<I> values) {
  const std::span<const double> kept(fills.values.data(), fills.count);
  const auto is_fill = [&](I value) {
    return std::find(kept.begin(), kept.end(), static_cast<double>(value)) != kept.end();
  };
  for (I& value : values) {
    const I moved = quantised(value, bound);
    if (!is_fill(value) && !is_fill(moved)) value = moved;
  }
}

}  // namespace

void to_work(DType stored, Bytes values, MutableBytes work, const ForEach& for_each) {
  with_stored_type_of(stored, [&](auto zero) {
    const auto from = as_values<const decltype(zero)>(values);
    if (work_of(stored) == DType::f32) return convert(from, as_values<float>(work), for_each);
    convert(from, as_values<double>(work), for_each);
  });
}

void from_work(DType stored, Bytes work, MutableBytes values, const ForEach& for_each) {
  with_stored_type_of(stored, [&](auto zero) {
    using S = decltype(zero);
    if constexpr (std::is_integral_v<S> && sizeof(S) == 8) {
      throw InternalError("64-bit integers have no work values");
    } else {
      const auto to = as_values<S>(values);
      if (work_of(stored) == DType::f32) return convert(as_values<const float>(work), to, for_each);
      convert(as_values<const double>(work), to, for_each);
    }
  });
}

double nearest_stored(DType stored, double value) {
  return with_stored_type_of(stored, [&](auto zero) -> double {
    using S = decltype(zero);
    if constexpr (std::is_arithmetic_v<S>) {
      if constexpr (sizeof(S) == 8)
        return value;
      else
        return static_cast<double>(converted_to<S>(value));
    } else {
      return converted_to<S>(value).value();
    }
  });
}

bool is_stored_value(DType stored, double value) {
  if (!is_integer(stored)) return true;
  return with_stored_type_of(stored, [&](auto zero) {
    using S = decltype(zero);
    if constexpr (std::is_integral_v<S>) {
      constexpr auto least = static_cast<double>(std::numeric_limits<S>::min());
      constexpr auto most = static_cast<double>(std::numeric_limits<S>::max());  // may be rounded
      return value >= least && value <= most && std::floor(value) == value;
    } else {
      return true;
    }
  });
}

FillValues stored_fills(DType stored, FillValues fills) {
  for (std::size_t i = 0; i < fills.count; ++i) {
    fills.values.at(i) = nearest_stored(stored, fills.values.at(i));
  }
  return fills;
}

ValueRules work_rules(DType stored, const ValueRules& rules) {
  if (!is_cast(stored) || !rules.any()) return rules;
  ValueRules work{stored_fills(stored, rules.fills), {}};
  for (std::size_t i = 0; i < rules.fills.count; ++i) {
    add_halfway(stored, work.fills.values.at(i), work.isovalues);
  }
  for (std::size_t i = 0; i < rules.isovalues.count; ++i) {
    add_halfway(stored, rules.isovalues.values.at(i), work.isovalues);
  }
  return work;
}

ValueBound stored_bound(DType stored, const ValueBound& bound) {
  if (!is_integer(stored) || bound.goes_with_values()) return bound;
  return std::floor(bound.bound);
}

double work_bound(DType stored, double bound) {
  if (!is_cast(stored)) return bound;
  return is_integer(stored) ? integer_work_bound(bound) : bound / 2;
}

void DistinctValues::add(DType stored, Bytes values) {
  with_word_of(stored, [&](auto zero) {
    for (const std::size_t value : as_values<const decltype(zero)>(values)) {
      bits[value / 64] |= std::uint64_t{1} << (value % 64);
    }
  });
}

void DistinctValues::add(const DistinctValues& others) {
  std::ranges::transform(bits, others.bits, bits.begin(), std::bit_or{});
}

ValueBound work_bound(DType stored, const ValueBound& bound,
                      const std::function<DistinctValues()>& distinct) {
  const bool is_absolute = !bound.goes_with_values();
  if (!is_cast(stored)) return bound;
  if (is_integer(stored) && is_absolute) return work_bound(stored, bound.bound);
  if (is_absolute && bound.bound == 0) return bound;
  double part = 0.5 * rounding_margin;
  if (size_of(stored) <= 2) {
    part = with_stored_type_of(stored, [&](auto zero) {
      using S = decltype(zero);
      if constexpr (sizeof(S) <= 2) {
        return part_of_bound<S>(bound, distinct());
      } else {
        return 0.0;
      }
    });
  }
  ValueBound work = bound;
  if (work.kind != ValueBound::Kind::share) work.bound *= part;
  work.share *= part;
  return work;
}

void to_work(DType stored, AskedBounds& asked) {
  if (!is_cast(stored)) return;
  for (double& bound : asked.of_blocks) {
    if (!std::isfinite(bound)) continue;
    bound = work_bound(stored, bound);
  }
}

std::uint64_t quantise_wide(DType stored, double bound, const FillValues& fills,
                            MutableBytes values) {
  if (!(bound >= 1)) return 1;
  const auto whole = static_cast<std::uint64_t>(std::min(std::floor(bound), 0x1p62));
  if (stored == DType::i64) {
    quantise_all(whole, fills, as_values<std::int64_t>(values));
  } else {
    quantise_all(whole, fills, as_values<std::uint64_t>(values));
  }
  return 2 * whole + 1;
}

}  // namespace cuszi

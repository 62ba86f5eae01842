#include "core/base/radix_sort.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <limits>
#include <numeric>

#include "core/base/dtype.hpp"

namespace cuszi {

namespace {

constexpr unsigned digit_bits = 11;
constexpr std::size_t digit_values = std::size_t{1} << digit_bits;

/// Maps values of type T to integers of the same order.
template <class T>
struct Keys {
  using Key = BitsOf<T>;
  static constexpr unsigned bits = std::numeric_limits<Key>::digits;
  static constexpr Key sign = Key{1} << (bits - 1);
  static constexpr unsigned digits = (bits + digit_bits - 1) / digit_bits;

  static Key of(double value) {
    const auto key = std::bit_cast<Key>(static_cast<T>(value));
    return (key & sign) != 0 ? ~key : key | sign;
  }
  static double value(Key key) {
    return static_cast<double>(std::bit_cast<T>((key & sign) != 0 ? key & ~sign : ~key));
  }
  static std::size_t digit(Key key, unsigned number) {
    return (key >> (number * digit_bits)) % digit_values;
  }
};

/// Stable radix sort; skips digits that all keys share.
template <class T>
void sort_as(std::vector<double>& values) {
  using K = Keys<T>;
  std::vector<typename K::Key> keys(values.size());
  std::vector<typename K::Key> sorted(values.size());
  std::array<std::array<std::uint32_t, digit_values>, K::digits> starts{};
  for (std::size_t i = 0; i < values.size(); ++i) {
    keys[i] = K::of(values[i]);
    for (unsigned d = 0; d < K::digits; ++d) ++starts[d][K::digit(keys[i], d)];
  }
  for (unsigned d = 0; d < K::digits; ++d) {
    if (starts[d][K::digit(keys.front(), d)] == keys.size()) continue;
    std::exclusive_scan(starts[d].begin(), starts[d].end(), starts[d].begin(), 0U);
    for (const auto key : keys) sorted[starts[d][K::digit(key, d)]++] = key;
    keys.swap(sorted);
  }
  std::transform(keys.begin(), keys.end(), values.begin(), K::value);
}

bool is_float(double value) { return static_cast<double>(static_cast<float>(value)) == value; }

}  // namespace

void radix_sort(std::vector<double>& values) {
  if (values.empty()) return;
  if (std::all_of(values.begin(), values.end(), is_float)) {
    sort_as<float>(values);
  } else {
    sort_as<double>(values);
  }
}

}  // namespace cuszi

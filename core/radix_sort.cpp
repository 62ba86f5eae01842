#include "core/radix_sort.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <numeric>

namespace cuszi {

namespace {

using Key = std::uint64_t;

constexpr Key sign = Key{1} << 63;
constexpr unsigned digit_bits = 11;
constexpr std::size_t digits = std::size_t{1} << digit_bits;

/// Keys have the order of the values.
Key key_of(double value) {
  const auto bits = std::bit_cast<Key>(value);
  return (bits & sign) != 0 ? ~bits : bits | sign;
}

double value_of(Key key) { return std::bit_cast<double>((key & sign) != 0 ? key & ~sign : ~key); }

/// Sorts by one digit, stably. `sorted` is as long as `keys`.
void sort_by_digit(unsigned first_bit, std::vector<Key>& keys, std::vector<Key>& sorted) {
  const auto digit_of = [&](Key key) { return (key >> first_bit) % digits; };
  std::array<std::size_t, digits> starts{};
  for (const Key key : keys) ++starts[digit_of(key)];
  if (starts[digit_of(keys.front())] == keys.size()) return;
  std::exclusive_scan(starts.begin(), starts.end(), starts.begin(), std::size_t{0});
  for (const Key key : keys) sorted[starts[digit_of(key)]++] = key;
  keys.swap(sorted);
}

}  // namespace

void radix_sort(std::vector<double>& values) {
  if (values.empty()) return;
  std::vector<Key> keys(values.size());
  std::vector<Key> sorted(values.size());
  std::transform(values.begin(), values.end(), keys.begin(), key_of);
  for (unsigned bit = 0; bit < 64; bit += digit_bits) sort_by_digit(bit, keys, sorted);
  std::transform(keys.begin(), keys.end(), values.begin(), value_of);
}

}  // namespace cuszi

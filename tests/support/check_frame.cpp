#include "tests/support/check_frame.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "tests/support/bytes.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/exact.hpp"

namespace cuszi::test {

namespace {

constexpr ByteCount allowed_growth = 1024;

template <class T>
bool is_missing(T value, const FillValues& fills) {
  const auto is_value = [&](double fill) { return value == static_cast<T>(fill); };
  return !std::isfinite(value) ||
         std::any_of(fills.values.begin(), fills.values.begin() + fills.count, is_value);
}

template <class T>
bool same_bits(T a, T b) {
  return std::bit_cast<BitsOf<T>>(a) == std::bit_cast<BitsOf<T>>(b);
}

template <class T>
std::optional<std::uint64_t> first_broken(std::span<const T> original, std::span<const T> restored,
                                          const FillValues& fills, double bound) {
  T min = std::numeric_limits<T>::max();
  T max = std::numeric_limits<T>::lowest();
  for (const T value : original) {
    if (is_missing(value, fills)) continue;
    min = std::min(min, value);
    max = std::max(max, value);
  }
  for (std::size_t i = 0; i < original.size(); ++i) {
    if (same_bits(original[i], restored[i])) continue;
    const bool kept = !is_missing(original[i], fills) && restored[i] >= min && restored[i] <= max &&
                      differ_by_at_most(original[i], restored[i], bound);
    if (!kept) return i;
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::uint64_t> first_broken_promise(DType dtype, Bytes original, Bytes restored,
                                                  const FillValues& fills, double bound) {
  return with_type_of(dtype, [&](auto zero) {
    using T = decltype(zero);
    return first_broken(values_of<T>(original), values_of<T>(restored), fills, bound);
  });
}

CompressedFrame check_frame(Backend& backend, const FrameTask& task, Bytes values) {
  const auto [frame, bound] = compress(backend, task, values);
  REQUIRE(frame.bytes.size() <= values.size() + allowed_growth);
  REQUIRE(compress(backend, task, values).frame.bytes == frame.bytes);

  const std::vector<std::byte> restored = restore(backend, task.shape, frame.bytes);
  REQUIRE(restore(backend, task.shape, frame.bytes) == restored);
  const auto broken = first_broken_promise(task.shape.dtype, values, restored, task.fills, bound);
  INFO("bound " << bound << ", first broken point " << broken.value_or(0));
  REQUIRE_FALSE(broken.has_value());
  return frame;
}

}  // namespace cuszi::test

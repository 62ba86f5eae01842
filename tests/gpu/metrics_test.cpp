#include "gpu/field/metrics.cuh"

#include <limits>
#include <span>
#include <vector>

#include "cpu_ref/field/metrics.hpp"
#include "gpu/runtime/copies.hpp"
#include "test_data/random.hpp"
#include "tests/gpu/device.hpp"
#include "tests/support/catch.hpp"

namespace cuszi::test {

namespace {

/// Values of about this size, some of them missing, zero or of either sign of infinity.
template <class T>
std::vector<T> random_values(Random& random, std::size_t count, double scale) {
  const T odd[] = {std::numeric_limits<T>::quiet_NaN(),
                   std::numeric_limits<T>::infinity(),
                   -std::numeric_limits<T>::infinity(),
                   T{7},
                   T{0},
                   -T{0}};
  std::vector<T> values(count);
  for (T& value : values)
    value = random.one_in(50) ? random.pick(odd) : static_cast<T>((random.uniform() - 0.5) * scale);
  return values;
}

/// `values` with errors of up to half of `error` in a third of them; one in 200 becomes a fill
/// value or changes its sign.
template <class T>
std::vector<T> damaged(Random& random, const std::vector<T>& values, double error) {
  std::vector<T> result = values;
  for (T& value : result) {
    if (random.one_in(3)) value += static_cast<T>((random.uniform() - 0.5) * error);
    if (random.one_in(200)) value = random.one_in(2) ? T{7} : -value;
  }
  return result;
}

template <class T>
Bytes view_of(const std::vector<T>& values) {
  return std::as_bytes(std::span(values));
}

template <class T>
void compare(gpu::DeviceContext& gpu, Random& random, std::size_t count, double scale) {
  FillValues fills;
  if (random.one_in(2)) fills.add(7);
  const double bound = random.one_in(2) ? scale / 3 : scale / 1e3;
  const std::vector<T> original = random_values<T>(random, count, scale);
  const std::vector<T> restored = damaged(random, original, scale / 500);
  INFO(count << " values of about " << scale);
  const Quality expected =
      cpu::measure_quality(dtype_of<T>, view_of(original), view_of(restored), {fills, {}}, bound);
  gpu.reset();
  const auto there = [&](const std::vector<T>& values) {
    return Bytes(reinterpret_cast<const std::byte*>(upload(gpu, values.data(), count)),
                 count * sizeof(T));
  };
  const Quality found =
      gpu::measure_quality(gpu, dtype_of<T>, there(original), there(restored), {fills, {}}, bound);
  CHECK(found.points == expected.points);
  CHECK(found.missing == expected.missing);
  CHECK(found.min == expected.min);
  CHECK(found.max == expected.max);
  CHECK(found.max_error == expected.max_error);
  CHECK(found.error_sums.errors == expected.error_sums.errors);
  CHECK(found.error_sums.squares == expected.error_sums.squares);
  CHECK(found.error_sums.exponent == expected.error_sums.exponent);
  CHECK(found.counts.missing_kept == expected.counts.missing_kept);
  CHECK(found.counts.zeros == expected.counts.zeros);
  CHECK(found.counts.zeros_kept == expected.counts.zeros_kept);
  CHECK(found.counts.negative == expected.counts.negative);
  CHECK(found.counts.made_negative == expected.counts.made_negative);
  CHECK(found.missing_differ == expected.missing_differ);
  CHECK(found.first_differ == expected.first_differ);
  CHECK(found.first_bad == expected.first_bad);
}

}  // namespace

TEST_CASE("errors measured on the device are the host's", "[gpu][metrics]") {
  if (device() == nullptr) return;
  gpu::DeviceContext gpu;
  Random random(17);
  for (const std::size_t count : {1U, 31U, 32U, 1000U, 65'535U, 65'536U, 65'537U, 300'001U}) {
    for (const double scale : {1.0, 1e-30, 1e30}) compare<float>(gpu, random, count, scale);
    for (const double scale : {1.0, 1e-200, 1e200}) compare<double>(gpu, random, count, scale);
  }
}

TEST_CASE("errors of a few values, for memory and race checkers", "[gpu][.checker]") {
  if (device() == nullptr) return;
  gpu::DeviceContext gpu;
  Random random(18);
  compare<float>(gpu, random, 70'000, 1);
  compare<double>(gpu, random, 333, 1e200);
}

}  // namespace cuszi::test

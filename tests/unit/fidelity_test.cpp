#include "cpu_ref/field/fidelity.hpp"

#include <cmath>
#include <limits>

#include "test_data/fields.hpp"
#include "test_data/random.hpp"
#include "tests/support/bytes.hpp"
#include "tests/support/catch.hpp"

namespace cuszi::test {

namespace {

template <class T>
Fidelity measure(const Dims& dims, const std::vector<T>& original, const std::vector<T>& restored,
                 double max_error = 1) {
  return cpu::measure_fidelity(dtype_of<T>, dims, bytes_of(original), bytes_of(restored), {},
                               max_error);
}

bool is_near(double a, double b) { return std::fabs(a - b) <= 1e-9 * (1 + std::fabs(b)); }

constexpr float nan = std::numeric_limits<float>::quiet_NaN();

/// A field of zeros restored with errors of `size` that change sign along x alone.
template <class T>
Fidelity stripes(T size) {
  const Dims dims{4, 6, 5000};
  std::vector<T> original(dims.count());
  std::vector<T> restored(dims.count());
  for (std::size_t i = 0; i < restored.size(); ++i) restored[i] = i % 2 == 0 ? size : -size;
  return measure(dims, original, restored, static_cast<double>(size));
}

}  // namespace

TEST_CASE("errors are correlated along the axes that they stay the same on") {
  const auto check = [](const Fidelity& fidelity) {
    CHECK(is_near(fidelity.autocorrelation(2).value(), -1));
    CHECK(is_near(fidelity.autocorrelation(1).value(), 1));
    CHECK(is_near(fidelity.autocorrelation(0).value(), 1));
    CHECK(fidelity.neighbours[2].pairs == 4 * 6 * 4999);
    CHECK(fidelity.neighbours[1].pairs == 4 * 5 * 5000);
    CHECK(fidelity.neighbours[0].pairs == 3 * 6 * 5000);
  };
  check(stripes(0.5F));
  check(stripes(1e-200));
  check(stripes(1e300));
  CHECK_FALSE(stripes(0.0F).autocorrelation(0).has_value());
}

TEST_CASE("missing points and restored ones that are no numbers pair with none") {
  const Fidelity fidelity = measure<float>(Dims{6}, {0, 0, nan, 0, 0, 0}, {1, -1, nan, 1, -1, nan});
  CHECK(fidelity.neighbours[0].pairs == 2);
  CHECK(is_near(fidelity.autocorrelation(0).value_or(-1), -1));
}

TEST_CASE("random errors are not correlated") {
  const Dims dims{40, 50, 60};
  const auto original = make_values<float>(FieldKind::smooth, dims, 1);
  auto restored = original;
  Random random(2);
  for (float& value : restored) value += 0.1F * static_cast<float>(random.uniform() - 0.5);
  const Fidelity fidelity = measure(dims, original, restored);
  for (int axis = 0; axis < 3; ++axis) {
    CHECK(std::fabs(fidelity.autocorrelation(axis).value()) < 0.02);
  }
  CHECK(fidelity.ssim().value() > 0.9);
  CHECK(fidelity.ssim().value() < 1);
}

TEST_CASE("structural similarity of planes") {
  const Dims dims{3, 16, 1, 24};
  const auto original = make_values<double>(FieldKind::smooth, dims, 1);
  const Fidelity same = measure(dims, original, original);
  CHECK(same.ssim_windows == 3 * 2 * 3);
  CHECK(is_near(same.ssim().value(), 1));
  std::vector<double> ramp(64);
  std::vector<double> shifted(64);
  for (std::size_t i = 0; i < 64; ++i) {
    ramp[i] = i < 32 ? 0 : 1;
    shifted[i] = ramp[i] + 0.1;
  }
  const double expected = (2 * 0.5 * 0.6 + 1e-4) / (0.25 + 0.36 + 1e-4);
  CHECK(is_near(measure(Dims{8, 8}, ramp, shifted).ssim().value(), expected));
  std::vector<double> holed = ramp;
  holed[5] = std::numeric_limits<double>::infinity();
  CHECK_FALSE(measure(Dims{8, 8}, holed, holed).ssim().has_value());
}

TEST_CASE("parts of different scales merge") {
  Fidelity whole = stripes(1e-3);
  whole.merge(stripes(1e100));
  CHECK(whole.neighbours[2].pairs == 2 * 4 * 6 * 4999);
  CHECK(is_near(whole.autocorrelation(2).value(), -1));
  Fidelity first;
  first.merge(stripes(1e-300));
  CHECK(is_near(first.autocorrelation(1).value(), 1));
}

}  // namespace cuszi::test

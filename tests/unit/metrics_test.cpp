#include "core/metrics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/lane_sums.hpp"
#include "cpu_ref/metrics.hpp"
#include "test_data/fields.hpp"
#include "test_data/random.hpp"
#include "tests/support/bytes.hpp"
#include "tests/support/catch.hpp"

namespace cuszi::test {

namespace {

template <class T>
Quality measure(const std::vector<T>& original, const std::vector<T>& restored, double bound,
                const FillValues& fills = {}) {
  return cpu::measure_quality(dtype_of<T>, bytes_of(original), bytes_of(restored), fills, bound);
}

bool is_near(double a, double b) { return std::fabs(a - b) <= 1e-12 * std::fabs(b); }

constexpr float nan = std::numeric_limits<float>::quiet_NaN();

}  // namespace

TEST_CASE("quality as computed by hand") {
  const Quality quality = measure<double>({0, 1, 2, 4}, {0, 1.5, 2, 3}, 0.75);
  CHECK(quality.points == 4);
  CHECK(quality.missing == 0);
  CHECK(quality.min == 0);
  CHECK(quality.max == 4);
  CHECK(quality.max_error == 1);
  CHECK(quality.squared_error == 1.25);
  CHECK(is_near(quality.rmse(), std::sqrt(1.25 / 4)));
  CHECK(is_near(quality.nrmse(), std::sqrt(1.25 / 4) / 4));
  CHECK(is_near(quality.psnr().value(), 20 * std::log10(4 / std::sqrt(1.25 / 4))));
  CHECK(quality.first_bad == 3);
}

TEST_CASE("squared errors are summed lane by lane, then by a tree, then block by block") {
  Random random(4);
  std::vector<double> original(2 * quality_block_points + 777);
  std::vector<double> restored(original.size());
  for (double& value : original) value = random.uniform();
  double expected = 0;
  double serial = 0;
  for (std::size_t first = 0; first < original.size(); first += quality_block_points) {
    const std::size_t end = std::min<std::size_t>(first + quality_block_points, original.size());
    LaneSums sums{};
    for (std::size_t lane = sum_lanes; lane-- > 0;) {
      for (std::size_t i = first + lane; i < end; i += sum_lanes) {
        sums.at(lane) += original[i] * original[i];
      }
    }
    expected += tree_sum(sums);
  }
  for (const double value : original) serial += value * value;
  CHECK(measure(original, restored, 1).squared_error == expected);
  CHECK(serial != expected);
}

TEST_CASE("fields without error or range have no PSNR") {
  CHECK_FALSE(measure<float>({1, 2}, {1, 2}, 0).psnr().has_value());
  CHECK(measure<float>({1, 2}, {1, 2}, 0).nrmse() == 0);
  CHECK_FALSE(measure<float>({1, 1}, {1, 2}, 5).psnr().has_value());
  CHECK_FALSE(measure<float>({nan}, {nan}, 0).psnr().has_value());
  CHECK(measure<float>({nan}, {nan}, 0).rmse() == 0);
}

TEST_CASE("missing values must come back bit for bit and enter nothing else") {
  FillValues fills;
  fills.add(1e20);
  const Quality good = measure<float>({1, nan, 1e20F, 3}, {1, nan, 1e20F, 3}, 0, fills);
  CHECK(good.points == 2);
  CHECK(good.missing == 2);
  CHECK(good.max == 3);
  CHECK_FALSE(good.first_bad.has_value());
  CHECK(measure<float>({1, nan, 3}, {1, 2, 3}, 9).first_bad == 1);
  CHECK(measure<float>({1, nan, 3}, {1, -nan, 3}, 9).first_bad == 1);
  CHECK(measure<float>({1e20F, 3}, {2e20F, 3}, 1e21, fills).first_bad == 0);
  CHECK(measure<float>({0.0F, 3}, {-0.0F, 3}, 0).max_error == 0);
}

TEST_CASE("a restored value that is no number is bad") {
  const Quality quality = measure<float>({1, 2, 3}, {1, nan, 3}, 1e30);
  CHECK(quality.first_bad == 1);
  CHECK(std::isnan(quality.max_error));
}

TEST_CASE("parts merged are the whole") {
  const Dims dims{200'000};
  const auto original = make_values<float>(FieldKind::missing, dims, 1);
  auto restored = original;
  for (std::size_t i = 0; i < restored.size(); i += 3) restored[i] += 0.125F;
  restored[150'000] = 1e10F;
  const double bound = 1;
  const Quality whole = measure(original, restored, bound);
  CHECK(whole.first_bad == 150'000);

  Quality merged;
  std::size_t first = 0;
  for (const std::size_t end : {1U, 2U, 70'000U, 149'000U, 200'000U}) {
    const auto part = [&](const std::vector<float>& values) {
      return std::vector<float>(values.begin() + static_cast<std::ptrdiff_t>(first),
                                values.begin() + static_cast<std::ptrdiff_t>(end));
    };
    merged.merge(measure(part(original), part(restored), bound));
    first = end;
  }
  CHECK(merged.points == whole.points);
  CHECK(merged.missing == whole.missing);
  CHECK(merged.min == whole.min);
  CHECK(merged.max == whole.max);
  CHECK(merged.max_error == whole.max_error);
  CHECK(is_near(merged.squared_error, whole.squared_error));
  CHECK(merged.first_bad == whole.first_bad);
}

}  // namespace cuszi::test

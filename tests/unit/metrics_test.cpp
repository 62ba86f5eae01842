#include "core/field/metrics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/least_squares.hpp"
#include "cpu_ref/field/metrics.hpp"
#include "test_data/fields.hpp"
#include "test_data/random.hpp"
#include "tests/support/bytes.hpp"
#include "tests/support/catch.hpp"

namespace cuszi::test {

namespace {

template <class T>
Quality measure(const std::vector<T>& original, const std::vector<T>& restored, double bound,
                const FillValues& fills = {}) {
  return cpu::measure_quality(dtype_of<T>, bytes_of(original), bytes_of(restored), {fills, {}},
                              bound);
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
  CHECK(quality.error_sums.squares == 1.25);
  CHECK(quality.mean_error() == -0.125);
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
  CHECK(measure(original, restored, 1).error_sums.squares == expected);
  CHECK(serial != expected);
}

TEST_CASE("zeros, negatives and missing values are counted") {
  FillValues fills;
  fills.add(9);
  const Quality quality =
      measure<float>({0, 0, -0.0F, 1, 2, nan, 9, 9}, {0, -1, 0, 2, 2, nan, 9, 8}, 0, fills);
  CHECK(quality.points == 5);
  CHECK(quality.mean_error() == 0);
  CHECK(quality.counts.zeros == 3);
  CHECK(quality.counts.zeros_kept == 2);
  CHECK(quality.missing == 3);
  CHECK(quality.counts.missing_kept == 2);
  CHECK(quality.false_negatives() == 1);
  const Quality signs = measure<float>({-1, 0, 2}, {1, -1, 2}, 0);
  CHECK(signs.counts.made_negative == 1);
  CHECK(signs.false_negatives() == 0);
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
  CHECK(quality.missing_differ == 1);
  CHECK(quality.first_differ == 1);
  CHECK(quality.max_error == 0);
}

TEST_CASE("what is missing in one field alone, or in another way, is told") {
  FillValues fills;
  fills.add(7);
  const auto differing = [&](std::vector<float> a, std::vector<float> b) {
    return measure<float>(a, b, 1e30, fills).missing_differ;
  };
  constexpr float infinity = std::numeric_limits<float>::infinity();
  CHECK(differing({1, nan, 7, infinity}, {1, -nan, 7, infinity}) == 0);
  CHECK(differing({1, nan, 7, 2}, {1, 3, 2, 7}) == 3);
  CHECK(differing({infinity, nan, 7}, {-infinity, 7, nan}) == 3);
}

TEST_CASE("quality at any scale") {
  const std::vector<double> original{0, 1, 2, 4};
  const std::vector<double> restored{0, 1.5, 2, 3};
  const Quality plain = measure<double>(original, restored, 1);
  for (const double scale : {0x1p-1070, 0x1p-700, 0x1p-400, 0x1p400, 0x1p700, 0x1p1021}) {
    std::vector<double> a;
    std::vector<double> b;
    for (std::size_t i = 0; i < original.size(); ++i) {
      a.push_back(original[i] * scale);
      b.push_back(restored[i] * scale);
    }
    const Quality quality = measure<double>(a, b, scale);
    CHECK(is_near(quality.nrmse(), plain.nrmse()));
    CHECK(is_near(quality.psnr().value(), plain.psnr().value()));
    Quality merged = measure<double>({a[0], a[1]}, {b[0], b[1]}, scale);
    merged.merge(measure<double>({a[2], a[3]}, {b[2], b[3]}, scale));
    CHECK(is_near(merged.psnr().value(), plain.psnr().value()));
  }
  const Quality widest = measure<double>({-0x1p1023, 0x1p1023}, {-0x1p1023, 0x1p1022}, 1);
  CHECK(is_near(widest.nrmse(), 0.25 / std::sqrt(2.0)));
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
  CHECK(is_near(merged.rmse(), whole.rmse()));
  CHECK(merged.first_bad == whole.first_bad);
}

}  // namespace cuszi::test

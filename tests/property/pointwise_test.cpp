#include <array>
#include <cmath>

#include "core/tiles/tiles.hpp"
#include "cpu_ref/session/cpu_backend.hpp"
#include "tests/support/bytes.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/check_frame.hpp"
#include "tests/support/sanitized.hpp"
#include "tests/support/wide_values.hpp"

namespace cuszi::test {

namespace {

constexpr std::array predictors{PredictorId::multilevel, PredictorId::tiles, PredictorId::lorenzo,
                                PredictorId::interp};

FrameTask task_of(PredictorId predictor, const Dims& dims, DType dtype, double share) {
  FrameTask task;
  task.shape = {dtype, dims};
  task.config.predictor.id = predictor;
  if (predictor == PredictorId::multilevel) task.config.coder = CoderId::ans;
  if (predictor == PredictorId::tiles) task.config.coder = CoderId::none;
  task.mode = ErrorMode::pointwise;
  task.bound = share;
  return task;
}

/// Returns how many frames were coded.
template <class T>
int check_shares(const Dims& dims, std::uint64_t seed) {
  const auto backend = cpu::make_backend();
  int coded = 0;
  for (const Signs signs : {Signs::mixed, Signs::positive, Signs::negative}) {
    const std::vector<T> values = wide_values<T>(dims.count(), signs, seed);
    for (const PredictorId predictor : predictors) {
      for (const double share : {0.9, 0.5, 1e-2, 1e-4, 1e-7, 1e-12, 0.0}) {
        INFO(name_of(predictor) << ' ' << name_of(dtype_of<T>) << " signs "
                                << static_cast<int>(signs) << " share " << share << " seed "
                                << seed);
        const FrameTask task = task_of(predictor, dims, dtype_of<T>, share);
        const CompressedFrame frame = check_frame(*backend, task, bytes_of(values));
        coded += frame.header.transform ? 1 : 0;
      }
    }
  }
  return coded;
}

/// Bounds whose knee lies among the values, or far out. Returns how many frames were transformed so
/// that both bounds count.
template <class T>
int check_two_bounds(const Dims& dims, std::uint64_t seed) {
  const auto backend = cpu::make_backend();
  int coded = 0;
  for (const Signs signs : {Signs::mixed, Signs::negative}) {
    std::vector<T> values = wide_values<T>(dims.count(), signs, seed);
    for (const PredictorId predictor : predictors) {
      for (const ErrorMode mode :
           {ErrorMode::absolute_or_pointwise, ErrorMode::absolute_and_pointwise}) {
        for (const double share : {0.7, 1e-2, 1e-4, 1e-9}) {
          for (const double knee : {1.0, 1e-30, 1e30, 1e-300, 1e300, 3e-41}) {
            FrameTask task = task_of(predictor, dims, dtype_of<T>, knee * share);
            task.mode = mode;
            task.share = share;
            INFO(name_of(predictor)
                 << ' ' << name_of(dtype_of<T>) << " mode " << static_cast<int>(mode) << " share "
                 << share << " knee " << knee << " seed " << seed);
            const CompressedFrame frame = check_frame(*backend, task, bytes_of(values));
            const auto& transform = frame.header.transform;
            coded += transform && name_of(transform->params) != LogTransform::name ? 1 : 0;
          }
        }
      }
    }
  }
  return coded;
}

/// Values of which some are missing, some look like fill values and some lie near isovalues.
std::vector<double> values_with_gaps(const Dims& dims) {
  std::vector<double> values = wide_values<double>(dims.count(), Signs::mixed, 5);
  Random random(5);
  for (double& value : values) {
    if (random.one_in(40)) value = random.pick({1e20, std::nan(""), HUGE_VAL, -HUGE_VAL});
    if (random.one_in(9)) value = random.uniform() - 0.3;
  }
  return values;
}

}  // namespace

TEST_CASE("no value is further from its original than the larger or smaller of two bounds",
          "[unsanitized]") {
  const Dims dims{9, 20, 25};
  CHECK(check_two_bounds<float>(dims, 6) > 60);
  CHECK(check_two_bounds<double>(dims, 7) > 90);
}

TEST_CASE("two bounds are kept beside fill values, missing values and isovalues") {
  const auto backend = cpu::make_backend();
  const Dims dims = sanitized ? Dims{10, 11, 32} : Dims{30, 31, 32};
  const std::vector<double> values = values_with_gaps(dims);
  for (const PredictorId predictor : predictors) {
    for (const ErrorMode mode :
         {ErrorMode::absolute_or_pointwise, ErrorMode::absolute_and_pointwise}) {
      FrameTask task = task_of(predictor, dims, DType::f64, 1e-3);
      task.mode = mode;
      task.share = 1e-2;
      for (const double fill : {1e20, 0.25, 0.125}) task.fills.add(fill);
      for (const double isovalue : {0.0, 0.1, -0.2}) task.config.isovalues.add(isovalue);
      INFO(name_of(predictor) << " mode " << static_cast<int>(mode));
      CHECK(check_frame_twice(*backend, task, bytes_of(values)).header.transform);
    }
  }
}

TEST_CASE("no value is further from its original than its share", "[unsanitized]") {
  const Dims dims{20, 30, 40};
  CHECK(check_shares<float>(dims, 1) > 30);
  CHECK(check_shares<double>(dims, 2) > 40);
}

TEST_CASE("no value of a row or a plane is further from its original than its share",
          "[unsanitized]") {
  CHECK(check_shares<float>(Dims{1999}, 3) > 20);
  CHECK(check_shares<double>(Dims{65, 33}, 4) > 20);
}

TEST_CASE("a share is kept beside fill values, missing values and isovalues") {
  const auto backend = cpu::make_backend();
  const Dims dims = sanitized ? Dims{10, 11, 32} : Dims{30, 31, 32};
  const std::vector<double> values = values_with_gaps(dims);
  for (const PredictorId predictor : predictors) {
    FrameTask task = task_of(predictor, dims, DType::f64, 1e-2);
    for (const double fill : {1e20, 0.25, 0.125}) task.fills.add(fill);
    for (const double isovalue : {0.0, 0.1, -0.2}) task.config.isovalues.add(isovalue);
    INFO(name_of(predictor));
    CHECK(check_frame_twice(*backend, task, bytes_of(values)).header.transform);
  }
}

TEST_CASE("few values that have no logarithm are in tiles, many in the mask", "[unsanitized]") {
  const auto backend = cpu::make_backend();
  const Dims dims{32, 32, 32};
  const std::uint64_t most = most_kept_in_tiles(dims.count());
  for (const std::uint64_t zeros : {std::uint64_t{0}, std::uint64_t{1}, most, most + 1}) {
    std::vector<float> values(dims.count());
    for (std::size_t i = 0; i < values.size(); ++i) {
      const double place = static_cast<double>(i);
      values[i] =
          static_cast<float>(std::sin(0.003 * place) * std::exp(3 * std::cos(0.02 * place)));
    }
    for (std::uint64_t i = 0; i < zeros; ++i) values[i * 4001] = 0;
    values[0] = zeros == 0 ? 1.0F : 0.0F;
    const FrameTask task = task_of(PredictorId::tiles, dims, DType::f32, 1e-3);
    INFO(zeros << " zeros");
    const FrameReport frame = check_frame_twice(*backend, task, bytes_of(values));
    REQUIRE(frame.header.transform);
    CHECK(frame.header.transform->kept == (zeros > most ? zeros : 0));
    CHECK(frame.header.missing == 0);
    CHECK(frame.patches >= (zeros > most ? 0 : zeros));
  }
}

}  // namespace cuszi::test

#include "core/choices/background.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/base/radix_sort.hpp"
#include "core/pipeline/pipeline.hpp"
#include "cpu_ref/session/cpu_backend.hpp"
#include "test_data/random.hpp"
#include "tests/support/bytes.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/check_frame.hpp"
#include "tests/support/sanitized.hpp"

namespace cuszi::test {

namespace {

constexpr double bound = 0.5;

/// `count` values far from each other, from `first` on.
std::vector<double> scattered(std::size_t count, double first) {
  std::vector<double> values;
  for (std::size_t i = 0; i < count; ++i) values.push_back(first + 10 * static_cast<double>(i));
  return values;
}

std::vector<double> with(std::vector<double> values, std::size_t count, double value) {
  values.insert(values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), count, value);
  return values;
}

Background background_of(std::vector<double> values, double within, DType dtype) {
  radix_sort(values);
  return find_background(std::move(values), within, dtype);
}

/// A noisy field of which all but a corner lies around `background`.
std::vector<float> quiet_field(const Dims& dims, float background, float noise) {
  Random random(3);
  std::vector<float> values(dims.count());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const bool is_loud = i % 64 < 12 && i < values.size() / 3;
    values[i] = background + noise * static_cast<float>(random.uniform() - 0.5) +
                (is_loud ? std::sin(static_cast<float>(i % 64) / 4) : 0.0F);
  }
  return values;
}

struct Result {
  MultilevelParams params;
  double mean_error;  ///< over the bound
  std::size_t exact;  ///< values that are as they were
};

/// The mean errors of an attempt's passes, in shares of the bound.
struct MeanErrors {
  double coarse;
  double fine;  ///< of all passes of level 1
};

/// Predicts a frame, one attempt after the other, with the mean errors that are given.
class ScriptedSession final : public EncodeSession {
 public:
  ScriptedSession(FrameSlot& slot, const Schedule& schedule, std::vector<MeanErrors> script,
                  std::vector<double> sample = std::vector<double>(100, 1.0))
      : EncodeSession(slot),
        schedule_(schedule),
        script_(std::move(script)),
        sample_(std::move(sample)) {}

  /// How far each attempt was predicted: the passes behind the last one.
  const std::vector<int>& predicted() const { return predicted_; }

  const FieldScan& scan() override { return scan_; }
  FrameMask mask() override { return {}; }
  std::vector<double> values_at(std::span<const std::uint64_t> points) override {
    std::vector<double> ones(points.size(), 1.0);
    return ones;
  }
  std::vector<double> sampled_values() override { return sample_; }
  MagnitudeRange sampled_magnitudes() override { return {}; }
  std::uint64_t count_bits(std::uint64_t /*bits*/) override { return 0; }
  DistinctValues distinct_values() override { return {}; }
  void transform(const TransformChoice& /*choice*/, const ValueBound& /*bound*/) override {}
  void keep_points(std::span<const std::uint64_t> /*points*/) override {}
  Bytes encode_signs() override { return {}; }
  std::unique_ptr<TrialSession> trials(const TrialPart& /*part*/) override { return nullptr; }
  std::vector<CodedPass> encode_values(const FrameCoding& /*coding*/) override { return {}; }
  void pack(Sections& /*sections*/) override {}

  std::unique_ptr<PassEncoder> passes(const FrameCoding& /*coding*/) override {
    class Encoder final : public PassEncoder {
     public:
      explicit Encoder(ScriptedSession& session)
          : session_(session), errors_(session.script_.at(session.predicted_.size())) {
        session_.predicted_.push_back(0);
      }
      void predict(PassRange passes) override {
        REQUIRE(passes.first == session_.predicted_.back());
        session_.predicted_.back() = passes.end;
      }
      std::int64_t error_sum() override {
        double sum = 0;
        for (int pass = 0; pass < session_.predicted_.back(); ++pass) {
          const Pass& some = session_.schedule_.passes[static_cast<std::size_t>(pass)];
          sum +=
              (some.level > 1 ? errors_.coarse : errors_.fine) * static_cast<double>(some.points);
        }
        return std::llround(sum * error_units);
      }
      void fit_contexts(PassRange /*passes*/) override {}
      void encode() override {}
      std::vector<CodedPass> finish() override { return {}; }

     private:
      ScriptedSession& session_;
      MeanErrors errors_;
    };
    return std::make_unique<Encoder>(*this);
  }

 private:
  const Schedule& schedule_;
  std::vector<MeanErrors> script_;
  std::vector<double> sample_;
  std::vector<int> predicted_;
  FieldScan scan_;
};

Result coded(const std::vector<float>& values, const Dims& dims, Effort effort) {
  FrameTask task;
  task.shape = {DType::f32, dims};
  task.config.predictor.id = PredictorId::multilevel;
  task.config.predictor.multilevel.effort = effort;
  task.config.coder = CoderId::ans;
  task.bound = 1e-2;
  const auto backend = cpu::make_backend();
  const BoundedFrame frame = compress(*backend, task, bytes_of(values));
  const auto restored = restore(*backend, task.shape, frame.frame.bytes);
  Result result{std::get<MultilevelParams>(frame.frame.header.predictor.value()), 0, 0};
  for (std::size_t i = 0; i < values.size(); ++i) {
    float value = 0;
    std::memcpy(&value, restored.data() + i * sizeof value, sizeof value);
    result.mean_error += static_cast<double>(value) - static_cast<double>(values[i]);
    if (value == values[i]) ++result.exact;
  }
  result.mean_error /= static_cast<double>(values.size()) * frame.bound.bound;
  return result;
}

}  // namespace

TEST_CASE("a field has few values if others than the frequent one come often") {
  const auto levels = [](std::size_t count, std::size_t each) {
    std::vector<double> values;
    for (std::size_t i = 0; i < count * each; ++i) values.push_back(static_cast<double>(i / each));
    return values;
  };
  const auto has_few = [](const std::vector<double>& values) {
    return background_of(values, bound, DType::f32).has_few_values;
  };
  CHECK(has_few(levels(20, 20)));
  CHECK_FALSE(has_few(levels(20, 15)));
  CHECK(has_few(with(levels(20, 20), 2000, 7)));
  CHECK_FALSE(has_few(with(levels(20, 20), 4000, 7)));  // too few others to tell
  CHECK_FALSE(has_few(scattered(1000, 0)));
  CHECK_FALSE(has_few(std::vector<double>(1000, 1)));
  CHECK_FALSE(has_few({}));
}

TEST_CASE("values are sorted by their digits") {
  Random random(11);
  std::vector<double> values{0.0, -1.0, 5e-324, -5e-324, 1.7e308, -1.7e308, 2.0, 2.0};
  for (int i = 0; i < 3000; ++i) {
    values.push_back(std::ldexp(random.uniform() - 0.5, static_cast<int>(i % 400) - 200));
  }
  std::vector<double> floats(values.size());
  std::transform(values.begin(), values.end(), floats.begin(),
                 [](double value) { return std::clamp(value, -1e30, 1e30); });
  for (double& value : floats) value = static_cast<double>(static_cast<float>(value));
  for (std::vector<double>* const all : {&values, &floats}) {
    std::vector<double> expected = *all;
    std::sort(expected.begin(), expected.end());
    radix_sort(*all);
    CHECK(*all == expected);
  }
  std::vector<double> none;
  radix_sort(none);
  CHECK(none.empty());
}

TEST_CASE("a value that a twentieth of the field has is where it rests") {
  const Background background = background_of(with(scattered(95, 3), 5, 0.1), bound, DType::f32);
  CHECK(background.is_exact);
  CHECK(background.value == 0.1);
  CHECK_FALSE(background.is_common);
  CHECK_FALSE(background_of(with(scattered(96, 3), 4, 0.1), bound, DType::f32).is_exact);
}

TEST_CASE("of values that are as frequent the lowest counts") {
  const Background background =
      background_of(with(with(scattered(20, 3), 10, 7.5), 10, -7.5), bound, DType::f32);
  CHECK(background.frequent == -7.5);
  CHECK(background.is_common);
}

TEST_CASE("a frequent value far from where most lie is not where the field rests") {
  std::vector<double> values = with(scattered(10, 1000), 20, -50);
  for (int i = 0; i < 100; ++i) values.push_back(5 + 0.005 * i);
  const Background background = background_of(values, bound, DType::f32);
  CHECK_FALSE(background.is_exact);
  CHECK(background.frequent == -50);
  CHECK(std::abs(background.value - 5.2475) < 1e-3);
  CHECK(static_cast<double>(static_cast<float>(background.value)) == background.value);
}

TEST_CASE("no sample rests at 0") {
  CHECK(background_of({}, bound, DType::f32).value == 0);
  CHECK_FALSE(std::signbit(background_of({-0.0, -0.0, -0.0}, bound, DType::f32).value));
}

TEST_CASE("a field rests where values are, however coarse floats are there") {
  Random random(7);
  for (const double fine : {1e-5, 1e-3, 1.0}) {
    std::vector<double> values(2000);
    for (double& value : values) value = 61870 + 20 * fine * (random.uniform() - 0.5);
    const Background background = background_of(values, fine, DType::f64);
    INFO("bound " << fine);
    CHECK(background.share > 0.05);
    CHECK(std::abs(background.value - 61870) < 12 * fine);
    const bool is_float =
        static_cast<double>(static_cast<float>(background.value)) == background.value;
    CHECK(is_float == (fine == 1.0));
  }
}

TEST_CASE("frames around an offset with a bound finer than floats are can be read",
          "[unsanitized]") {
  const auto backend = cpu::make_backend();
  FrameTask task;
  task.config.predictor.id = PredictorId::multilevel;
  task.config.predictor.automatic = true;
  task.config.coder = CoderId::ans;
  task.mode = ErrorMode::absolute;
  task.bound = 1e-5;
  for (const Dims& dims : {Dims{500}, Dims{20, 30}, Dims{9, 10, 11}}) {
    task.shape = {DType::f64, dims};
    for (std::uint64_t seed = 0; seed < 100 / (sanitized ? 8 : 1); ++seed) {
      Random random(seed);
      std::vector<double> values(dims.count());
      const double offset = 61870 + random.uniform();
      for (double& value : values) value = offset + 2e-4 * (2 * random.uniform() - 1);
      INFO(dims.to_string() << " seed " << seed);
      check_frame(*backend, task, bytes_of(values));
    }
  }
}

TEST_CASE("where no value is near enough to inherit a shift, none is tried") {
  const Dims dims{64, 64, 64};
  FrameCoding coding;
  MultilevelParams params;
  params.lattice = Lattice::of(dims, false, Roles{});
  const Schedule schedule = make_schedule(params.lattice);
  coding.predictor = params;
  coding.tolerance.bound = 1e-3;  // floats near 1e5 are 1/128 apart
  std::vector<double> sample;
  for (int i = 0; i < 100; ++i) sample.push_back(100000.003 + 1e-5 * i);
  FrameSlot slot;
  ScriptedSession session(slot, schedule, std::vector<MeanErrors>(6, {0, 0.5}), sample);
  predict_unbiased(session, coding, {0, static_cast<int>(schedule.passes.size())},
                   {DType::f32, dims});
  CHECK(session.predicted().size() == 6);  // none, four snaps, the best of these again
}

TEST_CASE("a common value is put on the grid, without a larger step") {
  Background background;
  background.frequent = -271.35;
  CHECK(half_step_for_grid(background, 1e-3) == 1e-3);
  background.is_common = true;
  for (const double wanted : {1e-3, 0.7e-2, 0.3}) {
    const double half_step = half_step_for_grid(background, wanted);
    CHECK(half_step <= wanted);
    CHECK(half_step > 0.98 * wanted);
    const double steps = background.frequent / (2 * half_step);
    CHECK(std::abs(steps - std::round(steps)) < 1e-6);
  }
  CHECK(half_step_for_grid(background, 100) == 100);
  CHECK(half_step_for_grid(background, 1e-9) == 1e-9);
}

TEST_CASE("a grid that would give errors a direction is made finer") {
  Background background;
  for (int i = 1; i <= 50; ++i)
    background.sample.push_back(1000 * i + 0.3);  // 0.3 from multiples of 1
  const double half_step = half_step_for_grid(background, 0.5);
  CHECK(half_step < 0.5);
  CHECK(half_step > 0.45);
  double sum = 0;
  for (const double x : background.sample)
    sum += std::nearbyint(x / (2 * half_step)) * 2 * half_step - x;
  CHECK(std::abs(sum) / 50 <= most_bias / 2 * half_step * 1.01);
}

TEST_CASE("most values come back exactly where most are the same") {
  const Dims dims{20, 40, 64};
  const Result result = coded(quiet_field(dims, 0.37F, 0), dims, Effort::fast);
  CHECK(result.params.background == static_cast<double>(0.37F));
  CHECK(result.params.snap == 8);
  CHECK(result.exact > dims.count() * 9 / 10);
}

TEST_CASE("errors are unbiased where most values lie within the bound", "[unsanitized]") {
  const Dims dims{20, 40, 64};
  int snapping = 0;
  for (const float background : {0.0F, 0.301F, -0.333F, 0.497F, 1.013F}) {
    for (const float noise : {0.002F, 0.01F}) {
      if (sanitized && background != 0.301F) continue;
      const Result result = coded(quiet_field(dims, background, noise), dims, Effort::fast);
      INFO("background " << background << " noise " << noise);
      CHECK(std::abs(result.mean_error) <= 0.05);
      if (result.params.snap != 0) ++snapping;
    }
  }
  CHECK(snapping > 0);
}

TEST_CASE("what rounding adds to a mean error leaves it within a twentieth") {
  for (int i = -10'000; i <= 10'000; ++i) {
    const double share = i / 10'000.0;
    const auto units = error_in_units(1, 1 + share * bound, error_units / bound);
    REQUIRE(std::abs(static_cast<double>(units) / error_units - share) <= 0.05 - most_bias);
  }
}

TEST_CASE("errors are counted under bounds next to nothing too") {
  for (const double smallest : {1e-290, 1e-304, 1e-307}) {
    const double units = error_units_per_one(smallest);
    CHECK(error_in_units(3e-300, 3e-300, units) == 0);
    const auto whole = error_in_units(0, smallest, units);
    CHECK(whole > 0);
    CHECK(static_cast<double>(whole) <= error_units);
  }
}

TEST_CASE("an attempt that will not be even goes no further") {
  const Dims dims{64, 64, 64};
  FrameCoding coding;
  MultilevelParams params;
  params.lattice = Lattice::of(dims, false, Roles{});
  const Schedule schedule = make_schedule(params.lattice);
  coding.predictor = params;
  coding.tolerance.bound = bound;
  const auto all = static_cast<int>(schedule.passes.size());
  const auto coarse = static_cast<int>(schedule.coarse_passes());
  const int finer = coarse + 1;
  constexpr double far = 2.1 * most_bias;
  constexpr double near = 1.9 * most_bias;
  FrameSlot slot;

  // The sample is one value, so that only the last snap is tried with a shift, too.
  const auto attempts = [&](std::vector<MeanErrors> script) {
    coding.predictor = params;
    ScriptedSession session(slot, schedule, std::move(script));
    predict_unbiased(session, coding, {0, all}, {DType::f32, dims});
    return session.predicted();
  };
  const auto snap = [&] { return int{std::get<MultilevelParams>(coding.predictor).snap}; };
  CHECK(attempts({{near, 0.01}}) == std::vector{all});
  CHECK(attempts({{far, 0.01}, {near, 0.01}}) == std::vector{coarse, all});
  CHECK(snap() == 4);
  CHECK(attempts({{0, 0.5}, {far, 0}, {-far, 0}, {near, 0.01}}) ==
        std::vector{all, coarse, coarse, all});
  CHECK(snap() == 12);
  CHECK(attempts({{0, 0.5}, {near, 0.2}, {near, 0.047}, {near, 0}}) ==
        std::vector{all, finer, all, all});
  CHECK(snap() == 12);
  CHECK(attempts({{0, 0.5}, {0, 0.2}, {far, 0}, {far, 0}, {far, 0}, {far, 0}, {far, 0.1}}) ==
        std::vector{all, finer, coarse, coarse, coarse, coarse, all});
  CHECK(snap() == 8);

  // Shifts that lean to different sides are narrowed down.
  const std::vector<MeanErrors> sides{{0, 0.5}, {far, 0},  {far, 0}, {far, 0},
                                      {far, 0}, {-far, 0}, {far, 0}, {-far, 0}};
  const auto background = [&] { return std::get<MultilevelParams>(coding.predictor).background; };
  std::vector<int> predicted(8, coarse);
  predicted.front() = all;
  predicted.push_back(all);
  auto even_at_last = sides;
  even_at_last.push_back({near, 0.01});
  CHECK(attempts(even_at_last) == predicted);
  CHECK(snap() == 16);
  CHECK(std::abs(background() - (1 - far * bound * 5 / 8)) < 1e-6);
  auto never_even = sides;
  never_even.insert(never_even.end(), {{far, 0}, {0, 0.5}});
  predicted.back() = coarse;
  predicted.push_back(all);
  CHECK(attempts(never_even) == predicted);
}

}  // namespace cuszi::test

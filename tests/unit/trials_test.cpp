#include "core/choices/trials.hpp"

#include <algorithm>
#include <cstdlib>
#include <variant>
#include <vector>

#include "codec/archive/archive_reader.hpp"
#include "core/archive/frame_plan.hpp"
#include "core/backend/backend.hpp"
#include "cpu_ref/coders/ans.hpp"
#include "cpu_ref/session/cpu_backend.hpp"
#include "test_data/fields.hpp"
#include "test_data/random.hpp"
#include "tests/support/archive_codec.hpp"
#include "tests/support/bytes.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/sanitized.hpp"

namespace cuszi::test {

namespace {

const Dims frame_dims{40, 50, 60};

/// One frame of a field, for which choices are made again and again.
class Chooser {
 public:
  explicit Chooser(FieldKind kind)
      : values_(make_field(kind, frame_dims, DType::f32, 1)),
        backend_(cpu::make_backend()),
        session_(backend_->encode({DType::f32, frame_dims}, values_, {}, draft({}), {})) {}

  ChosenMethod choose(const FrameConfig& config, const ChosenMethod* first = nullptr) {
    const FieldScan scan = session_->scan();
    const double bound = 1e-3 * (scan.max - scan.min);
    Method method{draft(config), config.coder};
    std::visit([&](auto& p) { p.choose(config.predictor, scan, bound, DType::f32); },
               method.predictor);
    return choose_method(*session_, std::move(method), config, {DType::f32, frame_dims}, bound,
                         first);
  }

 private:
  static PredictorParams draft(FrameConfig config) {
    config.predictor.id = PredictorId::multilevel;
    return draft_predictor(config, frame_dims);
  }

  std::vector<std::byte> values_;
  std::unique_ptr<Backend> backend_;
  std::unique_ptr<EncodeSession> session_;
};

FrameConfig by_context_coder() {
  FrameConfig config;
  config.predictor.id = PredictorId::multilevel;
  config.coder = CoderId::ans;
  return config;
}

const MultilevelParams& multilevel_of(const ChosenMethod& chosen) {
  return std::get<MultilevelParams>(chosen.method.predictor);
}

}  // namespace

TEST_CASE("what was chosen for the first frame is chosen where it costs about as much",
          "[unsanitized]") {
  Chooser chooser(FieldKind::smooth);
  const FrameConfig config = by_context_coder();
  const ChosenMethod own = chooser.choose(config);
  FrameConfig short_reach = config;
  short_reach.predictor.multilevel.reach = 3;
  short_reach.predictor.multilevel.alpha = 1;
  ChosenMethod first = chooser.choose(short_reach);
  REQUIRE(multilevel_of(own).reach != 3);
  REQUIRE(first.cost);

  const ChosenMethod again = chooser.choose(config, &first);
  CHECK(multilevel_of(again) == multilevel_of(first));
  REQUIRE(again.cost);
  CHECK(again.cost->cost == first.cost->cost);
  if (sanitized) return;  // the same again

  const auto is_own = [&](const ChosenMethod& chosen) {
    return multilevel_of(chosen) == multilevel_of(own);
  };
  const Cost cost = first.cost->cost;
  for (const Cost far : {cost * 4 / 9, cost * 9 / 4}) {
    first.cost->cost = far;
    CHECK(is_own(chooser.choose(config, &first)));
  }
  for (const Cost near : {cost * 5 / 9, cost * 9 / 5}) {
    first.cost->cost = near;
    CHECK_FALSE(is_own(chooser.choose(config, &first)));
  }
  // Twice the points for twice the bits are as many a point.
  first.cost = SampledCost{2 * cost, *Dims::make(std::vector<std::uint64_t>{80, 50, 60})};
  CHECK_FALSE(is_own(chooser.choose(config, &first)));
  first.cost = SampledCost{cost, *Dims::make(std::vector<std::uint64_t>{2000, 60})};
  CHECK(is_own(chooser.choose(config, &first)));
  first.cost.reset();
  CHECK(is_own(chooser.choose(config, &first)));
}

TEST_CASE("the least effort does not look at the first frame", "[unsanitized]") {
  Chooser chooser(FieldKind::smooth);
  FrameConfig config = by_context_coder();
  config.predictor.multilevel.reach = 3;
  const ChosenMethod first = chooser.choose(config);
  config.predictor.multilevel.reach.reset();
  config.predictor.multilevel.effort = Effort::fast;
  CHECK(multilevel_of(chooser.choose(config, &first)) == multilevel_of(chooser.choose(config)));
}

TEST_CASE("the least effort tries what the usual one does where values are few", "[unsanitized]") {
  FrameConfig usual = by_context_coder();
  usual.predictor.automatic = true;
  FrameConfig least = usual;
  least.predictor.multilevel.effort = Effort::fast;
  Chooser few(FieldKind::steps);
  CHECK(few.choose(least).method.predictor == few.choose(usual).method.predictor);
  Chooser many(FieldKind::ramp);
  CHECK(std::holds_alternative<MultilevelParams>(many.choose(least).method.predictor));
}

TEST_CASE("after a first frame by Lorenzo trials are made again", "[unsanitized]") {
  FrameConfig config = by_context_coder();
  config.predictor.automatic = true;
  Chooser chooser(FieldKind::smooth);
  const ChosenMethod own = chooser.choose(config);
  ChosenMethod first = own;
  first.method.predictor = LorenzoParams::draft({}, frame_dims.as_3d());
  CHECK(multilevel_of(chooser.choose(config, &first)) == multilevel_of(own));
}

TEST_CASE("frames that are alike are coded as the first of them", "[unsanitized]") {
  const Dims field{256, 40, 40};
  const auto values = make_field(FieldKind::smooth, field, DType::f32, 1);
  FrameTask task;
  task.config = by_context_coder();
  const auto backend = cpu::make_backend();
  const FieldCuts plan = plan_frames(field, DType::f32, ByteCount{1} << 18);
  REQUIRE(plan.frames() > 2);
  const auto archive = make_archive(*backend, plan, DType::f32, values, settings_of(task));
  MemorySource source(archive);
  ArchiveReader reader(source);
  const MultilevelParams* first = nullptr;
  std::vector<ArchiveFrame> frames;
  for (std::uint64_t i = 0; i < plan.frames(); ++i) frames.push_back(reader.next_frame());
  for (const ArchiveFrame& frame : frames) {
    const auto& params = std::get<MultilevelParams>(frame.header.predictor.value());
    if (first == nullptr) first = &params;
    CHECK(params.reach == first->reach);
    CHECK(params.lattice.roles == first->lattice.roles);
    CHECK(params.alpha == first->alpha);
    CHECK(params.beta == first->beta);
  }
}

}  // namespace cuszi::test

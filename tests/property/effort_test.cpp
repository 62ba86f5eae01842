#include <vector>

#include "codec/archive/archive_reader.hpp"
#include "codec/settings/presets.hpp"
#include "cpu_ref/session/cpu_backend.hpp"
#include "test_data/fields.hpp"
#include "tests/property/random_frame.hpp"
#include "tests/support/archive_codec.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/check_frame.hpp"

namespace cuszi::test {

TEST_CASE("the best effort never makes a larger frame than normal effort") {
  const auto cpu = cpu::make_backend();
  Random random(15);
  int smaller = 0;
  for (int i = 0; i < (sanitized ? 20 : 120); ++i) {
    RandomFrame frame = random_frame(random, 500, 20'000);
    FrameConfig& config = frame.task.config;
    apply(ratio_preset, config);
    config.predictor.automatic = !frame.task.places.any();  // as the tool's settings
    config.predictor.multilevel = {};
    INFO(frame.to_string());
    const auto values = frame.values();
    const auto size_with = [&](Effort effort) {
      config.predictor.multilevel.effort = effort;
      return check_frame(*cpu, frame.task, values).bytes.size();
    };
    const auto normal = size_with(Effort::normal);
    const auto best = size_with(Effort::best);
    CHECK(best <= normal);
    smaller += best < normal ? 1 : 0;
  }
  CHECK(smaller > (sanitized ? 1 : 15));
}

TEST_CASE("no frame of a field is larger with the best effort than with normal effort") {
  const Dims dims{64, 24, 24};
  const FieldCuts cuts{dims, 0, 16};
  const auto values = make_field(FieldKind::rough, dims, DType::f32, 5);
  FrameTask task;
  task.shape = {DType::f32, dims};
  apply(ratio_preset, task.config);
  const auto sizes_with = [&](Effort effort) {
    task.config.predictor.multilevel.effort = effort;
    const auto archive =
        make_archive(*cpu::make_backend(), cuts, DType::f32, values, settings_of(task));
    MemorySource source(archive);
    ArchiveReader reader(source);
    std::vector<ByteCount> sizes;
    for (std::uint64_t i = 0; i < cuts.frames(); ++i) sizes.push_back(reader.frame(i).size());
    return sizes;
  };
  const auto normal = sizes_with(Effort::normal);
  const auto best = sizes_with(Effort::best);
  REQUIRE(best.size() == normal.size());
  for (std::size_t i = 0; i < normal.size(); ++i) CHECK(best[i] <= normal[i]);
}

}  // namespace cuszi::test

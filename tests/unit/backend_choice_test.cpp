// Where the work of a call goes: the weighing, and what Backends make of it.
#include "codec/frames/backend_choice.hpp"

#include "cpu_ref/base/thread_count.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/fake_device.hpp"

namespace cuszi::test {

namespace {

constexpr ByteCount mb = 1'000'000;
constexpr DeviceChoice automatic{};

Workload compression(ByteCount bytes, PredictorId method) {
  FrameConfig config;
  config.predictor.id = method;
  Workload work;
  work.add_compression(bytes, config);
  return work;
}

Workload restoration(ByteCount bytes, PredictorId method) {
  Workload work;
  work.add_restoration(bytes, method);
  return work;
}

bool prefers_device(const Workload& work, int threads, double start = device_start_seconds) {
  return weigh(automatic, work, threads, start).prefers_device;
}

}  // namespace

TEST_CASE("an automatic choice starts a device for work that takes the CPU longer") {
  struct Threshold {
    Workload (*work_of)(ByteCount bytes, PredictorId method);
    PredictorId method;
    int threads;
    ByteCount bytes;
  };
  const auto compressing = [](ByteCount bytes, PredictorId method) {
    return compression(bytes, method);
  };
  for (const Threshold& at : {Threshold{compressing, PredictorId::multilevel, 1, 36 * mb},
                              Threshold{compressing, PredictorId::multilevel, 2, 74 * mb},
                              Threshold{compressing, PredictorId::multilevel, 8, 319 * mb},
                              Threshold{compressing, PredictorId::multilevel, 16, 319 * mb},
                              Threshold{compressing, PredictorId::cells, 2, 326 * mb},
                              Threshold{compressing, PredictorId::tiles, 8, 5333 * mb},
                              Threshold{compressing, PredictorId::interp, 1, 115 * mb},
                              Threshold{restoration, PredictorId::multilevel, 1, 55 * mb},
                              Threshold{restoration, PredictorId::lorenzo, 1, 135 * mb},
                              Threshold{restoration, PredictorId::zfp, 4, 623 * mb}}) {
    INFO("method " << static_cast<int>(at.method) << ", " << at.threads << " threads");
    CHECK_FALSE(prefers_device(at.work_of(at.bytes * 98 / 100, at.method), at.threads));
    CHECK(prefers_device(at.work_of(at.bytes * 102 / 100, at.method), at.threads));
  }
}

TEST_CASE("a started device takes all work of an automatic choice") {
  for (const PredictorId method : {PredictorId::multilevel, PredictorId::tiles}) {
    CHECK(prefers_device(compression(1, method), 64, 0));
    CHECK(prefers_device(restoration(100 * mb, method), 64, 0));
  }
}

TEST_CASE("all the work of a call counts") {
  Workload work = compression(25 * mb, PredictorId::multilevel);
  CHECK_FALSE(prefers_device(work, 1));
  work.add(compression(25 * mb, PredictorId::multilevel));
  CHECK(work.bytes == 50 * mb);
  CHECK(prefers_device(work, 1));
}

TEST_CASE("work that is not weighed goes to a device") {
  FrameConfig packed;
  packed.lossless = Lossless::bitcomp;
  Workload work = compression(1, PredictorId::tiles);
  work.add_compression(1, packed);
  for (const Workload& each : {work, Workload::of_unknown_size(), Workload::in_device_memory()}) {
    CHECK_FALSE(each.needs_device.empty());
    const Weighing weighing = weigh(automatic, each, 64, device_start_seconds);
    CHECK(weighing.prefers_device);
    CHECK_FALSE(weighing.seconds);
  }
}

TEST_CASE("an explicit choice is not weighed") {
  for (const ByteCount bytes : {ByteCount{1}, 100'000 * mb}) {
    for (const double start : {0.0, device_start_seconds}) {
      const Workload work = compression(bytes, PredictorId::multilevel);
      CHECK(weigh({DeviceChoice::Kind::cuda}, work, 8, start).prefers_device);
      CHECK_FALSE(weigh({DeviceChoice::Kind::cpu}, work, 8, start).prefers_device);
    }
  }
  CHECK_FALSE(weigh({DeviceChoice::Kind::cpu}, Workload::in_device_memory(), 8, 0).prefers_device);
}

TEST_CASE("what small calls lose counts towards the start of a device") {
  const ThreadsScope one_thread(1);
  const Workload work = compression(10 * mb, PredictorId::multilevel);  // 0.08 s
  int calls = 0;
  while (calls < 10 && !weigh(automatic, work).prefers_device) ++calls;
  CHECK(calls >= 2);
  CHECK(calls <= 4);
}

TEST_CASE("backends keep a device while calls prefer the CPU") {
  Backends backends(std::make_unique<FakeDevice>());
  Backend* const device = backends.device();
  REQUIRE(device != nullptr);
  backends.prefer_device(false);
  CHECK(backends.device() == nullptr);
  CHECK(backends.for_frames().transfer() == nullptr);
  CHECK(backends.last_name() == "cpu");
  backends.prefer_device(true);
  CHECK(backends.device() == device);
}

}  // namespace cuszi::test

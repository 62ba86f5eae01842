#include "cpu_ref/base/thread_count.hpp"
#include "cpu_ref/session/cpu_backend.hpp"
#include "tests/property/random_frame.hpp"
#include "tests/support/catch.hpp"

namespace cuszi::test {

namespace {

struct Outcome {
  std::vector<std::byte> archive;
  std::vector<std::byte> restored;
};

Outcome run_with(int threads, const RandomFrame& frame) {
  const ThreadsScope scope(threads);
  const auto backend = cpu::make_backend();
  Outcome outcome;
  outcome.archive = compress(*backend, frame.task, frame.values()).frame.bytes;
  outcome.restored = restore(*backend, frame.task.shape, outcome.archive);
  return outcome;
}

}  // namespace

TEST_CASE("the number of threads does not show in archives or restored values") {
  Random random(1);
  for (int i = 0; i < 60; ++i) {
    const bool several_tasks = i % 6 == 0;
    const RandomFrame frame = several_tasks ? random_frame(random, 300'000, 600'000)
                                            : random_frame(random, 2'000, 40'000);
    INFO(frame.to_string());
    const Outcome serial = run_with(1, frame);
    for (const int threads : {2, 16}) {
      const Outcome parallel = run_with(threads, frame);
      REQUIRE(parallel.archive == serial.archive);
      REQUIRE(parallel.restored == serial.restored);
    }
  }
}

}  // namespace cuszi::test

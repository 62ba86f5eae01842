#include <atomic>
#include <chrono>
#include <vector>

#include "codec/io/background.hpp"
#include "tests/support/catch.hpp"

namespace cuszi::test {

TEST_CASE("calls of a queue are made in order by one other thread", "[call_queue]") {
  std::vector<int> order;
  std::vector<std::thread::id> threads;
  CallQueue queue;
  queue.wait();
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 200; ++i) {
      queue.add([&, number = 200 * round + i] {
        order.push_back(number);
        threads.push_back(std::this_thread::get_id());
      });
    }
    queue.wait();
    CHECK(order.size() == 200 * (static_cast<std::size_t>(round) + 1));
  }
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (order[i] != static_cast<int>(i) || threads[i] != threads[0]) FAIL("call " << i);
  }
  CHECK(threads[0] != std::this_thread::get_id());
}

TEST_CASE("a queue's end waits for its calls", "[call_queue]") {
  std::atomic<int> done = 0;
  {
    CallQueue queue;
    for (int i = 0; i < 10; ++i) {
      queue.add([&done] {
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
        ++done;
      });
    }
  }
  CHECK(done == 10);
}

TEST_CASE("what a call of a queue holds is gone when the call is done", "[call_queue]") {
  CallQueue queue;
  const auto held = std::make_shared<int>(7);
  queue.add([held] {});
  queue.wait();
  CHECK(held.use_count() == 1);
}

}  // namespace cuszi::test

#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <deque>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

#include "cpu_ref/base/parallel.hpp"
#include "tests/support/catch.hpp"

namespace cuszi::test {

namespace {

/// The sum of the numbers below `count`, and the threads that found it.
std::uint64_t sum_below(std::uint64_t count, std::set<std::thread::id>* threads = nullptr) {
  std::uint64_t sum = 0;
  cpu::parallel_for(
      count, [] { return std::uint64_t{0}; },
      [](std::uint64_t& part, std::uint64_t i) { part += i; },
      [&](std::uint64_t part) {
        sum += part;
        if (threads != nullptr) threads->insert(std::this_thread::get_id());
      });
  return sum;
}

/// What `work` takes of all threads' time, in seconds.
template <class Work>
double cpu_seconds(const Work& work) {
  const auto now = [] {
    timespec time{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
  };
  const double before = now();
  work();
  return now() - before;
}

/// Each waits in a loop until all are there.
void four_threads_meet() {
  const ThreadsScope scope(4);
  std::atomic<int> inside = 0;
  cpu::parallel_for(4, [&](std::uint64_t) {
    ++inside;
    while (inside < 4) std::this_thread::yield();
  });
  CHECK(inside == 4);
}

}  // namespace

TEST_CASE("loops are done once and whole, by no more threads than are in use") {
  for (const int threads : {1, 2, 7, 1000}) {
    const ThreadsScope scope(threads);
    for (const std::uint64_t count : {0U, 1U, 2U, 3U, 100U, 10000U}) {
      std::set<std::thread::id> seen;
      CHECK(sum_below(count, &seen) == (count == 0 ? 0 : count * (count - 1) / 2));
      CHECK(seen.size() <= static_cast<std::size_t>(threads));
    }
  }
}

TEST_CASE("several threads take part in a loop that takes long") { four_threads_meet(); }

TEST_CASE("the first failure of a loop is thrown when all threads are done") {
  const ThreadsScope scope(4);
  std::atomic<int> inside = 0;
  const auto fail = [&](std::uint64_t i) {
    ++inside;
    std::this_thread::sleep_for(std::chrono::microseconds(50));
    --inside;
    if (i == 20) throw std::runtime_error("twenty");
  };
  CHECK_THROWS_AS(cpu::parallel_for(1000, fail), std::runtime_error);
  CHECK(inside == 0);
  CHECK(sum_below(1000) == 499500);
}

TEST_CASE("loops within loops and beside each other come to an end") {
  std::atomic<int> good = 0;
  std::vector<std::jthread> callers;
  for (int caller = 0; caller < 6; ++caller) {
    callers.emplace_back([&] {
      const ThreadsScope scope(3);
      for (int turn = 0; turn < 200; ++turn) {
        std::atomic<std::uint64_t> sum = 0;
        cpu::parallel_for(5, [&](std::uint64_t) { sum += sum_below(10); });
        if (sum == 5 * 45) ++good;
      }
    });
  }
  callers.clear();
  CHECK(good == 6 * 200);
}

TEST_CASE("threads sleep between loops") {
  const ThreadsScope scope(8);
  CHECK(sum_below(1000) == 499500);
  CHECK(cpu_seconds([] { std::this_thread::sleep_for(std::chrono::milliseconds(200)); }) < 0.02);
}

TEST_CASE("tasks run beside their caller and throw where they are awaited") {
  Task task;
  std::atomic<bool> is_awaited = false;
  task.start([&] {
    while (!is_awaited) std::this_thread::yield();
    throw std::runtime_error("late");
  });
  is_awaited = true;
  CHECK_THROWS_AS(task.wait(), std::runtime_error);
  CHECK_NOTHROW(task.wait());
}

TEST_CASE("tracks that wait for each other all run, whatever the number of threads in use") {
  constexpr std::size_t tracks = 40;
  for (int turn = 0; turn < 3; ++turn) {
    const ThreadsScope scope(2);
    std::atomic<std::size_t> inside = 0;
    std::atomic<int> good = 0;
    on_tracks(tracks, [&](std::size_t /*track*/) {
      ++inside;
      while (inside < tracks) std::this_thread::yield();
      if (threads_in_use() == 2 && sum_below(100) == 4950) ++good;
    });
    CHECK(good == tracks);
  }
  const auto fail = [](std::size_t track) {
    if (track == 1) throw std::runtime_error("track");
  };
  CHECK_THROWS_AS(on_tracks(3, fail), std::runtime_error);
}

TEST_CASE("loops have their threads while calls wait") {
  std::atomic<bool> is_done = false;
  std::deque<Task> waiting;
  for (int i = 0; i < 20; ++i) {
    waiting.emplace_back().start([&] {
      while (!is_done) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    });
  }
  four_threads_meet();
  is_done = true;
}

TEST_CASE("a forked child has loops of its own") {
  const ThreadsScope scope(4);
  CHECK(sum_below(1000) == 499500);
  const pid_t child = fork();
  if (child == 0) {
    alarm(30);  // ends a child that waits for threads of its parent's
    _exit(sum_below(1000) == 499500 ? 0 : 1);
  }
  int status = -1;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(status == 0);
  CHECK(sum_below(1000) == 499500);
}

}  // namespace cuszi::test

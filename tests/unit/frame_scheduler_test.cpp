#include "codec/frames/frame_scheduler.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <barrier>
#include <chrono>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

#include "codec/frames/track_times.hpp"
#include "tests/support/catch.hpp"

namespace cuszi::test {

namespace {

constexpr std::array track_counts{std::size_t{1}, std::size_t{2}, std::size_t{5}};

/// The numbers below `count`.
std::vector<std::uint64_t> numbers(std::uint64_t count) {
  std::vector<std::uint64_t> all(count);
  for (std::uint64_t i = 0; i < count; ++i) all[i] = i;
  return all;
}

void sleep_for_us(std::uint64_t count) {
  std::this_thread::sleep_for(std::chrono::microseconds(count));
}

}  // namespace

TEST_CASE("frames take each of their steps in their order") {
  for (const std::size_t count : track_counts) {
    for (const std::uint64_t frames : {0U, 1U, 2U, 60U}) {
      FrameScheduler tracks(count);
      std::array<std::vector<std::uint64_t>, 3> seen;
      std::atomic<std::size_t> in_work = 0;
      std::atomic<bool> too_many = false;
      tracks.run(frames, [&](const FrameTicket& ticket) {
        if (++in_work > count || ticket.track() >= count) too_many = true;
        ticket.in_order(FrameStep::start, [&] { seen[0].push_back(ticket.frame()); });
        sleep_for_us(ticket.frame() * 7919 % 300);
        // Not all of them take this one.
        if (ticket.frame() % 3 != 1) {
          ticket.in_order(FrameStep::place, [&] { seen[1].push_back(ticket.frame()); });
        }
        sleep_for_us(ticket.frame() * 104729 % 300);
        ticket.in_order(FrameStep::end, [&] {
          seen[2].push_back(ticket.frame());
          if (!ticket.is_first()) too_many = true;
        });
        --in_work;
      });
      CHECK_FALSE(too_many);
      CHECK(seen[0] == numbers(frames));
      CHECK(seen[2] == numbers(frames));
      CHECK(std::ranges::is_sorted(seen[1]));
      CHECK(seen[1].size() == frames - (frames + 1) / 3);
    }
  }
}

TEST_CASE("frames wait for the first one alone, whatever step it takes") {
  for (const std::size_t count : track_counts) {
    for (const FrameStep taken : {FrameStep::choose, FrameStep::place, FrameStep::end}) {
      FrameScheduler tracks(count);
      std::atomic<int> chosen = 0;
      std::atomic<bool> too_early = false;
      tracks.run(12, [&](const FrameTicket& ticket) {
        if (ticket.frame() != 0) {
          ticket.await_first(FrameStep::choose);
          if (chosen == 0) too_early = true;
          sleep_for_us(12 - ticket.frame());
          return;
        }
        ticket.await_first(FrameStep::choose);  // nobody comes before it
        sleep_for_us(300);
        ticket.in_order(taken, [&] { ++chosen; });
      });
      CHECK(chosen == 1);
      CHECK_FALSE(too_early);
    }
  }
}

TEST_CASE("the first frame that fails is the one that is told of") {
  for (const std::size_t count : track_counts) {
    FrameScheduler tracks(count);
    std::vector<std::uint64_t> ended;
    std::atomic<bool> later_has_failed = count == 1;
    const auto run = [&] {
      tracks.run(20, [&](const FrameTicket& ticket) {
        if (ticket.frame() == 5) {
          later_has_failed = true;
          throw std::runtime_error("frame 5");
        }
        if (ticket.frame() == 4) {
          while (!later_has_failed) sleep_for_us(100);
          sleep_for_us(5000);
          throw std::runtime_error("frame 4");
        }
        ticket.in_order(FrameStep::end, [&] { ended.push_back(ticket.frame()); });
      });
    };
    CHECK_THROWS_WITH(run(), "frame 4");
    CHECK(ended == numbers(4));
  }
}

TEST_CASE("a step that fails lets no other frame go on") {
  FrameScheduler tracks(3);
  std::vector<std::uint64_t> placed;
  const auto run = [&] {
    tracks.run(10, [&](const FrameTicket& ticket) {
      ticket.in_order(FrameStep::place, [&] {
        if (ticket.frame() == 2) throw std::runtime_error("no place");
        placed.push_back(ticket.frame());
      });
    });
  };
  CHECK_THROWS_WITH(run(), "no place");
  CHECK(placed == numbers(2));
}

TEST_CASE("time of calls on several tracks counts once, steps add up") {
  constexpr std::size_t count = 2;
  constexpr double rest = 0.02;
  FrameScheduler tracks(count);
  CallTimes whole;
  std::vector<double> told;
  whole.steps().watch([&](double share) { told.push_back(share); });
  std::barrier all_in_calls(count);
  {
    TrackTimes times(whole, count);
    tracks.run(count, [&](const FrameTicket& ticket) {
      times.measure(ticket, [&](StepTimes& steps) {
        steps.measure("rest", [&] {
          all_in_calls.arrive_and_wait();
          std::this_thread::sleep_for(std::chrono::duration<double>(rest));
          if (ticket.frame() == 1) steps.tell(0.5);  // the first frame is in its call
          all_in_calls.arrive_and_wait();
        });
        if (ticket.frame() == 0) steps.tell(0.25);
      });
    });
  }
  REQUIRE(whole.steps().steps().size() == 1);
  const double sum = whole.steps().steps().front().seconds;
  CHECK(sum >= count * rest);
  CHECK(whole.seconds() >= rest);
  CHECK(whole.seconds() < sum);
  CHECK(told == std::vector{0.25});
}

TEST_CASE("buffers of frames in memory are never those of others") {
  for (std::size_t tracks = 1; tracks <= most_tracks; ++tracks) {
    std::set<std::size_t> numbers;
    for (const DeviceBuffer kind :
         {DeviceBuffer::field, DeviceBuffer::archive, DeviceBuffer::restored}) {
      for (std::size_t place = 0; place <= tracks; ++place) {
        numbers.insert(buffer_for(kind, place));
      }
    }
    CHECK(numbers.size() == 3 * (tracks + 1));
    CHECK(*numbers.rbegin() < first_kept_buffer);
  }
}

}  // namespace cuszi::test

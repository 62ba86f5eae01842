#include "app/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>

#include "app/standard_streams.hpp"

namespace cuszi::app {

namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds first_drawn{1000};
constexpr std::chrono::milliseconds interval{200};
constexpr std::uint64_t bar_width = 24;

}  // namespace

Progress::Progress(std::string what, std::uint64_t steps, bool wanted)
    : what_(std::move(what)), steps_(std::max<std::uint64_t>(steps, 1)) {
  if (!wanted || ::isatty(STDERR_FILENO) == 0) return;
  drawer_ = std::jthread([this](const std::stop_token& stop) { draw_until(stop); });
}

void Progress::draw_until(const std::stop_token& stop) {
  const Clock::time_point start = Clock::now();
  std::mutex mutex;
  std::condition_variable_any stopped;
  std::unique_lock lock(mutex);
  const auto wait = [&](std::chrono::milliseconds time) {
    stopped.wait_for(lock, stop, time, [] { return false; });
    return !stop.stop_requested();
  };
  if (!wait(first_drawn)) return;
  do {
    draw(std::chrono::duration<double>(Clock::now() - start).count());
  } while (wait(interval));
  print_error("\r\033[K");
}

void Progress::draw(double seconds) const {
  const std::uint64_t done = std::min<std::uint64_t>(done_, steps_);
  print_error(fmt::format("\r\033[K{} [{:<{}}] {}/{} frames, {:.0f} s", what_,
                          std::string(bar_width * done / steps_, '='), bar_width, done, steps_,
                          seconds));
}

}  // namespace cuszi::app

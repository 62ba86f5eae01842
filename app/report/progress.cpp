#include "app/report/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <system_error>

#include "app/cli/standard_streams.hpp"
#include "app/report/report.hpp"

namespace cuszi::app {

namespace {

constexpr std::chrono::milliseconds first_drawn{1000};
constexpr std::chrono::milliseconds interval{200};
constexpr std::size_t bar_width = 24;

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

std::string time_text(double seconds) {
  const auto whole = static_cast<std::uint64_t>(seconds);
  return whole < 60 ? fmt::format("{} s", whole)
                    : fmt::format("{}:{:02} min", whole / 60, whole % 60);
}

}  // namespace

Progress::Progress(std::string what, ByteCount bytes, bool wanted)
    : what_(std::move(what)), bytes_(bytes) {
  if (!wanted || ::isatty(STDERR_FILENO) == 0) return;
  try {
    drawer_ = std::jthread([this](const std::stop_token& stop) { draw_until(stop); });
  } catch (const std::system_error&) {
    // Out of threads: no progress.
  }
}

void Progress::start(const std::string& stage, ByteCount bytes) {
  const std::scoped_lock lock(mutex_);
  stage_ = stage;
  bytes_ = bytes;
  stage_start_ = Clock::now();
  done_ = 0;
  within_ = 0;
}

void Progress::draw_until(const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable_any stopped;
  std::unique_lock lock(mutex);
  const auto wait = [&](std::chrono::milliseconds time) {
    stopped.wait_for(lock, stop, time, [] { return false; });
    return !stop.stop_requested();
  };
  if (!wait(first_drawn)) return;
  do {
    print_error("\r\033[K" + line());
  } while (wait(interval));
  print_error("\r\033[K");
}

std::string Progress::line() {
  const std::scoped_lock lock(mutex_);
  return progress_text(stage_.empty() ? what_ : what_ + ", " + stage_, done_ + within_, bytes_,
                       seconds_since(start_), seconds_since(stage_start_));
}

std::string progress_text(const std::string& what, ByteCount done, ByteCount bytes, double seconds,
                          double stage_seconds) {
  if (bytes == 0) return fmt::format("{}, {}", what, time_text(seconds));
  const double share = std::min(1.0, static_cast<double>(done) / static_cast<double>(bytes));
  const auto filled = static_cast<std::size_t>(share * bar_width);
  std::string text = fmt::format("{} [{:<{}}] {:.0f} % of {}, {}", what, std::string(filled, '='),
                                 bar_width, 100 * share, bytes_text(bytes), time_text(seconds));
  if (share > 0 && share < 1) {
    text += ", about " + time_text(stage_seconds * (1 - share) / share) + " left";
  }
  return text;
}

}  // namespace cuszi::app

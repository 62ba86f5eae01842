#pragma once

#include <atomic>
#include <chrono>
#include <mutex>
#include <string>
#include <thread>

#include "core/base/units.hpp"

namespace cuszi::app {

/// A status line on stderr, if a terminal, for work of more than a second.
class Progress {
 public:
  /// Work on `bytes` of a field.
  Progress(std::string what, ByteCount bytes, bool wanted);

  void advance(ByteCount bytes) {
    done_ += bytes;
    within_ = 0;
  }

  /// Progress of the current part, until advance().
  void within(ByteCount bytes) { within_ = bytes; }

  /// Restarts for another stage.
  void start(const std::string& stage, ByteCount bytes);

 private:
  using Clock = std::chrono::steady_clock;

  void draw_until(const std::stop_token& stop);
  std::string line();

  std::mutex mutex_;  ///< guards start()
  std::string what_;
  std::string stage_;
  ByteCount bytes_;
  Clock::time_point stage_start_ = Clock::now();
  Clock::time_point start_ = Clock::now();
  std::atomic<ByteCount> done_ = 0;
  std::atomic<ByteCount> within_ = 0;
  std::jthread drawer_;  ///< last: uses the other members
};

/// Share done, time taken and left; only the former time if `bytes` is 0.
std::string progress_text(const std::string& what, ByteCount done, ByteCount bytes, double seconds,
                          double stage_seconds);

inline ByteCount part_of(double share, ByteCount bytes) {
  return static_cast<ByteCount>(share * static_cast<double>(bytes));
}

}  // namespace cuszi::app

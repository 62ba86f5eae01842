#pragma once

#include <atomic>
#include <chrono>
#include <mutex>
#include <string>
#include <thread>

#include "core/base/units.hpp"

namespace cuszi::app {

/// A line on stderr that tells how far a piece of work is and how long the rest may take, if that
/// is a terminal and the work takes more than a second. It disappears at the end.
class Progress {
 public:
  /// The work is on `bytes` of a field.
  Progress(std::string what, ByteCount bytes, bool wanted);

  void advance(ByteCount bytes) {
    done_ += bytes;
    within_ = 0;
  }

  /// Counts `bytes` of the part in work as done, until the next advance().
  void within(ByteCount bytes) { within_ = bytes; }

  /// Starts to count anew, for a stage of the work on `bytes`.
  void start(const std::string& stage, ByteCount bytes);

 private:
  using Clock = std::chrono::steady_clock;

  void draw_until(const std::stop_token& stop);
  std::string line();

  std::mutex mutex_;  ///< of what start() changes
  std::string what_;
  std::string stage_;
  ByteCount bytes_;
  Clock::time_point stage_start_ = Clock::now();
  Clock::time_point start_ = Clock::now();
  std::atomic<ByteCount> done_ = 0;
  std::atomic<ByteCount> within_ = 0;
  std::jthread drawer_;  ///< last, so that it ends before what it draws
};

/// One line that shows the share done, the time taken and the time left; only the time taken where
/// `bytes` is 0 (unknown).
std::string progress_text(const std::string& what, ByteCount done, ByteCount bytes, double seconds,
                          double stage_seconds);

/// A share, 0 to 1, of a number of bytes.
inline ByteCount part_of(double share, ByteCount bytes) {
  return static_cast<ByteCount>(share * static_cast<double>(bytes));
}

}  // namespace cuszi::app

#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>

namespace cuszi::app {

/// A line on stderr that tells how far a piece of work is, if that is a terminal and the work takes
/// more than a second. It disappears at the end.
class Progress {
 public:
  Progress(std::string what, std::uint64_t steps, bool wanted);

  void advance() { ++done_; }

 private:
  void draw_until(const std::stop_token& stop);
  void draw(double seconds) const;

  std::string what_;
  std::uint64_t steps_;
  std::atomic<std::uint64_t> done_ = 0;
  std::jthread drawer_;  ///< last, so that it ends before what it draws
};

}  // namespace cuszi::app

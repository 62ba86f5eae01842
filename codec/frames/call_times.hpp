#pragma once

#include <chrono>
#include <functional>
#include <utility>

#include "core/backend/steps.hpp"

namespace cuszi {

/// Measures the time since it was made.
class Stopwatch {
 public:
  double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

 private:
  using Clock = std::chrono::steady_clock;

  Clock::time_point start_ = Clock::now();
};

/// The time spent in calls of the library, whole and by its steps; reading and writing of files is
/// not in it, nor are the transfers between files and a device.
class CallTimes {
 public:
  /// `synchronize` is called at the end of each step, see StepTimes.
  explicit CallTimes(std::function<void()> synchronize = {}) : steps_(std::move(synchronize)) {}

  /// Runs `call`, which may add to steps(), and adds its time in all.
  template <class Call>
  decltype(auto) measure(Call&& call) {
    const Timer timer{seconds_, {}};
    return std::forward<Call>(call)();
  }

  /// Adds the time of calls that were measured otherwise.
  void add(double seconds) { seconds_ += seconds; }

  double seconds() const { return seconds_; }
  StepTimes& steps() { return steps_; }
  const StepTimes& steps() const { return steps_; }

 private:
  struct Timer {
    double& seconds;
    Stopwatch clock;

    ~Timer() { seconds += clock.seconds(); }
  };

  double seconds_ = 0;
  StepTimes steps_;
};

}  // namespace cuszi

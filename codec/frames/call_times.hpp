#pragma once

#include <chrono>
#include <functional>
#include <utility>

#include "core/backend/steps.hpp"

namespace cuszi {

class Stopwatch {
 public:
  double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

 private:
  using Clock = std::chrono::steady_clock;

  Clock::time_point start_ = Clock::now();
};

/// Time in calls, total and per step; excludes files and their transfers to devices.
class CallTimes {
 public:
  /// See StepTimes.
  explicit CallTimes(std::function<void()> synchronize = {}) : steps_(std::move(synchronize)) {}

  template <class Call>
  decltype(auto) measure(Call&& call) {
    const Timer timer{seconds_, {}};
    return std::forward<Call>(call)();
  }

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

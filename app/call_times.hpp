#pragma once

#include <chrono>
#include <utility>

#include "core/steps.hpp"

namespace cuszi::app {

/// The time spent in calls of the library, whole and by its steps; reading and writing of files is
/// not in it.
class CallTimes {
 public:
  /// Runs `call`, which may add to steps(), and adds its time in all.
  template <class Call>
  decltype(auto) measure(Call&& call) {
    const Timer timer{seconds_};
    return std::forward<Call>(call)();
  }

  double seconds() const { return seconds_; }
  StepTimes& steps() { return steps_; }
  const StepTimes& steps() const { return steps_; }

 private:
  using Clock = std::chrono::steady_clock;

  struct Timer {
    double& seconds;
    Clock::time_point start = Clock::now();

    ~Timer() { seconds += std::chrono::duration<double>(Clock::now() - start).count(); }
  };

  double seconds_ = 0;
  StepTimes steps_;
};

}  // namespace cuszi::app

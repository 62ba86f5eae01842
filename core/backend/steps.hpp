#pragma once

#include <chrono>
#include <functional>
#include <string_view>
#include <utility>
#include <vector>

namespace cuszi {

/// Seconds per step, in the order of first calls, and progress.
class StepTimes {
 public:
  struct Step {
    std::string_view name;
    double seconds;
  };

  /// `synchronize` is called after each step; without it, device time counts for the step that
  /// waits.
  explicit StepTimes(std::function<void()> synchronize = {})
      : synchronize_(std::move(synchronize)) {}

  /// `name` must be a string literal.
  template <class Work>
  decltype(auto) measure(std::string_view name, Work&& work) {
    const Timer timer{*this, name};
    return std::forward<Work>(work)();
  }

  const std::vector<Step>& steps() const { return steps_; }

  void add(const StepTimes& others) {
    for (const Step& step : others.steps_) add(step.name, step.seconds);
  }

  /// `watch` gets the finished share of a frame's work, on the working thread.
  void watch(std::function<void(double share)> watch) { watch_ = std::move(watch); }
  void tell(double share) const {
    if (watch_) watch_(share);
  }

 private:
  using Clock = std::chrono::steady_clock;

  struct Timer {
    StepTimes& times;
    std::string_view name;
    Clock::time_point start = Clock::now();

    ~Timer() {
      if (times.synchronize_) times.synchronize_();
      times.add(name, std::chrono::duration<double>(Clock::now() - start).count());
    }
  };

  void add(std::string_view name, double seconds) {
    for (Step& step : steps_) {
      if (step.name == name) {
        step.seconds += seconds;
        return;
      }
    }
    steps_.push_back({name, seconds});
  }

  std::function<void()> synchronize_;
  std::function<void(double)> watch_;
  std::vector<Step> steps_;
};

}  // namespace cuszi

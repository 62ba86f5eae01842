#pragma once

#include <cstddef>
#include <functional>
#include <optional>

#include "bindings/c/batch.hpp"
#include "bindings/c/context.hpp"
#include "codec/io/background.hpp"

namespace cuszi::api {

/// Asynchronous calls, run by a thread in order.
class PendingCalls {
 public:
  /// `finish` stores the status of `make` and always runs.
  void add(std::function<cuszi_status(cuszi_context&)> make,
           std::function<cuszi_status(cuszi_context&, cuszi_status)> finish);

  /// Waits for all calls.
  void wait() { queue_.wait(); }

  /// Waits; passes the first failure and warning since the last report to `context` and clears
  /// them. Numbers restart at 0.
  void report(cuszi_context& context);

 private:
  /// Records failure or warning.
  void note(std::size_t number);

  cuszi_context worker_{StreamOrder::of_caller};
  std::size_t count_ = 0;
  std::optional<FirstOfMany> failure_{std::in_place};
  std::optional<FirstOfMany> warning_{std::in_place};
  CallQueue queue_;  ///< last: its thread uses the other members
};

}  // namespace cuszi::api

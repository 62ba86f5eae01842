#pragma once

#include <cstddef>
#include <functional>
#include <optional>

#include "bindings/c/context.hpp"
#include "bindings/c/first_of_many.hpp"
#include "bindings/c/stream_calls.hpp"
#include "codec/io/call_queue.hpp"

namespace cuszi::api {

/// The calls of a context that return without waiting: a device makes them alone, in the order of
/// its streams, or a thread, with a context of its own, after those before.
class PendingCalls {
 public:
  /// `make` is a call of the context that it is given, `finish` another one that takes its status
  /// to where the caller wants it. Both return how they end, and `finish` is called in any case.
  void add(std::function<cuszi_status(cuszi_context&)> make,
           std::function<cuszi_status(cuszi_context&, cuszi_status)> finish);

  /// Gives a call to a device, if that needs no host: give(calls, number) says so.
  bool add_to_stream(void* stream,
                     const std::function<bool(StreamCalls& calls, std::uint32_t number)>& give);

  /// Returns when all calls are done, but for those that wait in captured graphs.
  void wait();

  /// Waits, tells `context` of the first call that has failed and of the first warning since this
  /// was last called, and forgets both. Calls are numbered from 0 on, in between.
  void report(cuszi_context& context);

 private:
  /// Notes what there is to tell of the worker's last call.
  void note(std::size_t number);

  cuszi_context worker_{StreamOrder::of_caller};
  std::size_t count_ = 0;
  StreamCalls stream_calls_;
  std::optional<FirstOfMany> failure_{std::in_place};
  std::optional<FirstOfMany> warning_{std::in_place};
  CallQueue queue_;  ///< last: its thread uses the others
};

}  // namespace cuszi::api

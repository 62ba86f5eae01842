#pragma once

#include "gpu/runtime/device.hpp"

namespace cuszi::gpu {

class Stream {
 public:
  /// Thread blocks of high-priority streams are scheduled first.
  explicit Stream(bool high_priority = false) {
    int last = 0;
    int first = 0;
    check(cudaDeviceGetStreamPriorityRange(&last, &first), "query the priorities of streams");
    check(
        cudaStreamCreateWithPriority(&stream_, cudaStreamNonBlocking, high_priority ? first : last),
        "make a stream");
  }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  ~Stream() { cudaStreamDestroy(stream_); }

  cudaStream_t get() const { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
};

/// Without timing.
class Event {
 public:
  Event() { check(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming), "create an event"); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  ~Event() { cudaEventDestroy(event_); }

  /// Completes when the stream's work so far is done.
  void record(const Stream& stream) const { record(stream.get()); }
  void record(cudaStream_t stream) const {
    check(cudaEventRecord(event_, stream), "record an event");
  }
  /// Later work of the stream waits for the event.
  void hold(const Stream& stream) const { hold(stream.get()); }
  void hold(cudaStream_t stream) const {
    check(cudaStreamWaitEvent(stream, event_), "wait for another stream");
  }
  void wait() const { check(cudaEventSynchronize(event_), "finish its work"); }

 private:
  cudaEvent_t event_ = nullptr;
};

/// A side stream for concurrent work between fork() and join().
class StreamFork {
 public:
  explicit StreamFork(bool high_priority = false) : main_(high_priority), side_(high_priority) {}

  /// The side stream inside fork(), else the main one.
  cudaStream_t current() const { return stream().get(); }

  void sync() const { check(cudaStreamSynchronize(current()), "finish its work"); }
  void sync_all() const {
    check(cudaStreamSynchronize(main_.get()), "finish its work");
    check(cudaStreamSynchronize(side_.get()), "finish its work");
  }

  /// Marks the current stream's work so far, for wait_for_mark().
  void mark() const { marked_.record(stream()); }
  void wait_for_mark() const { marked_.wait(); }

  /// give() enqueues work on the side stream, which starts after the main stream's work so far.
  template <class F>
  void fork(const F& give) {
    forked_.record(main_);
    fork_since(forked_, give);
  }
  /// Like fork(), but starting after the work before the mark.
  template <class F>
  void fork_since_mark(const F& give) {
    fork_since(marked_, give);
  }
  /// Later work of the main stream waits for the side stream.
  void join() const {
    forked_.record(side_);
    forked_.hold(main_);
  }

 private:
  const Stream& stream() const { return is_forked_ ? side_ : main_; }

  template <class F>
  void fork_since(const Event& event, const F& give) {
    struct Return {
      bool& is_forked;
      ~Return() { is_forked = false; }
    };
    event.hold(side_);
    const Return at_the_end{is_forked_ = true};
    give();
  }

  Stream main_;
  Stream side_;
  Event marked_;
  Event forked_;
  bool is_forked_ = false;
};

}  // namespace cuszi::gpu

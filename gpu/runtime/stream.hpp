#pragma once

#include "gpu/runtime/check.hpp"

namespace cuszi::gpu {

/// A CUDA stream that ends with its owner.
class Stream {
 public:
  /// Where there is a choice, thread blocks of streams of high priority come first.
  explicit Stream(bool high_priority = false) {
    int last = 0;
    int first = 0;
    check(cudaDeviceGetStreamPriorityRange(&last, &first), "tell the priorities of streams");
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

/// A CUDA event, without times, that ends with its owner.
class Event {
 public:
  Event() { check(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming), "make an event"); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  ~Event() { cudaEventDestroy(event_); }

  /// Happens when all is done that the stream has been given so far.
  void record(const Stream& stream) const { record(stream.get()); }
  void record(cudaStream_t stream) const {
    check(cudaEventRecord(event_, stream), "mark a point in a stream");
  }
  /// What the stream is given from now on begins after the event.
  void hold(const Stream& stream) const { hold(stream.get()); }
  void hold(cudaStream_t stream) const {
    check(cudaStreamWaitEvent(stream, event_), "wait for another stream");
  }
  void wait() const { check(cudaEventSynchronize(event_), "finish its work"); }

  cudaEvent_t get() const { return event_; }

 private:
  cudaEvent_t event_ = nullptr;
};

/// A main stream, and a side stream for what goes on beside it between fork() and join().
class StreamFork {
 public:
  explicit StreamFork(bool high_priority = false) : main_(high_priority), side_(high_priority) {}

  /// The stream that is given work now: inside fork() the side stream, else the main one.
  cudaStream_t current() const { return stream().get(); }

  /// Waits for the current stream.
  void sync() const { check(cudaStreamSynchronize(current()), "finish its work"); }
  /// Waits for both streams.
  void sync_all() const {
    check(cudaStreamSynchronize(main_.get()), "finish its work");
    check(cudaStreamSynchronize(side_.get()), "finish its work");
  }

  /// Remembers what the current stream has been given so far, for wait_for_mark().
  void mark() const { marked_.record(stream()); }
  void wait_for_mark() const { marked_.wait(); }

  /// Calls `give`, which gives the side stream what goes on beside all that follows, until join().
  /// It begins after all that the main stream has been given before.
  template <class F>
  void fork(const F& give) {
    forked_.record(main_);
    fork_since(forked_, give);
  }
  /// The fork() that begins after what was given before the mark.
  template <class F>
  void fork_since_mark(const F& give) {
    fork_since(marked_, give);
  }
  /// What the main stream is given from now on begins after all that the side stream was given.
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

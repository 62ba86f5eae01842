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
  void record(const Stream& stream) const {
    check(cudaEventRecord(event_, stream.get()), "mark a point in a stream");
  }
  /// What the stream is given from now on begins after the event.
  void hold(const Stream& stream) const {
    check(cudaStreamWaitEvent(stream.get(), event_), "wait for another stream");
  }
  void wait() const { check(cudaEventSynchronize(event_), "finish its work"); }

 private:
  cudaEvent_t event_ = nullptr;
};

}  // namespace cuszi::gpu

#pragma once

#include "gpu/check.hpp"

namespace cuszi::gpu {

/// A CUDA stream that ends with its owner.
class Stream {
 public:
  /// Where there is a choice, thread blocks of urgent streams come first.
  explicit Stream(bool is_urgent = false) {
    int last = 0;
    int first = 0;
    check(cudaDeviceGetStreamPriorityRange(&last, &first), "tell the priorities of streams");
    check(cudaStreamCreateWithPriority(&stream_, cudaStreamNonBlocking, is_urgent ? first : last),
          "make a stream");
  }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  ~Stream() { cudaStreamDestroy(stream_); }

  cudaStream_t get() const { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
};

}  // namespace cuszi::gpu

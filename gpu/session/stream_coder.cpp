#include "core/backend/stream_coder.hpp"

#include <utility>

#include "cuszi/gpu.hpp"
#include "gpu/runtime/arena.hpp"
#include "gpu/runtime/stream.hpp"
#include "gpu/tiles/stream_tiles.cuh"

namespace cuszi::gpu {

namespace {

/// Memory that grows in the order of streams, from a pool of its own.
class StreamMemory {
 public:
  explicit StreamMemory(int device) {
    cudaMemPoolProps properties{};
    properties.allocType = cudaMemAllocationTypePinned;
    properties.location = {cudaMemLocationTypeDevice, device};
    check(cudaMemPoolCreate(&pool_, &properties), "create a memory pool");
  }
  StreamMemory(const StreamMemory&) = delete;
  StreamMemory& operator=(const StreamMemory&) = delete;
  ~StreamMemory() {
    if (memory_ != nullptr) cudaFree(memory_);
    cudaMemPoolDestroy(pool_);
  }

  /// `size` bytes for what the stream is given, and others after it, until this is next called.
  std::byte* take(cudaStream_t stream, ByteCount size) {
    if (size > size_) {
      size_ = 0;
      if (memory_ != nullptr)
        check(cudaFreeAsync(std::exchange(memory_, nullptr), stream), "free memory in a stream");
      check(cudaMallocFromPoolAsync(&memory_, size, pool_, stream), "allocate memory in a stream");
      size_ = size;
    }
    return static_cast<std::byte*>(memory_);
  }

 private:
  cudaMemPool_t pool_ = nullptr;
  void* memory_ = nullptr;
  ByteCount size_ = 0;
};

class GpuStreamCoder final : public StreamCoder {
 public:
  /// On the device in use, of this number.
  explicit GpuStreamCoder(int device)
      : memory_(device), failure_(PinnedMemory::allocate(sizeof(std::uint64_t))) {
    *failure_word() = 0;
  }
  ~GpuStreamCoder() override {
    cudaEventSynchronize(last_->get());  // no failure is of use to anybody now
    PinnedMemory::release(failure_);
  }

  void encode(const StreamEncoding& frame) override {
    in_order(frame.stream, scratch_for_encoding(frame.shape),
             [&](std::byte* scratch) { start_to_encode(frame, scratch, failure_word()); });
  }
  void decode(const StreamDecoding& frame) override {
    in_order(frame.stream, scratch_for_decoding(frame.shape),
             [&](std::byte* scratch) { start_to_decode(frame, scratch, failure_word()); });
  }

  void wait() override { last_->wait(); }

  std::function<void()> mark() override {
    return [last = last_] { last->wait(); };
  }

  std::optional<Failure> take_failure() override {
    volatile std::uint64_t& there = *failure_word();
    const std::uint64_t word = there;
    there = 0;
    if (word == 0) return std::nullopt;
    return Failure{static_cast<std::uint32_t>(word >> 32) - 1, static_cast<std::int32_t>(word)};
  }

 private:
  std::uint64_t* failure_word() const { return static_cast<std::uint64_t*>(failure_); }

  /// Gives work to a stream, after that given to others before.
  template <class Give>
  void in_order(void* on, ByteCount scratch, const Give& give) {
    const auto stream = static_cast<cudaStream_t>(on);
    last_->hold(stream);  // a stream that looks like the last one may be another
    give(memory_.take(stream, scratch));
    last_->record(stream);
  }

  StreamMemory memory_;
  void* failure_;  ///< a word in page-locked memory, which kernels write, too
  std::shared_ptr<Event> last_ = std::make_shared<Event>();  ///< the end of what was given last
};

}  // namespace

std::unique_ptr<StreamCoder> make_stream_coder(int device) {
  use_device(device);
  return std::make_unique<GpuStreamCoder>(device);
}

}  // namespace cuszi::gpu

#include "core/backend/stream_coder.hpp"

#include <utility>

#include "cuszi/gpu.hpp"
#include "gpu/runtime/arena.hpp"
#include "gpu/runtime/stream.hpp"
#include "gpu/tiles/stream_tiles.cuh"

namespace cuszi::gpu {

namespace {

/// Memory that is taken and given back in the order of streams, from a pool of its own.
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
    if (kept_ != nullptr) cudaFree(kept_);
    cudaMemPoolDestroy(pool_);
  }

  /// `size` bytes for what the stream is given, and others after it, until this is next called.
  std::byte* keep(cudaStream_t stream, ByteCount size) {
    if (size > kept_size_) {
      if (kept_ != nullptr) give_back(std::exchange(kept_, nullptr), stream);
      kept_size_ = 0;
      kept_ = take(stream, size);
      kept_size_ = size;
    }
    return kept_;
  }

  /// Calls use(memory) with `size` bytes, which are the captured graph's own.
  template <class Use>
  void with(cudaStream_t stream, ByteCount size, const Use& use) const {
    std::byte* const memory = take(stream, size);
    use(memory);  // a capture that fails is of no use, nor is what it has taken
    give_back(memory, stream);
  }

 private:
  std::byte* take(cudaStream_t stream, ByteCount size) const {
    void* memory = nullptr;
    check(cudaMallocFromPoolAsync(&memory, size, pool_, stream), "allocate memory in a stream");
    return static_cast<std::byte*>(memory);
  }
  static void give_back(std::byte* memory, cudaStream_t stream) {
    check(cudaFreeAsync(memory, stream), "free memory in a stream");
  }

  cudaMemPool_t pool_ = nullptr;
  std::byte* kept_ = nullptr;
  ByteCount kept_size_ = 0;
};

/// Lets this thread allocate while a stream of its own is being captured.
class CaptureApart {
 public:
  CaptureApart() { exchange(); }
  CaptureApart(const CaptureApart&) = delete;
  CaptureApart& operator=(const CaptureApart&) = delete;
  ~CaptureApart() { exchange(); }

 private:
  void exchange() { cudaThreadExchangeStreamCaptureMode(&mode_); }

  cudaStreamCaptureMode mode_ = cudaStreamCaptureModeRelaxed;
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

  /// Gives work to a stream, after that given to others before. A capture has no before.
  template <class Give>
  void in_order(void* on, ByteCount scratch, const Give& give) {
    const auto stream = static_cast<cudaStream_t>(on);
    if (is_being_captured(on)) {
      memory_.with(stream, scratch, give);
      return;
    }
    last_->hold(stream);  // a stream that looks like the last one may be another
    give(memory_.keep(stream, scratch));
    last_->record(stream);
  }

  StreamMemory memory_;
  void* failure_;  ///< a word in page-locked memory, which kernels write, too
  std::shared_ptr<Event> last_ = std::make_shared<Event>();  ///< the end of what was given last
};

}  // namespace

std::unique_ptr<StreamCoder> make_stream_coder(int device) {
  const CaptureApart apart;
  use_device(device);
  return std::make_unique<GpuStreamCoder>(device);
}

}  // namespace cuszi::gpu

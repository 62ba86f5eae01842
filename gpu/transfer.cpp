#include "gpu/transfer.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "gpu/arena.hpp"
#include "gpu/stream.hpp"

namespace cuszi::gpu {

namespace {

/// Large enough for the bus to reach its speed, small enough to stay in a processor's cache.
constexpr ByteCount piece_bytes = ByteCount{4} << 20;

/// One thread copies a file's bytes to or from memory at a fraction of the bus' speed.
constexpr unsigned most_threads = 12;

/// Memory of one kind that ends with its owner.
template <class Memory>
class Block {
 public:
  Block() = default;
  explicit Block(ByteCount size)
      : memory_(static_cast<std::byte*>(Memory::allocate(size))), size_(size) {}
  Block(Block&& other) noexcept
      : memory_(std::exchange(other.memory_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  Block& operator=(Block&& other) noexcept {
    std::swap(memory_, other.memory_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~Block() {
    if (memory_ != nullptr) Memory::release(memory_);
  }

  MutableBytes bytes() const { return {memory_, size_}; }

 private:
  std::byte* memory_ = nullptr;
  ByteCount size_ = 0;
};

/// What a thread needs to move pieces.
struct Lane {
  Block<PinnedMemory> piece{piece_bytes};
  Stream stream;

  void copy(std::byte* to, const std::byte* from, ByteCount size) const {
    check(cudaMemcpyAsync(to, from, size, cudaMemcpyDefault, stream.get()), "copy a piece");
    check(cudaStreamSynchronize(stream.get()), "copy a piece");
  }
};

class GpuTransfer final : public Transfer {
 public:
  explicit GpuTransfer(int device)
      : device_(device),
        threads_(std::clamp(std::thread::hardware_concurrency(), 2U, most_threads)) {}

  MutableBytes memory(std::size_t buffer, ByteCount size) override {
    if (buffer >= buffers_.size()) buffers_.resize(buffer + 1);
    Block<DeviceMemory>& block = buffers_[buffer];
    if (size > block.bytes().size()) {
      block = {};  // first: both might not fit
      block = Block<DeviceMemory>(size);
    }
    return block.bytes().first(size);
  }

  void fill(MutableBytes to, const PieceUser& read) override {
    in_pieces(to.size(), [&](const Lane& lane, ByteCount offset, ByteCount size) {
      const MutableBytes piece = lane.piece.bytes().first(size);
      read(offset, piece);
      lane.copy(to.data() + offset, piece.data(), size);
    });
  }

  void drain(Bytes from, const PieceUser& write) override {
    in_pieces(from.size(), [&](const Lane& lane, ByteCount offset, ByteCount size) {
      const MutableBytes piece = lane.piece.bytes().first(size);
      lane.copy(piece.data(), from.data() + offset, size);
      write(offset, piece);
    });
  }

 private:
  /// Calls work(lane, offset, size) for all pieces. A thread waits for its own piece alone, so that
  /// the others keep the bus and the files busy.
  template <class Work>
  void in_pieces(ByteCount size, const Work& work) {
    std::atomic<ByteCount> next = 0;
    std::exception_ptr failure;
    const auto run = [&] {
      try {
        check(cudaSetDevice(device_), "select a device");
        std::unique_ptr<Lane> lane = take_lane();
        for (ByteCount at = next.fetch_add(piece_bytes); at < size;
             at = next.fetch_add(piece_bytes)) {
          work(*lane, at, std::min(piece_bytes, size - at));
        }
        const std::scoped_lock lock(mutex_);
        idle_.push_back(std::move(lane));
      } catch (...) {
        const std::scoped_lock lock(mutex_);
        if (!failure) failure = std::current_exception();
        next = size;
      }
    };
    {
      std::vector<std::jthread> threads(std::min<ByteCount>(threads_, ceil_div(size, piece_bytes)));
      for (std::jthread& thread : threads) thread = std::jthread(run);
    }
    if (failure) std::rethrow_exception(failure);
  }

  std::unique_ptr<Lane> take_lane() {
    {
      const std::scoped_lock lock(mutex_);
      if (!idle_.empty()) {
        std::unique_ptr<Lane> lane = std::move(idle_.back());
        idle_.pop_back();
        return lane;
      }
    }
    return std::make_unique<Lane>();
  }

  int device_;
  unsigned threads_;
  std::mutex mutex_;
  std::vector<Block<DeviceMemory>> buffers_;
  std::vector<std::unique_ptr<Lane>> idle_;
};

}  // namespace

std::unique_ptr<Transfer> make_transfer(int device) {
  return std::make_unique<GpuTransfer>(device);
}

}  // namespace cuszi::gpu

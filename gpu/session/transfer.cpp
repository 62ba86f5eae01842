#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "cpu_ref/base/thread_count.hpp"
#include "gpu/runtime/arena.hpp"
#include "gpu/runtime/stream.hpp"
#include "gpu/session/sessions.hpp"

namespace cuszi::gpu {

namespace {

/// Large enough for the bus to reach its speed, small enough to stay in a processor's cache.
constexpr ByteCount piece_bytes = ByteCount{2} << 20;

/// One thread copies a file's bytes from or to memory at a fraction of the bus' speed; too many
/// slow down what goes on beside them.
constexpr unsigned most_lanes = 12;

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

/// A place for one piece, and its way.
struct StagingBuffer {
  MutableBytes piece;
  Stream stream = Stream();

  void copy(std::byte* to, const std::byte* from, ByteCount size) const {
    check(cudaMemcpyAsync(to, from, size, cudaMemcpyDefault, stream.get()), "copy a piece");
  }
  void wait() const { check(cudaStreamSynchronize(stream.get()), "copy a piece"); }
};

/// What a thread needs: while one piece travels, the next one is read. Allocated at once, since the
/// driver takes one thread at a time.
struct Lane {
  Block<PinnedMemory> pinned{2 * piece_bytes};
  StagingBuffer staging[2]{{pinned.bytes().first(piece_bytes)}, {pinned.bytes().last(piece_bytes)}};

  /// Waits for what travels also where a failure ends the work.
  ~Lane() {
    for (const StagingBuffer& staging_buffer : staging)
      cudaStreamSynchronize(staging_buffer.stream.get());
  }
};

class GpuTransfer final : public Transfer {
 public:
  explicit GpuTransfer(int device) : device_(device) {}

  MutableBytes memory(std::size_t buffer, ByteCount size) override {
    check(cudaSetDevice(device_), "select a device");
    const std::scoped_lock lock(mutex_);
    if (buffer >= buffers_.size()) buffers_.resize(buffer + 1);
    Block<DeviceMemory>& block = buffers_[buffer];
    if (size > block.bytes().size()) {
      block = {};  // first: both might not fit
      block = Block<DeviceMemory>(size);
    }
    return block.bytes().first(size);
  }

  void release(std::size_t first) noexcept override {
    const std::scoped_lock lock(mutex_);
    if (first < buffers_.size()) buffers_.resize(first);
  }

  ByteCount free_bytes() const override {
    check(cudaSetDevice(device_), "select a device");
    ByteCount room = 0;
    ByteCount all = 0;
    check(cudaMemGetInfo(&room, &all), "query its free memory");
    return room;
  }

  void upload(MutableBytes to, const PieceUser& read) override {
    in_lanes(to.size(), [&](const Lane& lane, const auto& next_piece) {
      std::size_t turn = 0;
      while (const Piece piece = next_piece()) {
        const StagingBuffer& staging_buffer = lane.staging[turn++ % 2];
        staging_buffer.wait();
        const MutableBytes bytes = staging_buffer.piece.first(piece.size);
        read(piece.offset, bytes);
        staging_buffer.copy(to.data() + piece.offset, bytes.data(), bytes.size());
      }
      for (const StagingBuffer& staging_buffer : lane.staging) staging_buffer.wait();
    });
  }

  void download(Bytes from, const PieceUser& write) override {
    in_lanes(from.size(), [&](const Lane& lane, const auto& next_piece) {
      const StagingBuffer& staging_buffer = lane.staging[0];
      while (const Piece piece = next_piece()) {
        const MutableBytes bytes = staging_buffer.piece.first(piece.size);
        staging_buffer.copy(bytes.data(), from.data() + piece.offset, bytes.size());
        staging_buffer.wait();
        write(piece.offset, bytes);
      }
    });
  }

 private:
  struct Piece {
    ByteCount offset;
    ByteCount size;  ///< 0: there are no more

    explicit operator bool() const { return size != 0; }
  };

  /// Calls move(lane, next_piece) in threads that share the pieces of `size` bytes.
  template <class Move>
  void in_lanes(ByteCount size, const Move& move) {
    std::atomic<ByteCount> next = 0;
    const auto next_piece = [&] {
      const ByteCount offset = std::min(next.fetch_add(piece_bytes), size);
      return Piece{offset, std::min(piece_bytes, size - offset)};
    };
    std::exception_ptr failure;
    const auto run = [&] {
      try {
        check(cudaSetDevice(device_), "select a device");
        std::unique_ptr<Lane> lane = take_lane();
        move(*lane, next_piece);
        const std::scoped_lock lock(mutex_);
        idle_.push_back(std::move(lane));
      } catch (...) {
        const std::scoped_lock lock(mutex_);
        if (!failure) failure = std::current_exception();
        next = size;
      }
    };
    {
      const unsigned lanes = std::clamp(static_cast<unsigned>(usable_threads()), 2U, most_lanes);
      std::vector<std::jthread> threads(std::min<ByteCount>(lanes, ceil_div(size, piece_bytes)));
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
  std::mutex mutex_;  ///< of what follows
  std::vector<Block<DeviceMemory>> buffers_;
  std::vector<std::unique_ptr<Lane>> idle_;
};

}  // namespace

std::unique_ptr<Transfer> make_transfer(int device) {
  return std::make_unique<GpuTransfer>(device);
}

}  // namespace cuszi::gpu

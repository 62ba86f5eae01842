#pragma once

#include <functional>

#include "core/base/units.hpp"

namespace cuszi {

/// Supplies or takes the bytes from `offset` on. Called by several threads at once, in any order;
/// what it throws ends the transfer.
using PieceUser = std::function<void(ByteCount offset, MutableBytes piece)>;

/// The memory of a device that has its own, and the way there and back in pieces of page-locked
/// host memory: while some pieces travel, others are read or written by `PieceUser`s. Works beside
/// the steps of the backend and from several threads. Every function throws DeviceError.
class Transfer {
 public:
  Transfer() = default;
  Transfer(const Transfer&) = delete;
  Transfer& operator=(const Transfer&) = delete;
  virtual ~Transfer() = default;

  /// Device memory of at least `size` bytes, for buffer number `buffer`. It is kept for the next
  /// call, which may lose its content.
  virtual MutableBytes memory(std::size_t buffer, ByteCount size) = 0;

  /// Gives back the memory of the buffers from number `first` on.
  virtual void release(std::size_t first) noexcept = 0;

  /// The free memory of the device in bytes.
  virtual ByteCount room() const = 0;

  /// Fills device memory with the pieces that `read` supplies; complete on return.
  virtual void upload(MutableBytes to, const PieceUser& read) = 0;

  /// Gives what device memory holds to `write`, which may change its pieces; complete on return.
  virtual void download(Bytes from, const PieceUser& write) = 0;
};

}  // namespace cuszi

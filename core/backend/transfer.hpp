#pragma once

#include <functional>

#include "core/base/units.hpp"
#include "core/base/unmovable.hpp"

namespace cuszi {

/// Reads or writes bytes from `offset` on. Called concurrently, in any order; exceptions end the
/// transfer.
using PieceUser = std::function<void(ByteCount offset, MutableBytes piece)>;

/// Device memory and its transfers, in pieces of page-locked memory: while some travel, others are
/// read or written. Runs beside the backend's steps, on several threads. All functions throw
/// DeviceError.
class Transfer : public Interface {
 public:
  /// At least `size` bytes of device memory. Reused by the next call with this number.
  virtual MutableBytes memory(std::size_t buffer, ByteCount size) = 0;

  /// Frees buffers from `first` on.
  virtual void release(std::size_t first) noexcept = 0;

  /// Free device memory.
  virtual ByteCount free_bytes() const = 0;

  /// Complete on return.
  virtual void upload(MutableBytes to, const PieceUser& read) = 0;

  /// `write` may modify its pieces. Complete on return.
  virtual void download(Bytes from, const PieceUser& write) = 0;
};

}  // namespace cuszi

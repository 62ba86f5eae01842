#pragma once

#include <utility>
#include <vector>

#include "core/base/units.hpp"

namespace cuszi {

/// Where bytes go, one after the other.
class ByteSink {
 public:
  ByteSink() = default;
  ByteSink(const ByteSink&) = delete;
  ByteSink& operator=(const ByteSink&) = delete;
  virtual ~ByteSink() = default;

  virtual void write(Bytes bytes) = 0;

  /// True if write_at() may be used instead of write().
  virtual bool takes_any_order() const { return false; }

  /// Writes bytes that are to stand at `offset`; for several threads at once.
  virtual void write_at(ByteCount /*offset*/, Bytes /*bytes*/) {}

  /// Memory of the sink's own, the host's or a device's, that is to hold `size` bytes from `offset`
  /// on: what is put there need not be written. None if the sink has no such memory.
  virtual MutableBytes place(ByteCount /*offset*/, ByteCount /*size*/) { return {}; }
  virtual MutableBytes device_place(ByteCount /*offset*/, ByteCount /*size*/) { return {}; }
};

/// Keeps what is written in memory.
class MemorySink final : public ByteSink {
 public:
  void write(Bytes bytes) override { bytes_.insert(bytes_.end(), bytes.begin(), bytes.end()); }
  Bytes bytes() const { return bytes_; }
  std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  std::vector<std::byte> bytes_;
};

}  // namespace cuszi

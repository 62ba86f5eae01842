#pragma once

#include <utility>
#include <vector>

#include "core/base/units.hpp"
#include "core/base/unmovable.hpp"

namespace cuszi {

/// Sequential output.
class ByteSink : public Interface {
 public:
  virtual void write(Bytes bytes) = 0;

  /// Whether write_at() works.
  virtual bool takes_any_order() const { return false; }

  /// Thread-safe.
  virtual void write_at(ByteCount /*offset*/, Bytes /*bytes*/) {}

  /// The sink's own memory at `offset`, which needs no write; else empty.
  virtual MutableBytes place(ByteCount /*offset*/, ByteCount /*size*/) { return {}; }
  virtual MutableBytes device_place(ByteCount /*offset*/, ByteCount /*size*/) { return {}; }
};

class MemorySink final : public ByteSink {
 public:
  void write(Bytes bytes) override { bytes_.insert(bytes_.end(), bytes.begin(), bytes.end()); }
  Bytes bytes() const { return bytes_; }
  std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  std::vector<std::byte> bytes_;
};

}  // namespace cuszi

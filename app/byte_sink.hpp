#pragma once

#include <vector>

#include "core/units.hpp"

namespace cuszi::app {

/// Where bytes go, one after the other.
class ByteSink {
 public:
  ByteSink() = default;
  ByteSink(const ByteSink&) = delete;
  ByteSink& operator=(const ByteSink&) = delete;
  virtual ~ByteSink() = default;

  virtual void write(Bytes bytes) = 0;
};

/// Keeps what is written in memory.
class MemorySink final : public ByteSink {
 public:
  void write(Bytes bytes) override { bytes_.insert(bytes_.end(), bytes.begin(), bytes.end()); }
  Bytes bytes() const { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
};

}  // namespace cuszi::app

#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

#include "codec/frames/frame_scheduler.hpp"
#include "core/backend/backend.hpp"
#include "core/base/growing_memory.hpp"

namespace cuszi::bench {

/// Memory of a backend.
class Place {
 public:
  Place(Backend& backend, std::size_t number, ByteCount size)
      : bytes_(backend.transfer() == nullptr
                   ? room_.resize(size)
                   : backend.transfer()->memory(first_kept_buffer + number, size)) {}
  std::byte* at(ByteCount offset) const { return bytes_.data() + offset; }

 private:
  Buffer room_;
  MutableBytes bytes_;
};

/// Waves that differ by `number`.
inline std::vector<float> waves(std::uint64_t side, std::size_t number) {
  std::vector<float> values;
  values.reserve(side * side * side);
  const auto wave = [&](std::uint64_t i, double length) {
    return std::sin(static_cast<double>(i + 5 * number) / length);
  };
  for (std::uint64_t z = 0; z < side; ++z) {
    for (std::uint64_t y = 0; y < side; ++y) {
      for (std::uint64_t x = 0; x < side; ++x) {
        values.push_back(static_cast<float>(wave(z, 9) * wave(y, 11) * wave(x, 13)));
      }
    }
  }
  return values;
}

}  // namespace cuszi::bench

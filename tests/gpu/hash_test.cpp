#include "gpu/field/hash.cuh"

#include <algorithm>
#include <span>
#include <vector>

#include "gpu/runtime/copies.hpp"
#include "test_data/random.hpp"
#include "tests/gpu/device.hpp"
#include "tests/support/catch.hpp"

namespace cuszi::test {

namespace {

std::vector<std::byte> random_bytes(Random& random, std::size_t count) {
  std::vector<std::byte> bytes(count);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random.below(256));
  return bytes;
}

/// Lengths near those of words, stripes and blocks.
std::vector<std::size_t> lengths(Random& random) {
  std::vector<std::size_t> result{0,     1,     7,     8,     31,    32,    33,
                                  16383, 16384, 16385, 16415, 32768, 100001};
  for (int i = 0; i < 20; ++i) result.push_back(random.below(70000));
  return result;
}

}  // namespace

TEST_CASE("strings of a device are hashed and copied to any address", "[gpu][hash]") {
  if (device() == nullptr) return;
  gpu::DeviceContext gpu;
  constexpr std::size_t margin = 16;
  const std::byte untouched{0x5A};
  Random random(1);
  for (const std::size_t length : lengths(random)) {
    for (std::size_t offset = 0; offset < 8; ++offset) {
      INFO("length " << length << ", offset " << offset);
      gpu.reset();
      const std::size_t second = random.below(3) * 8;
      const std::vector<std::byte> values = random_bytes(random, length / 8 * 8 + second + 3);
      std::vector<std::byte> around(values.size() + 2 * margin, untouched);
      const std::byte* const from = gpu::upload(gpu, values.data(), values.size());
      std::byte* const to = gpu::upload(gpu, around.data(), around.size());
      const Bytes strings[] = {{from, length / 8 * 8}, {from + length / 8 * 8, second + 3}};
      const auto hashes = gpu::start_block_hashes(gpu, strings, to + margin + offset);
      const std::byte* const made = gpu::download(gpu, to, around.size());
      gpu.sync();
      const Bytes all(values);
      CHECK(hashes() == std::vector{block_hash(all.first(length / 8 * 8)),
                                    block_hash(all.subspan(length / 8 * 8))});
      std::copy(values.begin(), values.end(), around.begin() + margin + offset);
      CHECK(std::equal(around.begin(), around.end(), made));
    }
  }
}

}  // namespace cuszi::test

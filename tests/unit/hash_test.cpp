#include <vector>

#include "core/base/bytes.hpp"
#include "tests/support/bytes.hpp"
#include "tests/support/catch.hpp"

namespace cuszi::test {

// The expected numbers are from an implementation of the XXH64 specification in another language.
TEST_CASE("checksums are XXH64 over the XXH64 of blocks") {
  CHECK(block_hash({}) == 0xEF46DB3751D8E999);
  CHECK(block_hash(to_bytes({'a', 'b', 'c'})) == 0xB32A991D315BD521);
  CHECK(block_hash(std::vector<std::byte>(hash_block_bytes)) == 0x90159D62144C6C02);
  std::vector<std::byte> several_blocks(40'000);
  for (std::size_t i = 0; i < several_blocks.size(); ++i) {
    several_blocks[i] = static_cast<std::byte>(7 * i);
  }
  CHECK(block_hash(several_blocks) == 0x9E4CBE24312BDA02);
}

TEST_CASE("a checksum changes with every byte and with the length") {
  std::vector<std::byte> bytes(3 * hash_block_bytes + 5);
  const std::uint64_t whole = block_hash(bytes);
  CHECK(block_hash(Bytes(bytes).first(bytes.size() - 1)) != whole);
  for (std::size_t i = 0; i < bytes.size(); i += 1001) {
    bytes[i] = std::byte{1};
    CHECK(block_hash(bytes) != whole);
    bytes[i] = std::byte{0};
  }
}

}  // namespace cuszi::test

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>

#include "core/base/error.hpp"
#include "tests/support/archive_edits.hpp"
#include "tests/support/checksums.hpp"

/// Gives libFuzzer changes of an archive that its reader cannot refuse for a wrong checksum: the
/// archive is taken apart, edited, and put together with right sizes and hashes.

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

namespace {

using namespace cuszi;
using test::OpenArchive;
using test::Random;

std::optional<OpenArchive> open(const std::uint8_t* data, std::size_t size) {
  try {
    return OpenArchive(std::as_bytes(std::span(data, size)));
  } catch (const ArchiveError&) {
    return std::nullopt;
  }
}

/// Lets libFuzzer change a string, which may grow by 64 bytes.
void mutate(std::vector<std::byte>& bytes) {
  const std::size_t size = bytes.size();
  bytes.resize(size + 64);
  bytes.resize(LLVMFuzzerMutate(reinterpret_cast<std::uint8_t*>(bytes.data()), size, bytes.size()));
}

/// Lets libFuzzer change the bytes of a header, a table or a footer.
std::vector<std::byte> close_with_changed_body(const OpenArchive& archive, Random& random) {
  const std::uint64_t bodies = archive.frames.size() + 2;
  std::uint64_t left = random.below(bodies);
  return archive.close([&](test::Body, std::vector<std::byte>& body) {
    if (left-- == 0) mutate(body);
  });
}

std::vector<std::byte> edited(OpenArchive archive, Random& random) {
  switch (random.below(4)) {
    case 0: return close_with_changed_body(archive, random);
    case 1:
      if (test::OpenSection* const section = any_section(archive, random)) mutate(section->bytes);
      break;
    default:
      for (std::uint64_t edits = 1 + random.below(3); edits > 0; --edits) edit(archive, random);
  }
  return archive.close();
}

/// Any change of an archive that cannot be taken apart, its hashes repaired as far as they can be.
std::vector<std::byte> changed_anywhere(const std::uint8_t* data, std::size_t size) {
  const Bytes input = std::as_bytes(std::span(data, size));
  std::vector<std::byte> bytes(input.begin(), input.end());
  mutate(bytes);
  test::repair_checksums(bytes);
  return bytes;
}

/// Copies the result to where libFuzzer wants it; what is too long stays as it was.
std::size_t hand_over(const std::vector<std::byte>& bytes, std::uint8_t* out, std::size_t max_size,
                      std::size_t unchanged) {
  if (bytes.size() > max_size) return unchanged;
  std::transform(bytes.begin(), bytes.end(), out,
                 [](std::byte byte) { return std::to_integer<std::uint8_t>(byte); });
  return bytes.size();
}

}  // namespace

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t max_size, unsigned seed) {
  Random random(seed);
  auto archive = open(data, size);
  const bool anywhere = !archive || random.one_in(32);
  return hand_over(anywhere ? changed_anywhere(data, size) : edited(*std::move(archive), random),
                   data, max_size, size);
}

extern "C" std::size_t LLVMFuzzerCustomCrossOver(const std::uint8_t* data, std::size_t size,
                                                 const std::uint8_t* other, std::size_t other_size,
                                                 std::uint8_t* out, std::size_t max_size,
                                                 unsigned seed) {
  auto archive = open(data, size);
  const auto donor = open(other, other_size);
  if (!archive || !donor) return 0;
  Random random(seed);
  edit_from(*archive, *donor, random);
  return hand_over(archive->close(), out, max_size, 0);
}

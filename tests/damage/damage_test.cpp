#include <array>
#include <span>

#include "codec/archive/archive_reader.hpp"
#include "codec/archive/field_summary.hpp"
#include "core/base/error.hpp"
#include "test_data/random.hpp"
#include "tests/support/archive_codec.hpp"
#include "tests/support/archive_edits.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/checksums.hpp"
#include "tests/support/hostile_archive.hpp"
#include "tests/support/open_archive.hpp"
#include "tests/support/sample_archives.hpp"
#include "tests/support/sanitized.hpp"

namespace cuszi::test {

namespace {

const int changes_per_sample = some_of(2'000);  // the fuzzers go on from there
constexpr std::array<unsigned, 4> all_flips{0x55U, 0x01U, 0x80U, 0xFFU};
const auto flips = std::span(all_flips).first(tries_all_cases() ? 4 : 1);
const std::size_t next_byte = tries_all_cases() || !sanitized ? 1 : 23;

/// Reads many archives that change(archive, random) has made of the samples.
template <class Change>
void check_hostile(std::uint64_t seed, const Change& change) {
  Random random(seed);
  std::array<int, 3> outcomes{};
  for (const SampleArchive& s : small_archives()) {
    for (int i = 0; i < changes_per_sample; ++i) {
      INFO(s.name << ", change " << i << " of seed " << seed);
      ++outcomes.at(static_cast<std::size_t>(read_hostile(change(s.archive, random))));
    }
  }
  CHECK(outcomes[static_cast<std::size_t>(Outcome::refused)] > changes_per_sample);
  CHECK(outcomes[static_cast<std::size_t>(Outcome::restored)] > changes_per_sample);
}

/// Checks all that can be checked of an archive without decoding it.
void check_archive(Bytes archive) {
  MemorySource source(archive);
  ArchiveReader reader(source);
  for (std::uint64_t i = 0; i < reader.frames(); ++i) {
    const ArchiveFrame frame = reader.next_frame();
    count_exceptions(frame.header, frame.payload);
  }
  reader.finish();
}

}  // namespace

TEST_CASE("every flipped byte of an archive is noticed") {
  for (const SampleArchive& s : small_archives()) {
    for (std::size_t i = 0; i < s.archive.size(); i += next_byte) {
      for (const unsigned pattern : flips) {
        INFO(s.name << ": byte " << i << " flipped by " << pattern);
        auto archive = s.archive;
        archive[i] ^= static_cast<std::byte>(pattern);
        REQUIRE_THROWS_AS(restore_archive(archive), ArchiveError);
      }
    }
  }
}

TEST_CASE("every truncation of an archive is noticed, and bytes behind it") {
  for (const SampleArchive& s : small_archives()) {
    for (std::size_t size = 0; size < s.archive.size(); size += next_byte) {
      INFO(s.name << ", cut to " << size);
      const Bytes part = Bytes(s.archive).first(size);
      PipeSource pipe(part);
      REQUIRE_THROWS_AS(restore_archive(part), ArchiveError);
      REQUIRE_THROWS_AS(restore_archive(pipe), ArchiveError);
      MemorySource file(part);
      PipeSource other_pipe(part);
      REQUIRE_THROWS_AS(restore_preview(file, 4), ArchiveError);
      REQUIRE_THROWS_AS(restore_preview(other_pipe, 4), ArchiveError);
    }
    auto longer = s.archive;
    longer.push_back(std::byte{0});
    PipeSource pipe(longer);
    REQUIRE_THROWS_AS(restore_archive(longer), ArchiveError);
    REQUIRE_THROWS_AS(restore_archive(pipe), ArchiveError);
  }
}

TEST_CASE("a frame is not read from a damaged archive") {
  for (const SampleArchive& s : small_archives()) {
    const auto last_frame = [](Bytes archive) {
      MemorySource source(archive);
      ArchiveReader reader(source);
      return reader.frame(reader.frames() - 1).header.index;
    };
    REQUIRE_NOTHROW(last_frame(s.archive));
    for (std::size_t size = 0; size < s.archive.size(); size += next_byte) {
      REQUIRE_THROWS_AS(last_frame(Bytes(s.archive).first(size)), ArchiveError);
    }
  }
}

TEST_CASE("an archive that claims more than its bytes can hold is refused before it is read") {
  constexpr std::uint64_t many = 1'000'000'000'000;
  const std::array claims{FieldCuts{Dims{many, 4}, 0, 1}, FieldCuts{Dims{many, 4}, 0, many}};
  for (const FieldCuts& claimed : claims) {
    OpenArchive open(small_archives().front().archive);
    open.header.plan = claimed;
    const std::vector<std::byte> archive = open.close();
    MemorySource source(archive);
    REQUIRE_THROWS_AS(ArchiveReader(source), ArchiveError);
    CHECK(read_hostile(archive) == Outcome::refused);
    const Box last{{many - 1}, {many, 4, 1, 1}};
    PipeSource pipe(archive);
    REQUIRE_THROWS_AS(restore_preview(pipe, 1, last), ArchiveError);
    MemorySource beginning(Bytes(archive).first(100));
    CHECK(ArchiveReader::header_of(beginning).plan.dims == claimed.dims);
  }
}

TEST_CASE("a packed archive is checked without a GPU, but not restored") {
  const std::vector<std::byte> good = packed_archive();
  REQUIRE_NOTHROW(check_archive(good));
  REQUIRE_THROWS_AS(restore_archive(good), DeviceError);
  for (std::size_t i = 0; i < good.size(); ++i) {
    INFO("byte " << i);
    auto archive = good;
    archive[i] ^= std::byte{0x55};
    REQUIRE_THROWS_AS(check_archive(archive), ArchiveError);
    REQUIRE_THROWS_AS(restore_archive(archive), Error);
    REQUIRE_THROWS_AS(check_archive(Bytes(good).first(i)), ArchiveError);
    REQUIRE_THROWS_AS(restore_archive(Bytes(good).first(i)), Error);
  }
}

TEST_CASE("archives changed anywhere, with right checksums, are refused or keep their size") {
  check_hostile(1, [](Bytes archive, Random& random) {
    std::vector<std::byte> changed(archive.begin(), archive.end());
    for (std::uint64_t changes = 1 + random.below(3); changes > 0; --changes) {
      changed[random.below(changed.size())] = static_cast<std::byte>(random.next());
    }
    repair_checksums(changed);
    return changed;
  });
}

TEST_CASE("edited archives, with right checksums, are refused or keep their size") {
  check_hostile(2, [](Bytes archive, Random& random) {
    OpenArchive open(archive);
    for (std::uint64_t edits = 1 + random.below(3); edits > 0; --edits) edit(open, random);
    return open.close();
  });
}

}  // namespace cuszi::test

#include "tests/compat/corpus.hpp"

#include "core/base/bytes.hpp"
#include "core/base/error.hpp"
#include "core/signs/signs.hpp"
#include "test_data/random.hpp"
#include "tests/slow_decoder/slow_archive.hpp"
#include "tests/slow_decoder/slow_frame.hpp"
#include "tests/support/archive_codec.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/hostile_archive.hpp"
#include "tests/support/open_archive.hpp"

namespace cuszi::test {

namespace {

void check_archive(const CorpusArchive& a) {
  const ArchiveHeader header = OpenArchive(a.archive).header;
  CHECK(header.plan.dims.to_string() == a.dims);
  CHECK(name_of(header.dtype) == a.dtype);
  CHECK(features_of(a.archive) == a.features);
  if (a.features.contains("lossless:bitcomp")) {  // which takes a device
    CHECK_THROWS_AS(restore_archive(a.archive), DeviceError);
    return;
  }
  CHECK(read_hostile(a.archive) != Outcome::refused);  // whole, from pipes, in parts
  CHECK(block_hash(restore_archive(a.archive)) == a.hash);
  CHECK(block_hash(slow::decode(a.archive)) == a.hash);
}

}  // namespace

TEST_CASE("archives of released versions restore to the same values") {
  for (const auto& folder : corpus_folders()) {
    for (const CorpusArchive& a : read_corpus(folder)) {
      INFO(folder << ", " << a.name << ": " << a.options);
      check_archive(a);
    }
  }
}

TEST_CASE("signs of frames that are too large for the corpus are what the format says") {
  for (const Dims& dims : {Dims{70'000, 9}, Dims{1100, 60, 61}}) {
    INFO(dims.to_string());
    Random random(1);
    std::vector<std::uint64_t> words(ceil_div(dims.count(), 64));
    bool sign = false;
    for (std::uint64_t i = 0; i < dims.count(); ++i) {
      sign ^= random.one_in(30);
      words[i / 64] |= std::uint64_t{sign} << (i % 64);
    }
    const std::vector<bool> signs = slow::decode_signs(encode_signs(words, dims, one_by_one), dims);
    REQUIRE(signs.size() == dims.count());
    for (std::uint64_t i = 0; i < dims.count(); ++i)
      if (signs[i] != ((words[i / 64] >> (i % 64) & 1) != 0)) FAIL("point " << i);
  }
}

TEST_CASE("released archives have all that archives of this version can have") {
  std::set<std::string> found;
  std::size_t archives = 0;
  for (const auto& folder : corpus_folders()) {
    for (const CorpusArchive& a : read_corpus(folder)) {
      found.insert(a.features.begin(), a.features.end());
      ++archives;
    }
  }
  CHECK(archives > 250);
  for (const std::string& feature : all_features()) {
    INFO(feature << " needs an archive: tests/compat/make_corpus.cpp");
    CHECK(found.contains(feature));
  }
}

}  // namespace cuszi::test

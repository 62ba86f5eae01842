#include <algorithm>
#include <array>
#include <functional>
#include <limits>

#include "codec/archive_reader.hpp"
#include "codec/field_summary.hpp"
#include "core/error.hpp"
#include "core/hash.hpp"
#include "test_data/fields.hpp"
#include "test_data/random.hpp"
#include "tests/damage/open_archive.hpp"
#include "tests/support/archive_codec.hpp"
#include "tests/support/bytes.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/checksums.hpp"

namespace cuszi::test {

namespace {

struct Sample {
  std::string name;
  std::vector<std::byte> archive;
  std::vector<std::byte> restored;
};

Sample sample_of(const std::string& name, Bytes values, const Dims& dims, DType dtype,
                 const FieldSettings& settings) {
  Sample result{name, make_archive(dims, dtype, values, settings), {}};
  result.restored = restore_archive(result.archive);
  return result;
}

Sample sample(const std::string& name, FieldKind kind, const Dims& dims, DType dtype,
              const std::function<void(FieldSettings&)>& choose) {
  FieldSettings settings;
  settings.bound = 1e-2;
  choose(settings);
  return sample_of(name, make_field(kind, dims, dtype, 3), dims, dtype, settings);
}

Sample constant_sample() {
  const Dims dims{10, 30};
  auto values = make_values<float>(FieldKind::constant, dims, 3);
  for (std::size_t i = 0; i < values.size(); i += 7) {
    values[i] = std::numeric_limits<float>::quiet_NaN();
  }
  return sample_of("one value with a mask", bytes_of(values), dims, DType::f32, {});
}

/// Archives of at most 2 KB with every kind of frame, section and index between them.
const std::vector<Sample>& samples() {
  using S = FieldSettings;
  static const std::vector<Sample> all{
      sample("lorenzo with a mask and outliers", FieldKind::missing, {8, 8, 9}, DType::f32,
             [](S& s) {
               s.frame.predictor.id = PredictorId::lorenzo;
               s.frame.predictor.radius = 4;
               s.frame.huffman.chunk = 64;
             }),
      sample("interp with fill values and outliers", FieldKind::filled, {24, 40}, DType::f32,
             [](S& s) {
               s.fills.add(filled_value);
               s.frame.predictor.radius = 2;
               s.frame.index.kind = IndexKind::length;
               s.frame.huffman.chunk = 64;
             }),
      sample("interp of doubles, offsets", FieldKind::rough, {600}, DType::f64,
             [](S& s) {
               s.bound = 1e-1;
               s.frame.index.kind = IndexKind::offset;
               s.frame.huffman.chunk = 64;
             }),
      sample("lorenzo with patches", FieldKind::wide, {250}, DType::f64,
             [](S& s) {
               s.mode = ErrorMode::absolute;
               s.bound = 1e280;
               s.frame.predictor.id = PredictorId::lorenzo;
             }),
      sample("several frames, no index", FieldKind::smooth, {4, 5, 6, 7}, DType::f32,
             [](S& s) {
               s.frame.index.kind = IndexKind::none;
               s.frame_bytes = 2 * 5 * 6 * 7 * 4;
             }),
      sample("multilevel in layers with a mask and outliers", FieldKind::missing, {6, 12, 14},
             DType::f32,
             [](S& s) {
               s.frame.predictor.id = PredictorId::multilevel;
               s.frame.predictor.multilevel.axes = AxisChoice{AxisRole::layered, 0};
               s.frame.predictor.radius = 16;
               s.frame.coder = CoderId::ans;
             }),
      sample("multilevel of doubles", FieldKind::steps, {40, 60}, DType::f64,
             [](S& s) {
               s.frame.predictor.id = PredictorId::multilevel;
               s.frame.coder = CoderId::ans;
             }),
      sample("multilevel with Huffman", FieldKind::rough, {9, 9, 9}, DType::f32,
             [](S& s) { s.frame.predictor.id = PredictorId::multilevel; }),
      sample("lorenzo with ANS", FieldKind::rough, {700}, DType::f32,
             [](S& s) {
               s.frame.predictor.id = PredictorId::lorenzo;
               s.frame.coder = CoderId::ans;
             }),
      sample("tiles with a mask", FieldKind::missing, {8, 8, 9}, DType::f32,
             [](S& s) { s.frame.predictor.id = PredictorId::tiles; }),
      sample("tiles with patches", FieldKind::wide, {120}, DType::f64,
             [](S& s) {
               s.mode = ErrorMode::absolute;
               s.bound = 1e280;
               s.frame.predictor.id = PredictorId::tiles;
             }),
      sample("lossless", FieldKind::steps, {10, 30}, DType::f64, [](S& s) { s.bound = 0; }),
      constant_sample(),
      sample("stored", FieldKind::wide, {150}, DType::f32, [](S& s) { s.bound = 0; }),
  };
  return all;
}

/// What became of reading a hostile archive; anything else than these two is a crash.
enum class Outcome { refused, restored };

/// Reads an archive whose checksums are right. What it restores must have the size it claims.
Outcome read_hostile(Bytes archive) {
  try {
    MemorySource source(archive);
    const ArchiveHeader header = ArchiveReader(source).header();
    source.seek(0);
    const ByteCount size = header.plan.dims.count() * size_of(header.dtype);
    const RestoredPreview shown = restore_preview(source, 2);
    REQUIRE(shown.values.size() == shown.dims.count() * size_of(header.dtype));
    const std::vector<std::byte> restored = restore_archive(archive);
    REQUIRE(restored.size() == size);
    return Outcome::restored;
  } catch (const ArchiveError&) {
    return Outcome::refused;
  } catch (const DeviceError&) {  // a section claims to be packed
    return Outcome::refused;
  }
}

/// Reads many archives that change(archive, random) has made of the samples.
template <class Change>
void check_hostile(std::uint64_t seed, const Change& change) {
  Random random(seed);
  std::array<int, 2> outcomes{};
  for (const Sample& s : samples()) {
    for (int i = 0; i < 2'000; ++i) {
      INFO(s.name << ", change " << i << " of seed " << seed);
      ++outcomes.at(static_cast<std::size_t>(read_hostile(change(s.archive, random))));
    }
  }
  CHECK(outcomes[static_cast<std::size_t>(Outcome::refused)] > 2'000);
  CHECK(outcomes[static_cast<std::size_t>(Outcome::restored)] > 2'000);
}

/// An archive that says that its codes are packed by Bitcomp, as far as it can without a GPU.
std::vector<std::byte> packed_archive() {
  OpenArchive open(samples().front().archive);
  for (SectionEntry& section : open.frames.front().header.levels.front().sections) {
    if (section.id == SectionId::codes) section.unpacked = Unpacked{2 * section.size, 7};
  }
  return open.close();
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

TEST_CASE("the samples are small and hold every kind of frame and section") {
  std::array<bool, 4> kinds{};
  std::array<bool, 11> sections{};
  for (const Sample& s : samples()) {
    INFO(s.name << ", " << s.archive.size() << " bytes");
    CHECK(s.archive.size() <= 2048);
    MemorySource source(s.archive);
    ArchiveReader reader(source);
    for (std::uint64_t i = 0; i < reader.frames(); ++i) {
      const ArchiveFrame frame = reader.next_frame();
      kinds.at(static_cast<std::size_t>(frame.header.kind)) = true;
      for (const LevelEntry& level : frame.header.levels) {
        for (const SectionEntry& section : level.sections) {
          sections.at(static_cast<std::size_t>(section.id)) = true;
        }
      }
    }
  }
  CHECK(std::count(kinds.begin(), kinds.end(), true) == 4);
  for (std::size_t id = 0; id < sections.size(); ++id) {
    INFO("section " << id);
    CHECK(sections[id]);
  }
}

TEST_CASE("every flipped byte of an archive is noticed") {
  for (const Sample& s : samples()) {
    for (std::size_t i = 0; i < s.archive.size(); ++i) {
      for (const unsigned pattern : {0x01U, 0x80U, 0x55U, 0xFFU}) {
        INFO(s.name << ": byte " << i << " flipped by " << pattern);
        auto archive = s.archive;
        archive[i] ^= static_cast<std::byte>(pattern);
        REQUIRE_THROWS_AS(restore_archive(archive), ArchiveError);
      }
    }
  }
}

TEST_CASE("every truncation of an archive is noticed, and bytes behind it") {
  for (const Sample& s : samples()) {
    for (std::size_t size = 0; size < s.archive.size(); ++size) {
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
  for (const Sample& s : samples()) {
    const auto last_frame = [](Bytes archive) {
      MemorySource source(archive);
      ArchiveReader reader(source);
      return reader.frame(reader.frames() - 1).header.index;
    };
    REQUIRE_NOTHROW(last_frame(s.archive));
    for (std::size_t size = 0; size < s.archive.size(); ++size) {
      REQUIRE_THROWS_AS(last_frame(Bytes(s.archive).first(size)), ArchiveError);
    }
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

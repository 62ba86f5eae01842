#include "core/archive/frame.hpp"

#include <limits>

#include "core/base/bytes.hpp"
#include "tests/support/bytes.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/checksums.hpp"

namespace cuszi::test {

namespace {

const Dims frame_dims{20, 30, 40};

FrameHeader kept_header() {
  FrameHeader header;
  header.index = 300;
  header.kind = FrameKind::lossless;
  header.missing = 7;
  header.min = -2.5;
  header.max = 1e30;
  header.levels.push_back({{{SectionId::raw, 9'000}}, 0x1234});
  return header;
}

FrameHeader coded_header() {
  FrameHeader header = kept_header();
  header.kind = FrameKind::coded;
  header.predictor = LorenzoParams{{8, 8, 8}, 512, 1e-3};
  header.coder = HuffmanParams{};
  header.levels = {{{{SectionId::codebook, 10}, {SectionId::codes, 3'000}}, 1}};
  return header;
}

FrameHeader packed_header(ByteCount unpacked_codes) {
  FrameHeader header = coded_header();
  header.levels[0].sections[1].unpacked = Unpacked{unpacked_codes, 0x5678};
  return header;
}

FrameHeader read(const std::vector<std::byte>& bytes) {
  const Bytes all(bytes);
  REQUIRE(read_frame_prefix(all.first(frame_prefix_bytes)) == bytes.size() - frame_prefix_bytes);
  return read_frame_header(all.subspan(frame_prefix_bytes), frame_dims, DType::f32);
}

/// The sections of the passes of a level of a payload.
std::vector<Sections> read_level(const FrameHeader& header, std::size_t level, std::size_t passes,
                                 Bytes payload) {
  const Bytes bytes = read_levels(header, level + 1, payload).back();
  return read_passes(header.levels[level], passes, bytes);
}

}  // namespace

TEST_CASE("frame headers come back") {
  for (const FrameHeader& header : {kept_header(), coded_header()}) {
    const FrameHeader back = read(write_frame_header(header));
    CHECK(back.index == header.index);
    CHECK(back.kind == header.kind);
    CHECK(back.missing == header.missing);
    CHECK(back.min == header.min);
    CHECK(back.max == header.max);
    CHECK(back.predictor.has_value() == header.predictor.has_value());
    CHECK(back.coder.has_value() == header.coder.has_value());
    CHECK(back.payload_bytes() == header.payload_bytes());
    REQUIRE(back.levels.size() == header.levels.size());
    for (std::size_t i = 0; i < header.levels.size(); ++i) {
      CHECK(back.levels[i].hash == header.levels[i].hash);
      REQUIRE(back.levels[i].sections.size() == header.levels[i].sections.size());
      for (std::size_t s = 0; s < header.levels[i].sections.size(); ++s) {
        CHECK(back.levels[i].sections[s].id == header.levels[i].sections[s].id);
        CHECK(back.levels[i].sections[s].size == header.levels[i].sections[s].size);
      }
    }
  }
}

TEST_CASE("every flipped bit of a frame header is noticed") {
  const auto good = write_frame_header(coded_header());
  for (std::size_t i = 0; i < good.size(); ++i) {
    for (unsigned bit = 0; bit < 8; ++bit) {
      auto bytes = good;
      bytes[i] ^= static_cast<std::byte>(1U << bit);
      const auto read_damaged = [&] {
        const Bytes all(bytes);
        const ByteCount size = read_frame_prefix(all.first(frame_prefix_bytes));
        if (size != good.size() - frame_prefix_bytes) throw ArchiveError("another size");
        return read_frame_header(all.subspan(frame_prefix_bytes), frame_dims, DType::f32).index;
      };
      REQUIRE_THROWS_AS(read_damaged(), ArchiveError);
    }
  }
}

TEST_CASE("impossible frame headers are refused though their checksum is right") {
  const auto read_changed = [](const auto& change) {
    FrameHeader header = coded_header();
    change(header);
    return read(write_frame_header(header)).index;
  };
  using H = FrameHeader;
  constexpr double infinity = std::numeric_limits<double>::infinity();
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK(read_changed([](H&) {}) == 300);
  CHECK_THROWS_AS(read_changed([](H& h) { h.kind = static_cast<FrameKind>(4); }), ArchiveError);
  CHECK_THROWS_AS(read_changed([](H& h) { h.missing = frame_dims.count() + 1; }), ArchiveError);
  CHECK_THROWS_AS(read_changed([](H& h) { h.min = nan; }), ArchiveError);
  CHECK_THROWS_AS(read_changed([](H& h) { h.max = infinity; }), ArchiveError);
  CHECK_THROWS_AS(read_changed([](H& h) { h.min = 2e30; }), ArchiveError);
  CHECK_THROWS_AS(read_changed([](H& h) { h.predictor = LorenzoParams{}; }), ArchiveError);
  CHECK_THROWS_AS(read_changed([](H& h) { h.levels[0].sections[0].id = SectionId{14}; }),
                  ArchiveError);
  CHECK_THROWS_AS(read_changed([](H& h) { h.bounds = FrameBounds{1, 2, 0}; }), ArchiveError);
  CHECK_THROWS_AS(read_changed([](H& h) { h.bounds = FrameBounds{infinity, 1, 0}; }), ArchiveError);
  CHECK_THROWS_AS(read_changed([](H& h) {
                    h.bounds = FrameBounds{1, 1, frame_dims.count() + 1};
                  }),
                  ArchiveError);
  CHECK_THROWS_AS(read_changed([](H& h) { h.levels.clear(); }), ArchiveError);
  CHECK_THROWS_AS(read_changed([](H& h) { h.levels.push_back({}); }), ArchiveError);
}

TEST_CASE("quant-codes without a coder are refused") {
  FrameHeader header = coded_header();
  header.coder = NoCoderParams{};
  CHECK_THROWS_AS(read(write_frame_header(header)), ArchiveError);
}

TEST_CASE("sections whose sizes wrap around are refused") {
  constexpr ByteCount large = ByteCount{1} << 60;
  FrameHeader header = coded_header();
  header.levels[0].sections.assign(16, {SectionId::codes, large});
  header.levels[0].sections.push_back({SectionId::codebook, 4'000});
  REQUIRE(header.payload_bytes() == 4'000);
  CHECK_THROWS_AS(read(write_frame_header(header)), ArchiveError);

  header.levels.assign(16, {{{SectionId::codes, large}}, 0});
  header.levels.push_back({{{SectionId::codes, 4'000}}, 0});
  REQUIRE(header.payload_bytes() == 4'000);
  CHECK_THROWS_AS(read(write_frame_header(header)), ArchiveError);
}

TEST_CASE("a frame cannot hold more values than its bytes expand to") {
  const auto header = write_frame_header(kept_header());
  const Bytes body = Bytes(header).subspan(frame_prefix_bytes);
  const auto read_as = [&](const Dims& claimed) {
    return read_frame_header(body, claimed, DType::f64).index;
  };
  CHECK(read_as({1000, 1000, 10}) == 300);
  CHECK_THROWS_AS(read_as({1000, 1000, 100}), ArchiveError);
  CHECK_THROWS_AS(read_as({(std::uint64_t{1} << 60) - 1}), ArchiveError);
}

TEST_CASE("the fewest bytes of a payload grow with the values") {
  CHECK(least_payload_bytes(0) == 0);
  CHECK(least_payload_bytes((65 << 16) - 1) == 0);
  CHECK(least_payload_bytes(65 << 16) == 1);
  CHECK(least_payload_bytes(ByteCount{1} << 28) == 4032);
}

TEST_CASE("bytes hold so many frames and values and no more") {
  FrameHeader smallest;
  smallest.levels.resize(1);
  CHECK(write_frame_header(smallest).size() == least_table_bytes);
  CHECK(can_be_frames(460, 10, 1'000));
  CHECK_FALSE(can_be_frames(459, 10, 1'000));
  CHECK(can_be_frames(100, 1, 165 << 16));
  CHECK_FALSE(can_be_frames(100, 1, 166 << 16));
  constexpr std::uint64_t most = std::numeric_limits<std::int64_t>::max();
  CHECK_FALSE(can_be_frames(200, most, most));
  CHECK_FALSE(can_be_frames(200, 1, most));
}

TEST_CASE("a frame's prefix is checked") {
  auto bytes = write_frame_header(kept_header());
  const auto prefix = [&] { return read_frame_prefix(Bytes(bytes).first(frame_prefix_bytes)); };
  REQUIRE(prefix() == bytes.size() - frame_prefix_bytes);
  bytes[7] = std::byte{0x7F};  // a table of 2 GB
  CHECK_THROWS_AS(prefix(), ArchiveError);
  bytes[7] = bytes[6] = bytes[5] = std::byte{0};
  bytes[4] = std::byte{7};  // not even a checksum
  CHECK_THROWS_AS(prefix(), ArchiveError);
  bytes[0] ^= std::byte{1};
  CHECK_THROWS_AS(prefix(), ArchiveError);
  CHECK_THROWS_AS(read_frame_prefix(Bytes(bytes).first(7)), ArchiveError);
}

TEST_CASE("levels are found, cut into sections and checked") {
  const auto payload = to_bytes({1, 2, 3, 4, 5, 6});
  FrameHeader header;
  header.levels.push_back(
      {{{SectionId::codebook, 1}, {SectionId::codes, 3}}, block_hash(Bytes(payload).first(4))});
  header.levels.push_back({{{SectionId::codes, 2}}, block_hash(Bytes(payload).subspan(4))});

  const Sections first = read_level(header, 0, 1, payload).front();
  CHECK(first.has(SectionId::codebook));
  CHECK(first.at(SectionId::codes).size() == 3);
  CHECK(first.at(SectionId::codes)[0] == std::byte{2});
  CHECK(first.size() == 4);
  CHECK_FALSE(first.has(SectionId::index));
  CHECK(first.find(SectionId::index).empty());
  CHECK_THROWS_AS(first.at(SectionId::index), ArchiveError);
  CHECK(read_level(header, 1, 1, payload).front().at(SectionId::codes)[0] == std::byte{5});

  CHECK_THROWS_AS(read_level(header, 2, 1, payload), ArchiveError);
  CHECK_THROWS_AS(read_level(header, 1, 1, Bytes(payload).first(5)), ArchiveError);
  CHECK_THROWS_AS(read_level(header, 1, 1, Bytes(payload).first(3)), ArchiveError);
  auto damaged = payload;
  damaged[5] = std::byte{0};
  CHECK_NOTHROW(read_level(header, 0, 1, damaged));
  CHECK_THROWS_AS(read_level(header, 1, 1, damaged), ArchiveError);
}

TEST_CASE("a level holds the sections of several passes") {
  const auto payload = to_bytes({1, 2, 3, 4, 5, 6});
  FrameHeader header = coded_header();
  header.levels.clear();
  header.levels.push_back(
      {{{SectionId::codes, 2, 1}, {SectionId::index, 1, 1}, {SectionId::codes, 3, 40}},
       block_hash(payload)});
  const FrameHeader again = read(write_frame_header(header));
  REQUIRE(again.levels[0].passes() == 41);
  const std::vector<Sections> passes = read_level(again, 0, 41, payload);
  CHECK(passes[0].list().empty());
  CHECK(passes[1].at(SectionId::index)[0] == std::byte{3});
  CHECK(passes[40].at(SectionId::codes)[0] == std::byte{4});
  CHECK_THROWS_AS(read_level(again, 0, 40, payload), ArchiveError);
}

TEST_CASE("what packed sections were comes back") {
  CHECK_FALSE(coded_header().is_packed());
  const FrameHeader header = packed_header(90'000);
  const FrameHeader back = read(write_frame_header(header));
  CHECK(back.is_packed());
  CHECK(back.payload_bytes() == header.payload_bytes());
  REQUIRE(back.levels[0].sections.size() == 2);
  CHECK_FALSE(back.levels[0].sections[0].unpacked);
  REQUIRE(back.levels[0].sections[1].unpacked);
  CHECK(back.levels[0].sections[1].unpacked->size == 90'000);
  CHECK(back.levels[0].sections[1].unpacked->hash == 0x5678);
}

TEST_CASE("packed sections of several passes come back") {
  const auto payload = to_bytes({1, 2, 3});
  FrameHeader header = coded_header();
  header.levels = {
      {{{SectionId::anchors, 1, 2, Unpacked{10, 1}}, {SectionId::codes, 2, 40, Unpacked{20, 2}}},
       block_hash(payload)}};
  const FrameHeader back = read(write_frame_header(header));
  const std::vector<Sections> passes = read_level(back, 0, 41, payload);
  REQUIRE(passes[2].list().size() == 1);
  REQUIRE(passes[40].list().size() == 1);
  CHECK(passes[2].list()[0].unpacked->size == 10);
  CHECK(passes[40].list()[0].unpacked->size == 20);
  CHECK(passes[40].list()[0].bytes.size() == 2);
}

TEST_CASE("packed sections cannot claim more than the frame's values need") {
  const auto claim = [](ByteCount size) { return read(write_frame_header(packed_header(size))); };
  const ByteCount most = 8 * frame_dims.count() + (1 << 16);
  CHECK(claim(most).is_packed());
  CHECK_THROWS_AS(claim(most + 1), ArchiveError);
  CHECK_THROWS_AS(claim(~ByteCount{0}), ArchiveError);

  FrameHeader header = packed_header(most / 2 + 1);
  CHECK_NOTHROW(read(write_frame_header(header)));
  header.levels[0].sections.push_back({SectionId::index, 10, 0, Unpacked{most / 2, 0}});
  CHECK_THROWS_AS(read(write_frame_header(header)), ArchiveError);
}

TEST_CASE("only sections that may be packed can say so") {
  for (unsigned id = 0; id <= static_cast<unsigned>(SectionId::lattice_hash); ++id) {
    FrameHeader header = packed_header(1'000);
    header.levels[0].sections[1].id = static_cast<SectionId>(id);
    const auto bytes = write_frame_header(header);
    if (id == 3 || id == 7 || id == 8) {
      CHECK(read(bytes).is_packed());
    } else {
      CHECK_THROWS_AS(read(bytes), ArchiveError);
    }
  }
}

TEST_CASE("a packed section is announced once, and then follows") {
  FrameHeader header = coded_header();
  header.levels = {{}};
  const auto without_entries = write_frame_header(header);
  const ByteCount level = 1 + sizeof(std::uint64_t);  // number of entries and hash
  const auto sections_of = [&](std::uint8_t count,
                               const std::vector<std::vector<std::byte>>& list) {
    ByteWriter table;
    table.append(Bytes(without_entries)
                     .subspan(frame_prefix_bytes, without_entries.size() - frame_prefix_bytes -
                                                      level - sizeof(std::uint64_t)));
    table.put(count);
    for (const auto& entry : list) table.append(entry);
    table.put(std::uint64_t{0});
    table.put(block_hash(table.view()));
    return read_frame_header(table.view(), frame_dims, DType::f32).levels.at(0).sections.size();
  };
  const auto announcement = to_bytes({14, 9, 1, 2, 3, 4, 5, 6, 7, 8});
  const auto codes = to_bytes({8, 200, 23});
  CHECK(sections_of(1, {codes}) == 1);
  CHECK(sections_of(2, {announcement, codes}) == 1);
  CHECK_THROWS_AS(sections_of(1, {announcement}), ArchiveError);
  auto of_next_pass = announcement;
  of_next_pass[0] |= std::byte{1} << 4;
  CHECK_THROWS_AS(sections_of(2, {of_next_pass, codes}), ArchiveError);
  CHECK_THROWS_AS(sections_of(3, {announcement, announcement, codes}), ArchiveError);
}

TEST_CASE("optional sections are passed over, and told") {
  const auto payload = to_bytes({1, 2, 3, 4, 5, 6});
  FrameHeader header = coded_header();
  header.levels = {{{{SectionId::optional, 1, 0, {}, 16},
                     {SectionId::codes, 2},
                     {SectionId::optional, 1, 0, {}, 1'000'000},
                     {SectionId::optional, 1, 0, {}, 16},
                     {SectionId::codebook, 1, 2}},
                    block_hash(payload)}};
  const FrameHeader back = read(write_frame_header(header));
  CHECK(back.payload_bytes() == 6);
  CHECK(back.levels[0].sections[2].wide_id == 1'000'000);
  const std::vector<Sections> passes = read_level(back, 0, 3, payload);
  REQUIRE(passes[0].list().size() == 1);
  CHECK(passes[0].at(SectionId::codes)[0] == std::byte{2});
  REQUIRE(passes[2].list().size() == 1);
  CHECK(passes[2].at(SectionId::codebook)[0] == std::byte{6});
  CHECK_THROWS_AS(read_level(back, 0, 2, payload), ArchiveError);
}

TEST_CASE("sections that a reader needs, and optional ones without number or end, are refused") {
  const auto read_as = [](std::size_t count, std::uint64_t wide_id) {
    FrameHeader header = coded_header();
    for (std::size_t i = 0; i < count; ++i) {
      header.levels[0].sections.push_back({SectionId::optional, 1, i / 50, {}, wide_id});
    }
    return read(write_frame_header(header)).levels[0].sections.size();
  };
  CHECK(read_as(1024, 16) == 1026);
  CHECK_THROWS_WITH(read_as(1025, 16), "a frame has too many optional sections");
  CHECK_THROWS_WITH(read_as(1, 15), "a frame has a section of an unknown kind");

  FrameHeader header = coded_header();
  header.levels = {{{{SectionId::optional, 4'000, 0, {}, 16}}, 0}};
  auto bytes = write_frame_header(header);
  const ByteCount hashes = 2 * sizeof(std::uint64_t);  // of the level and of the table
  REQUIRE(bytes[bytes.size() - hashes - 1] == std::byte{32});
  bytes[bytes.size() - hashes - 1] = std::byte{33};
  rehash(MutableBytes(bytes).subspan(frame_prefix_bytes));
  CHECK_THROWS_WITH(
      read(bytes),
      "a frame needs its section of kind 16, which this version does not support; a later one may");

  header = packed_header(9'000);
  header.levels[0].sections[1].id = SectionId::optional;
  header.levels[0].sections[1].wide_id = 16;
  CHECK_THROWS_WITH(read(write_frame_header(header)),
                    "a frame has a packed section of a kind that is never packed");
}

TEST_CASE("kinds and sections have names") {
  CHECK(name_of(FrameKind::stored) == "stored");
  CHECK(name_of(FrameKind::coded) == "coded");
  CHECK(name_of(FrameKind::constant) == "constant");
  CHECK(name_of(SectionId::raw) == "raw");
  CHECK(name_of(SectionId::codes) == "codes");
}

TEST_CASE("a pass has one section of a kind", "[unsanitized]") {
  FrameHeader header = coded_header();
  header.levels = {
      {{{SectionId::codes, 0, 0}, {SectionId::index, 0, 0}, {SectionId::codes, 0, 1}}, 0}};
  CHECK_NOTHROW(read(write_frame_header(header)));
  header.levels[0].sections.push_back({SectionId::codes, 0, 1});
  CHECK_THROWS_AS(read(write_frame_header(header)), ArchiveError);
  header.levels[0].sections.assign(1'000'000, {SectionId::contexts, 0, 0});
  CHECK_THROWS_AS(read(write_frame_header(header)), ArchiveError);
}

}  // namespace cuszi::test

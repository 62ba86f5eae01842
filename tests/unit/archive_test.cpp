#include "core/archive/archive.hpp"

#include <limits>

#include "core/archive/amendment.hpp"
#include "core/base/bytes.hpp"
#include "tests/support/bytes.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/checksums.hpp"

namespace cuszi::test {

namespace {

ArchiveHeader some_header() {
  ArchiveHeader header;
  header.dtype = DType::f64;
  header.mode = ErrorMode::absolute;
  header.bound_asked = 1e-3;
  header.bound_absolute = 2e-3;
  header.fills.add(1e20);
  header.fills.add(-999);
  header.plan = {Dims{4, 100, 7, 1000}, 1, 64};
  return header;
}

/// The header behind its prefix, as it is read.
std::vector<std::byte> body_of(const ArchiveHeader& header) {
  const auto bytes = write_archive_header(header);
  return {bytes.begin() + static_cast<std::ptrdiff_t>(archive_prefix_bytes), bytes.end()};
}

}  // namespace

TEST_CASE("archive headers come back") {
  const ArchiveHeader header = some_header();
  const auto bytes = write_archive_header(header);
  CHECK(read_archive_prefix(Bytes(bytes).first(archive_prefix_bytes)) ==
        bytes.size() - archive_prefix_bytes);
  const ArchiveHeader back = read_archive_header(body_of(header));
  CHECK(back.dtype == header.dtype);
  CHECK(back.mode == header.mode);
  CHECK(back.bound_asked == header.bound_asked);
  CHECK(back.bound_absolute == header.bound_absolute);
  CHECK(back.fills.count == 2);
  CHECK(back.fills.values == header.fills.values);
  CHECK(back.plan.dims == header.plan.dims);
  CHECK(back.plan.axis == 1);
  CHECK(back.plan.height == 64);
}

TEST_CASE("a file that is no archive is told from one of another version") {
  auto bytes = write_archive_header(some_header());
  const auto read = [&] { return read_archive_prefix(Bytes(bytes).first(archive_prefix_bytes)); };
  CHECK_NOTHROW(read());
  CHECK(begins_archive(bytes));
  CHECK_FALSE(begins_archive(Bytes(bytes).first(7)));
  bytes[8] = std::byte{0};
  CHECK_THROWS_WITH(read(), "the archive has format version 0; this cuszi reads version 1");
  CHECK(begins_archive(bytes));
  bytes[0] = std::byte{'P'};
  CHECK_FALSE(begins_archive(bytes));
  CHECK_THROWS_WITH(read(), "not a cuszi archive (it does not begin with the magic bytes)");
  CHECK_THROWS_AS(read_archive_prefix({}), ArchiveError);
  CHECK_THROWS_AS(read_archive_prefix(Bytes(bytes).first(9)), ArchiveError);
}

TEST_CASE("every flipped bit of an archive header is noticed") {
  const auto good = body_of(some_header());
  for (std::size_t i = 0; i < good.size(); ++i) {
    for (unsigned bit = 0; bit < 8; ++bit) {
      auto bytes = good;
      bytes[i] ^= static_cast<std::byte>(1U << bit);
      REQUIRE_THROWS_AS(read_archive_header(bytes), ArchiveError);
    }
  }
  for (std::size_t size = 0; size < good.size(); ++size) {
    REQUIRE_THROWS_AS(read_archive_header(Bytes(good).first(size)), ArchiveError);
  }
}

TEST_CASE("impossible archive headers are refused though their checksum is right") {
  const auto read_changed = [](const auto& change) {
    ArchiveHeader header = some_header();
    change(header);
    return read_archive_header(body_of(header)).plan.height;
  };
  using H = ArchiveHeader;
  constexpr double infinity = std::numeric_limits<double>::infinity();
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK(read_changed([](H&) {}) == 64);
  CHECK_THROWS_AS(read_changed([](H& h) { h.dtype = DType{12}; }), ArchiveError);
  CHECK_THROWS_AS(read_changed([](H& h) { h.mode = ErrorMode{5}; }), ArchiveError);
  for (const double share : {1.0, -0.1, nan, infinity}) {
    CHECK_THROWS_AS(read_changed([&](H& h) {
                      h.mode = ErrorMode::absolute_or_pointwise;
                      h.share_asked = share;
                    }),
                    ArchiveError);
  }
  CHECK_THROWS_AS(read_changed([](H& h) { h.bound_asked = nan; }), ArchiveError);
  CHECK_THROWS_AS(read_changed([](H& h) { h.bound_asked = infinity; }), ArchiveError);
  CHECK_THROWS_AS(read_changed([](H& h) { h.bound_absolute = -1; }), ArchiveError);
  CHECK_THROWS_AS(read_changed([](H& h) { h.bound_absolute = nan; }), ArchiveError);
  CHECK_THROWS_AS(read_changed([](H& h) { h.plan.axis = 4; }), ArchiveError);
  CHECK_THROWS_AS(read_changed([](H& h) { h.plan.axis = 255; }), ArchiveError);
  CHECK_THROWS_AS(read_changed([](H& h) { h.plan.height = 0; }), ArchiveError);
  CHECK_THROWS_AS(read_changed([](H& h) { h.plan.height = 101; }), ArchiveError);
}

TEST_CASE("features that a later version needs are refused by number and name") {
  const auto good = body_of(some_header());
  const auto read = [&](std::uint32_t features, std::string_view names) {
    ByteWriter out;
    out.put(features);
    out.append(std::as_bytes(std::span(names)));
    out.append(Bytes(good).subspan(sizeof features));
    auto bytes = out.take();
    rehash(bytes);
    return read_archive_header(bytes).plan.height;
  };
  CHECK(read(0, "") == 64);
  CHECK_THROWS_WITH(
      read(1, "\x5tiles"),
      "the archive needs feature 0 (tiles), which this version does not support; a later one may");
  CHECK_THROWS_WITH(read(0x80000000U, "\x8wavelet-"),
                    "the archive needs feature 31 (wavelet-), which this version does not support; "
                    "a later one may");
  CHECK_THROWS_WITH(
      read(6, "\x1p\x1q"),
      "the archive needs feature 1 (p), which this version does not support; a later one may");
  CHECK_THROWS_WITH(
      read(3,
           "\x7"
           "amended\x1q"),
      "the archive needs feature 1 (q), which this version does not support; a later one may");
  CHECK_THROWS_WITH(read(1,
                         "\x7"
                         "amended"),
                    "an amended archive is nested in another");
  const char* const none = "the header needs a feature without a name";
  CHECK_THROWS_WITH(read(1, std::string_view("\0", 1)), none);
  CHECK_THROWS_WITH(read(1, "\x2\n "), none);
  CHECK_THROWS_WITH(read(1, "\xfftoo long"), "the header is truncated");
}

TEST_CASE("headers of amended archives come back, and impossible ones are refused") {
  Amendment good;
  good.base_bytes = 1000;
  good.dims = Dims{7, 8, 9};
  good.box = {{1, 2, 3, 0}, {8, 10, 12, Box::no_end}};
  good.grid = ValueGrid::of(DType::f32, {ValueBound::Kind::either, 1e-3, 0.25});
  good.hole = 0x7FC0C521;
  good.exact_bytes = 50;
  good.inner_bytes = 2000;
  const auto read = [&](const auto& change) {
    Amendment changed = good;
    change(changed);
    const std::vector<std::byte> bytes = write_amended_header(changed);
    REQUIRE(read_archive_prefix(Bytes(bytes).first(archive_prefix_bytes)) ==
            bytes.size() - archive_prefix_bytes);
    return read_amended_header(Bytes(bytes).subspan(archive_prefix_bytes)).value();
  };
  const Amendment back = read([](Amendment&) {});
  CHECK(back.dims == good.dims);
  CHECK(back.box == good.box);
  CHECK(back.grid.bound.share == 0.25);
  CHECK(back.bytes() == 3050);
  CHECK(read([](Amendment& a) { a.grid = ValueGrid::of(DType::f32, 0.5); }).grid.step == 1);
  CHECK_THROWS_AS(read([](Amendment& a) { a.grid = {ValueGrid::Kind::even, 0, 0}; }), ArchiveError);
  CHECK_THROWS_AS(read([](Amendment& a) { a.grid.bound.share = 1; }), ArchiveError);
  CHECK_THROWS_AS(read([](Amendment& a) { a.grid.bound.bound = -1; }), ArchiveError);
  CHECK_THROWS_AS(read([](Amendment& a) { a.inner_bytes = ~ByteCount{0}; }), ArchiveError);

  CHECK(back.hole == 0x7FC0C521);
  CHECK_FALSE(read([](Amendment& a) { a.hole.reset(); }).hole.has_value());

  ArchiveHeader base = some_header();
  base.plan = {Dims{8, 10, 12}, 0, 8};
  CHECK_NOTHROW(check_amendment(good, base));
  base.dtype = DType::u8;
  CHECK_NOTHROW(check_amendment(good, base));
  base.dtype = DType::u64;
  CHECK_THROWS_AS(check_amendment(good, base), ArchiveError);
  base.dtype = DType::f64;
  base.plan.dims = Dims{8, 10, 11};
  CHECK_THROWS_AS(check_amendment(good, base), ArchiveError);
  base.plan.dims = Dims{80, 12};
  CHECK_THROWS_AS(check_amendment(good, base), ArchiveError);
  good.dims = Dims{std::uint64_t{1} << 40};
  good.box = {};
  base.plan.dims = good.dims;
  CHECK_THROWS_AS(check_amendment(good, base), ArchiveError);
}

TEST_CASE("header bodies that no writer makes are refused") {
  const auto header = [](std::uint8_t fills, std::initializer_list<std::uint64_t> extents,
                         std::size_t extra) {
    ByteWriter out;
    out.put(std::uint32_t{0});
    out.put(DType::f32);
    out.put(ErrorMode::absolute);
    out.put(1.0);
    out.put(1.0);
    out.put(fills);
    for (int i = 0; i < fills; ++i) out.put(0.0);
    out.put(static_cast<std::uint8_t>(extents.size()));
    for (const std::uint64_t extent : extents) out.varint(extent);
    out.put(std::uint8_t{0});
    out.varint(1);
    out.append(std::vector<std::byte>(extra + sizeof(std::uint64_t)));
    auto bytes = out.take();
    rehash(bytes);
    return read_archive_header(bytes).plan.dims.rank();
  };
  CHECK(header(0, {5, 6}, 0) == 2);
  CHECK(header(16, {5, 6}, 0) == 2);
  CHECK_THROWS_AS(header(17, {5, 6}, 0), ArchiveError);
  CHECK_THROWS_AS(header(0, {}, 0), ArchiveError);
  CHECK_THROWS_AS(header(0, {5, 0}, 0), ArchiveError);
  CHECK_THROWS_AS(header(0, {1, 2, 3, 4, 5}, 0), ArchiveError);
  CHECK_THROWS_AS(header(0, {std::uint64_t{1} << 32, std::uint64_t{1} << 32}, 0), ArchiveError);
  CHECK_THROWS_AS(header(0, {5, 6}, 1), ArchiveError);
}

TEST_CASE("footers come back") {
  for (const std::size_t frames : {1U, 2U, 1000U}) {
    std::vector<ByteCount> sizes(frames);
    for (std::size_t i = 0; i < frames; ++i) sizes[i] = 100 + i * i * 1'000'003;
    const auto footer = write_archive_footer(sizes);
    CHECK(read_archive_trailer(Bytes(footer).last(archive_trailer_bytes)) == footer.size());
    CHECK(read_archive_footer(footer) == sizes);
  }
}

TEST_CASE("damaged footers are refused") {
  const auto good = write_archive_footer({500, 70'000});
  for (std::size_t i = 0; i < good.size(); ++i) {
    auto bytes = good;
    bytes[i] ^= std::byte{0x10};
    const auto read = [&] {
      const ByteCount size = read_archive_trailer(Bytes(bytes).last(archive_trailer_bytes));
      if (size != bytes.size()) throw ArchiveError("another size");
      return read_archive_footer(bytes).size();
    };
    CHECK_THROWS_AS(read(), ArchiveError);
  }
  CHECK_THROWS_AS(read_archive_trailer(Bytes(good).first(5)), ArchiveError);
  ByteWriter tiny;
  tiny.put(std::uint64_t{19});
  tiny.append(Bytes(good).last(4));
  CHECK_THROWS_AS(read_archive_trailer(tiny.view()), ArchiveError);
}

}  // namespace cuszi::test

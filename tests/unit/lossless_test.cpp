#include "core/base/lossless.hpp"

#include "core/base/error.hpp"
#include "test_data/fields.hpp"
#include "tests/support/bytes.hpp"
#include "tests/support/catch.hpp"

namespace cuszi::test {

TEST_CASE("zstd sections come back, and only at their own size") {
  const auto bytes = make_field(FieldKind::steps, {33, 20}, DType::f32, 1);
  for (const int level : {1, 3, 19}) {
    const auto packed = zstd_compress(bytes, level);
    std::vector<std::byte> out(bytes.size());
    zstd_decompress(packed, out);
    CHECK(out == bytes);
    std::vector<std::byte> shorter(bytes.size() - 1);
    CHECK_THROWS_AS(zstd_decompress(packed, shorter), ArchiveError);
    std::vector<std::byte> longer(bytes.size() + 1);
    CHECK_THROWS_AS(zstd_decompress(packed, longer), ArchiveError);
    CHECK_THROWS_AS(zstd_decompress(Bytes(packed).first(packed.size() - 1), out), ArchiveError);
    CHECK_THROWS_AS(zstd_decompress({}, out), ArchiveError);
  }
}

TEST_CASE("zstd pieces come back whatever their number, and only at their own size") {
  constexpr ByteCount piece = ByteCount{1} << 17;
  for (const ByteCount size : {ByteCount{0}, ByteCount{1}, piece, piece + 1, 3 * piece + 7}) {
    INFO(size << " bytes");
    auto bytes = make_field(FieldKind::steps, {1 + size / 4}, DType::f32, 1);
    bytes.resize(size);
    const auto packed = zstd_compress_pieces(bytes, 1, one_by_one);
    std::vector<std::byte> out(size);
    zstd_decompress_pieces(packed, out, one_by_one);
    CHECK(out == bytes);
    std::vector<std::byte> longer(size + 1);
    CHECK_THROWS_AS(zstd_decompress_pieces(packed, longer, one_by_one), ArchiveError);
    if (size <= piece) continue;
    CHECK_THROWS_AS(zstd_decompress_pieces(Bytes(packed).first(5), out, one_by_one), ArchiveError);
    CHECK_THROWS_AS(zstd_decompress_pieces(Bytes(packed).first(packed.size() - 1), out, one_by_one),
                    ArchiveError);
  }
}

TEST_CASE("packed values come back bit for bit") {
  for (const DType dtype : {DType::f32, DType::f64}) {
    for (const FieldKind kind : {FieldKind::wide, FieldKind::missing, FieldKind::constant}) {
      for (const std::uint64_t count : {1U, 2U, 1000U}) {
        const auto bytes = make_field(kind, {count}, dtype, 1);
        const auto packed = pack_values(bytes, size_of(dtype));
        std::vector<std::byte> out(bytes.size());
        unpack_values(packed, size_of(dtype), out);
        CHECK(out == bytes);
      }
    }
  }
}

TEST_CASE("values that vary little pack well") {
  const auto ramp = make_field(FieldKind::ramp, {10'000}, DType::f64, 1);
  const auto constant = make_field(FieldKind::constant, {10'000}, DType::f64, 1);
  CHECK(pack_values(ramp, 8).size() < ramp.size() * 9 / 10);
  CHECK(pack_values(constant, 8).size() < 100);
}

}  // namespace cuszi::test

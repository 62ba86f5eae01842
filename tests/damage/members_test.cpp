#include <sys/mman.h>

#include <ctime>

#include "codec/archive/archive_reader.hpp"
#include "core/base/error.hpp"
#include "test_data/fields.hpp"
#include "tests/support/archive_codec.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/hostile_archive.hpp"
#include "tests/support/sample_archives.hpp"
#include "tests/support/sanitized.hpp"

namespace cuszi::test {

namespace {

using Archive = std::vector<std::byte>;

Archive joined(std::initializer_list<Archive> parts) {
  Archive all;
  for (const Archive& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

Archive archive_of(const Dims& dims, std::uint64_t seed, PredictorId predictor,
                   double bound = 1e-3) {
  FieldSettings settings;
  settings.mode = ErrorMode::absolute;
  settings.bound = bound;
  settings.frame.predictor.id = predictor;
  if (predictor == PredictorId::multilevel) settings.frame.coder = CoderId::ans;
  const auto values = make_values<float>(FieldKind::smooth, dims, seed);
  return make_archive(dims, DType::f32, std::as_bytes(std::span(values)), settings);
}

Archive step(std::uint64_t slices, std::uint64_t seed) {
  return archive_of({slices, 5, 6}, seed, PredictorId::lorenzo);
}

std::size_t members_of(Bytes archive) {
  MemorySource source(archive);
  return ArchiveReader(source).members();
}

ByteCount unfinished_of(Bytes archive) {
  MemorySource source(archive);
  return ArchiveReader(source).unfinished_bytes();
}

}  // namespace

TEST_CASE("archives one behind the other are one field") {
  for (const PredictorId predictor :
       {PredictorId::lorenzo, PredictorId::multilevel, PredictorId::tiles, PredictorId::cells}) {
    const Archive first = archive_of({5, 20, 30}, 1, predictor);
    const Archive second = archive_of({3, 20, 30}, 2, PredictorId::lorenzo);
    const Archive third = archive_of({9, 20, 30}, 3, predictor);
    const Archive all = joined({first, second, third});
    const Archive values =
        joined({restore_archive(first), restore_archive(second), restore_archive(third)});
    CHECK(members_of(all) == 3);
    REQUIRE(restore_archive(all) == values);
    REQUIRE(read_hostile(all) == Outcome::restored);
    const Dims dims{17, 20, 30};
    MemorySource boxed(all);
    const Box box{{4, 2}, {10, 20, 30, 1}};
    const RestoredPreview part = restore_preview(boxed, 1, box);
    CHECK(part.dims == Dims{6, 18, 30});
    for (const std::uint64_t stride : {2U, 4U}) {
      MemorySource thin(all);
      const RestoredPreview shown = restore_preview(thin, stride);
      CHECK(shown.values == thinned(values, 4, dims, shown.dims, stride));
    }
    MemorySource source(all);
    ArchiveReader reader(source);
    CHECK(reader.header().plan.dims == dims);
    CHECK(reader.frame(2).header.index == 2);
    CHECK(reader.frame(0).header.index == 0);
    CHECK_THROWS_AS(reader.frame(3), UsageError);
  }
}

TEST_CASE("members have one type and equal extents behind the slowest axis") {
  const Archive first = step(2, 1);
  const auto refused = [&](const Archive& second) {
    REQUIRE_THROWS_AS(members_of(joined({first, second})), ArchiveError);
  };
  refused(archive_of({2, 5, 7}, 1, PredictorId::lorenzo));
  refused(archive_of({10, 6}, 1, PredictorId::lorenzo));
  const std::vector<double> doubles(60);
  refused(make_archive({2, 5, 6}, DType::f64, std::as_bytes(std::span(doubles)), {}));
  const Archive lines =
      joined({archive_of({40}, 1, PredictorId::lorenzo), archive_of({1}, 2, PredictorId::lorenzo)});
  CHECK(members_of(lines) == 2);
}

TEST_CASE("a field of members has a bound that holds for all") {
  const auto bound_of = [](const Archive& archive) {
    MemorySource source(archive);
    return ArchiveReader(source).header();
  };
  const auto with = [](ErrorMode mode, double bound, double share = 0) {
    FieldSettings settings;
    settings.mode = mode;
    settings.bound = bound;
    settings.share = share;
    const auto values = make_values<float>(FieldKind::smooth, Dims{2, 5, 6}, 1);
    return make_archive(Dims{2, 5, 6}, DType::f32, std::as_bytes(std::span(values)), settings);
  };
  const ArchiveHeader same = bound_of(joined({step(2, 1), step(1, 2)}));
  CHECK(same.mode == ErrorMode::absolute);
  CHECK(same.bound_asked == 1e-3);
  const ArchiveHeader mixed = bound_of(joined({step(2, 1), with(ErrorMode::relative, 1e-2)}));
  CHECK(mixed.mode == ErrorMode::absolute);
  CHECK(mixed.bound_asked == mixed.bound_absolute);
  CHECK(mixed.bound_absolute > 1e-3);
  const ArchiveHeader shares =
      bound_of(joined({with(ErrorMode::pointwise, 1e-2), with(ErrorMode::pointwise, 2e-2)}));
  CHECK(shares.mode == ErrorMode::pointwise);
  CHECK(shares.bound_asked == 2e-2);
  const ArchiveHeader both = bound_of(joined({with(ErrorMode::pointwise, 1e-2), step(1, 2)}));
  CHECK(both.mode == ErrorMode::absolute_or_pointwise);
  CHECK(both.bound_asked == 1e-3);
  CHECK(both.share_asked == 1e-2);
}

TEST_CASE("a member that its writer has not finished is passed over") {
  const Archive whole = joined({step(2, 1), step(1, 2)});
  const Archive values = restore_archive(whole);
  const Archive next = step(3, 3);
  for (std::size_t size = 1; size < next.size(); ++size) {
    INFO(size << " bytes");
    Archive cut =
        joined({whole, Archive(next.begin(), next.begin() + static_cast<std::ptrdiff_t>(size))});
    REQUIRE(unfinished_of(cut) == size);
    REQUIRE(restore_archive(cut) == values);
    REQUIRE(read_hostile(cut) == Outcome::restored);
    if (size < 12) continue;
    cut.resize(whole.size() + next.size());  // the file is longer than what was written
    if (size + 12 <= next.size()) {
      REQUIRE(unfinished_of(cut) == next.size());
    } else {
      REQUIRE_THROWS_AS(unfinished_of(cut), ArchiveError);
    }
  }
  REQUIRE(unfinished_of(joined({whole, Archive(50)})) == 50);
  REQUIRE(read_hostile(joined({step(2, 1), Archive(50)})) == Outcome::restored);
  REQUIRE_THROWS_AS(unfinished_of(joined({whole, Archive(50, std::byte{7})})), ArchiveError);
}

TEST_CASE("every flipped byte of a member is noticed") {
  const Archive good = joined({step(2, 1), step(1, 2), step(1, 3)});
  for (std::size_t i = 0; i < good.size(); ++i) {
    Archive damaged = good;
    damaged[i] ^= std::byte{0x55};
    INFO("byte " << i);
    REQUIRE_THROWS_AS(restore_archive(damaged), ArchiveError);
  }
}

TEST_CASE("a pipe has one member") {
  const Archive all = joined({step(2, 1), step(1, 2)});
  PipeSource pipe(all);
  REQUIRE_THROWS_AS(restore_archive(pipe), ArchiveError);
}

TEST_CASE("ten thousand members open at once") {
  constexpr std::size_t count = sanitized ? 100 : 10'000;
  const Archive one = step(1, 1);
  Archive all;
  for (std::size_t i = 0; i < count; ++i) all.insert(all.end(), one.begin(), one.end());
  FileDescriptor file(::memfd_create("members", MFD_CLOEXEC));
  REQUIRE(write_all(file.get(), all));
  FileSource source(std::move(file), "members");
  const std::clock_t start = std::clock();
  ArchiveReader reader(source);
  const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  CHECK(reader.header().plan.dims == Dims{count, 5, 6});
  CHECK(reader.frame(count - 1).header.index == count - 1);
  INFO(seconds << " s");
  CHECK((sanitized || seconds < 0.05));
}

}  // namespace cuszi::test

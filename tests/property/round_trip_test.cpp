#include <array>
#include <iostream>

#include "cpu_ref/session/cpu_backend.hpp"
#include "tests/property/random_frame.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/check_frame.hpp"

namespace cuszi::test {

namespace {

/// How often the random frames exercised what: a sample that misses a path proves nothing of it.
struct Coverage {
  std::array<int, 8> kinds{};  ///< [FrameKind]
  int outliers = 0;
  int patches = 0;
  int coded_masks = 0;

  void add(const CompressedFrame& frame) {
    ++kinds.at(static_cast<std::size_t>(frame.header.kind));
    outliers += frame.outliers != 0 ? 1 : 0;
    patches += frame.patches != 0 ? 1 : 0;
    const bool coded = frame.header.kind == FrameKind::coded;
    coded_masks += coded && frame.header.missing != 0 ? 1 : 0;
  }
};

/// Makes a random frame of `min_points` to `max_points` points.
using MakeFrame = RandomFrame (*)(Random&, std::uint64_t min_points, std::uint64_t max_points);

Coverage check_random_frames(std::uint64_t seed, int count, std::uint64_t min_points,
                             std::uint64_t max_points, MakeFrame make = random_frame) {
  const auto backend = cpu::make_backend();
  Random random(seed);
  Coverage coverage;
  for (int i = 0; i < count; ++i) {
    const RandomFrame frame = make(random, min_points, max_points);
    INFO("frame " << i << " of seed " << seed << ": " << frame.to_string());
    coverage.add(check_frame_twice(*backend, frame.task, frame.values()));
  }
  return coverage;
}

/// Checks `count` frames of each of `seeds` seeds from `first` on, and prints each seed.
void check_seeds(std::uint64_t first, std::uint64_t seeds, int count, const char* what,
                 std::uint64_t max_points, MakeFrame make) {
  for (const std::uint64_t seed : thorough_seeds(first, seeds)) {
    check_random_frames(seed, count, 1, max_points, make);
    std::cout << "seed " << seed << ": " << count << ' ' << what << '\n' << std::flush;
  }
}

}  // namespace

TEST_CASE("any tiny field with any parameters keeps its promises") {
  const Coverage coverage = check_random_frames(1, some_of(3000), 1, 300);
  CHECK(coverage.kinds[static_cast<std::size_t>(FrameKind::stored)] > expected_of(50));
}

TEST_CASE("any field with any parameters keeps its promises") {
  const Coverage coverage = check_random_frames(2, some_of(700), 2'000, 30'000);
  CHECK(coverage.kinds[static_cast<std::size_t>(FrameKind::lossless)] > expected_of(3));
  CHECK(coverage.kinds[static_cast<std::size_t>(FrameKind::predicted)] > expected_of(30));
  CHECK(coverage.kinds[static_cast<std::size_t>(FrameKind::coded)] > expected_of(300));
  CHECK(coverage.outliers > expected_of(100));
  CHECK(coverage.patches > expected_of(3));
  CHECK(coverage.coded_masks > expected_of(50));
}

TEST_CASE("fields around an offset keep their promises under bounds near the type's precision") {
  const Coverage coverage = check_random_frames(4, some_of(3000), 100, 3000, random_offset_frame);
  CHECK(coverage.kinds[static_cast<std::size_t>(FrameKind::coded)] > expected_of(1500));
  CHECK(coverage.outliers > expected_of(100));
  CHECK(coverage.patches > expected_of(3));
}

TEST_CASE("100 000 fields around an offset keep their promises", "[.thorough]") {
  check_seeds(500, 100, 1000, "fields around an offset", 3000, random_offset_frame);
}

TEST_CASE("a million fields of cells keep their promises", "[.thorough]") {
  check_seeds(600, 100, 10'000, "fields of cells", 600, random_cells_frame);
}

TEST_CASE("any field of any type with any parameters keeps its promises") {
  const Coverage coverage =
      check_random_frames(7, some_of(2000), 1, 3000, random_frame_of_any_type);
  CHECK(coverage.kinds[static_cast<std::size_t>(FrameKind::coded)] > expected_of(300));
}

TEST_CASE("a million fields of any type keep their promises", "[.thorough]") {
  check_seeds(800, 100, 10'000, "fields of any type", 600, random_frame_of_any_type);
}

TEST_CASE("fields of several blocks of every list and coder task keep their promises") {
  const Coverage coverage = check_random_frames(3, sanitized ? 2 : 8, 270'000, 700'000);
  CHECK(coverage.kinds[static_cast<std::size_t>(FrameKind::coded)] > expected_of(4));
}

}  // namespace cuszi::test

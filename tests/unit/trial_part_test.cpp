#include "core/tuning/trial_part.hpp"

#include <set>

#include "core/choices/trials.hpp"
#include "tests/support/bytes.hpp"
#include "tests/support/catch.hpp"

namespace cuszi::test {

namespace {

const Dims vast{256, 320, 384};

Lattice lattice_of(const Dims& dims, const Roles& roles) { return Lattice::of(dims, false, roles); }

}  // namespace

TEST_CASE("small frames are tried whole, larger ones in a box, vast ones in boxes") {
  const TrialPart small = trial_part({40, 50, 60});
  CHECK(small.all());
  CHECK(small.dims() == Dims{40, 50, 60});
  const TrialPart box = trial_part({128, 128, 256});
  CHECK(box.boxes.size() == 1);
  CHECK(box.points() == std::uint64_t{1} << 19);
  const TrialPart boxes = trial_part(vast);
  CHECK(boxes.boxes.size() == TrialPart::most_boxes);
  CHECK(boxes.points() <= vast.count() / 16);
  CHECK(boxes.points() >= vast.count() / 64);
}

TEST_CASE("boxes lie in the frame, and apart along every axis") {
  const TrialPart part = TrialPart::of(vast, std::uint64_t{1} << 17, 8);
  REQUIRE(part.boxes.size() == 8);
  for (std::size_t axis = 0; axis < 3; ++axis) {
    std::set<std::uint64_t> starts;
    for (const Selection& box : part.boxes) {
      CHECK(box.dims() == part.boxes.front().dims());
      CHECK(box.end[axis] <= vast[static_cast<int>(axis)]);
      starts.insert(box.first[axis]);
    }
    CHECK(starts.size() == 8);
  }
}

TEST_CASE("boxes of a frame with four axes would need a fifth") {
  CHECK(TrialPart::of({64, 64, 64, 64}, std::uint64_t{1} << 17, 8).boxes.size() == 1);
}

TEST_CASE("the array of boxes has the frame's roles, and boxes are independent") {
  const TrialPart part = TrialPart::of(vast, std::uint64_t{1} << 17, 8);
  Roles roles{};
  roles[1] = AxisRole::layered;
  const Lattice lattice = part.lattice_like(lattice_of(vast, roles));
  CHECK(lattice.extents[0] == 8);
  CHECK(lattice.extents[1] == part.boxes.front().dims()[0]);
  CHECK(lattice.roles ==
        Roles{AxisRole::independent, AxisRole::layered, AxisRole::lattice, AxisRole::lattice});
  CHECK(lattice.flaw() == nullptr);
  const TrialPart whole = TrialPart::whole(vast);
  CHECK(whole.lattice_like(lattice_of(vast, roles)) == lattice_of(vast, roles));

  const Dims particles{std::uint64_t{1} << 25};
  const TrialPart rows = TrialPart::of(particles, std::uint64_t{1} << 18, 8);
  CHECK(rows.dims() == Dims{8, std::uint64_t{1} << 18});
  CHECK(rows.lattice_like(lattice_of(particles, {})).roles[2] == AxisRole::independent);
}

TEST_CASE("the values and missing points of boxes follow each other") {
  const std::vector<float> values{0, 1, 2, 3, 4, 5, 6, 7};
  const std::vector<Selection> boxes{{{8}, {1}, {1, 1, 1, 1}, {3}}, {{8}, {5}, {1, 1, 1, 1}, {7}}};
  std::vector<float> picked(4);
  pick(boxes, DType::f32, bytes_of(values), std::as_writable_bytes(std::span(picked)));
  CHECK(picked == std::vector<float>{1, 2, 5, 6});
  Mask mask;
  mask.words = {0b0100'0100};  // points 2 and 6
  mask.count = 2;
  mask.values = to_vector(bytes_of(std::vector<float>{-2, -6}));
  const Mask missing = pick(boxes, DType::f32, mask);
  CHECK(missing.words == std::vector<std::uint64_t>{0b1010});
  CHECK(missing.values == mask.values);
}

}  // namespace cuszi::test

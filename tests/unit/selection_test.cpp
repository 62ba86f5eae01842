#include "core/field/selection.hpp"

#include "tests/support/bytes.hpp"
#include "tests/support/catch.hpp"

namespace cuszi::test {

TEST_CASE("a selection counts its points") {
  const Selection all{{5, 6}, {}, {1, 1, 1, 1}};
  CHECK(all.all());
  CHECK(all.dims() == Dims{5, 6});
  const Selection some{{5, 6}, {1, 0}, {2, 4, 1, 1}};
  CHECK(some.dims() == Dims{2, 2});
  CHECK_FALSE(some.all());
  const Selection none{{5, 6}, {5, 0}, {8, 1, 1, 1}};
  CHECK(none.points() == 0);
}

TEST_CASE("boxes stand around the middles of their shares of the diagonal") {
  const Selection whole = box_of({5, 6}, 30);
  CHECK(whole.all());
  const Selection middle = box_of({40, 6}, 60);
  CHECK(middle.dims() == Dims{10, 6});
  CHECK(middle.first[0] == 15);
  const Selection last = box_of({40, 6}, 60, 1, 2);
  CHECK(last.dims() == Dims{10, 6});
  CHECK(last.first[0] == 22);
}

TEST_CASE("picked values and missing points stand in raster order") {
  const std::vector<float> values{0, 1, 2, 3, 10, 11, 12, 13, 20, 21, 22, 23};
  const Selection selection{{3, 4}, {0, 1}, {2, 2, 1, 1}};
  std::vector<float> picked(selection.points());
  pick(selection, DType::f32, bytes_of(values), std::as_writable_bytes(std::span(picked)));
  CHECK(picked == std::vector<float>{1, 3, 21, 23});

  Mask mask;
  mask.words = {0b1010'0001'0010};  // points 1, 4, 9, 11
  mask.count = 4;
  mask.values = to_vector(bytes_of(std::vector<float>{-1, -4, -9, -11}));
  const Mask missing = pick(selection, DType::f32, mask);
  CHECK(missing.words == std::vector<std::uint64_t>{0b1101});
  CHECK(missing.count == 3);
  CHECK(missing.values == to_vector(bytes_of(std::vector<float>{-1, -9, -11})));
}

}  // namespace cuszi::test

#include <limits>
#include <vector>

#include "cpu_ref/field/metrics.hpp"
#include "gpu/field/metrics.cuh"
#include "gpu/runtime/copies.hpp"
#include "test_data/random.hpp"
#include "tests/gpu/device.hpp"
#include "tests/support/bytes.hpp"
#include "tests/support/catch.hpp"

namespace cuszi::test {

namespace {

/// A frame with missing points, zeros and negative values, and what it may come back as.
template <class T>
struct Compared {
  std::vector<T> original;
  std::vector<T> restored;

  Compared(Random& random, std::uint64_t points, double scale, bool holes) {
    const T odd[] = {std::numeric_limits<T>::quiet_NaN(), std::numeric_limits<T>::infinity(), T{7},
                     T{0}, -T{0}};
    for (std::uint64_t i = 0; i < points; ++i) {
      const auto wave = static_cast<T>(scale * static_cast<double>(i % 100) / 100 - scale / 3);
      original.push_back(holes && random.one_in(60) ? random.pick(odd) : wave);
      const auto error = static_cast<T>((random.uniform() - 0.5) * scale / 100);
      restored.push_back(holes && random.one_in(300) ? random.pick(odd) : original.back() + error);
    }
  }
};

void require_same(const PairSums& found, const PairSums& expected) {
  CHECK(found.pairs == expected.pairs);
  CHECK(found.x == expected.x);
  CHECK(found.y == expected.y);
  CHECK(found.xx == expected.xx);
  CHECK(found.yy == expected.yy);
  CHECK(found.xy == expected.xy);
}

template <class T>
void compare(gpu::DeviceContext& gpu, Random& random, const Dims& dims, double scale, bool holes) {
  INFO(dims.to_string() << " of about " << scale);
  FillValues fills;
  if (random.one_in(2)) fills.add(7);
  const Compared<T> frame(random, dims.count(), scale, holes);
  const Fidelity expected = cpu::measure_fidelity(dtype_of<T>, dims, bytes_of(frame.original),
                                                  bytes_of(frame.restored), fills);
  gpu.reset();
  const auto there = [&](const std::vector<T>& values) {
    return Bytes(reinterpret_cast<const std::byte*>(upload(gpu, values.data(), values.size())),
                 values.size() * sizeof(T));
  };
  const Fidelity found = gpu::measure_fidelity(gpu, {dtype_of<T>, dims}, there(frame.original),
                                               there(frame.restored), fills);
  CHECK(found.points == expected.points);
  CHECK(found.missing == expected.missing);
  CHECK(found.missing_kept == expected.missing_kept);
  CHECK(found.zeros == expected.zeros);
  CHECK(found.zeros_kept == expected.zeros_kept);
  CHECK(found.negative == expected.negative);
  CHECK(found.made_negative == expected.made_negative);
  CHECK(found.error_sum == expected.error_sum);
  CHECK(found.exponent == expected.exponent);
  for (std::size_t axis = 0; axis < Dims::max_rank; ++axis) {
    require_same(found.neighbours[axis], expected.neighbours[axis]);
  }
  CHECK(found.ssim_sum == expected.ssim_sum);
  CHECK(found.ssim_windows == expected.ssim_windows);
}

}  // namespace

TEST_CASE("fidelity measured on the device is the host's", "[gpu][metrics]") {
  if (device() == nullptr) return;
  gpu::DeviceContext gpu;
  Random random(19);
  for (const Dims& dims :
       {Dims{1}, Dims{5}, Dims{100'000}, Dims{9, 8193}, Dims{300, 8}, Dims{200, 313},
        Dims{20, 1, 70}, Dims{17, 33, 65}, Dims{40, 64, 100}, Dims{3, 4, 30, 40}}) {
    for (const bool holes : {false, true}) {
      for (const double scale : {1.0, 1e-30, 1e30}) compare<float>(gpu, random, dims, scale, holes);
      for (const double scale : {1.0, 1e-200, 1e300}) {
        compare<double>(gpu, random, dims, scale, holes);
      }
    }
  }
}

TEST_CASE("fidelity of a few values, for memory and race checkers", "[gpu][.checker]") {
  if (device() == nullptr) return;
  gpu::DeviceContext gpu;
  Random random(20);
  compare<float>(gpu, random, Dims{9, 20, 30}, 1, true);
  compare<double>(gpu, random, Dims{50, 60}, 1, true);
}

}  // namespace cuszi::test

#include <functional>
#include <limits>
#include <optional>

#include "core/archive/predictor.hpp"
#include "core/base/error.hpp"
#include "cpu_ref/session/cpu_backend.hpp"
#include "test_data/random.hpp"
#include "tests/gpu/device.hpp"
#include "tests/support/bytes.hpp"
#include "tests/support/catch.hpp"

namespace cuszi::test {

namespace {

using IsMissing = std::function<bool(std::uint64_t point)>;

struct MaskKind {
  const char* name;
  IsMissing is_missing;
};

/// Masks that are coded in every form, in dims whose rows and slices begin anywhere in a word.
std::vector<MaskKind> masks_of(const Dims& dims) {
  const Extents3 e = dims.as_3d();
  const std::uint64_t slice = e[1] * e[2];
  const auto noise = [](std::uint64_t i) { return Random(i).one_in(3); };
  return {{"one", [last = dims.count() - 1](std::uint64_t i) { return i == last; }},
          {"rare", [](std::uint64_t i) { return Random(i).one_in(300); }},
          {"columns", [=](std::uint64_t i) { return noise(i / slice * e[2] + i % e[2]); }},
          {"slices", [=](std::uint64_t i) { return noise(i % slice); }},
          {"curtains", [=](std::uint64_t i) { return noise(i % e[2]); }},
          {"noise", noise},
          {"all", [](std::uint64_t) { return true; }}};
}

template <class T>
std::vector<T> with_missing(const Dims& dims, const IsMissing& is_missing, bool alike) {
  std::vector<T> values(dims.count());
  for (std::uint64_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<T>(i % 7);
    if (!is_missing(i)) continue;
    values[i] = std::numeric_limits<T>::infinity();
    if (!alike && i % 2 == 0) values[i] = -values[i];
  }
  return values;
}

FrameMask mask_of(Backend& backend, const FrameShape& shape, Bytes values) {
  return backend.encode(shape, values, {}, draft_predictor(FrameConfig{}, shape.dims), {})->mask();
}

/// A frame of zeros under a mask; nothing where that is refused.
std::optional<std::vector<std::byte>> filled(Backend& backend, const FrameShape& shape,
                                             const FrameMask& mask) {
  std::vector<std::byte> values(shape.bytes());
  try {
    const auto session = backend.decode({});
    session->fill({shape, 0, 0, mask, values}, 0);
  } catch (const ArchiveError&) {
    return std::nullopt;
  }
  return values;
}

template <class T>
void check_masks(Backend& cpu, Backend& gpu, const Dims& dims) {
  const FrameShape shape{dtype_of<T>, dims};
  for (const auto& [name, is_missing] : masks_of(dims)) {
    for (const bool alike : {true, false}) {
      INFO(dims.to_string() << ' ' << name << (alike ? ", alike" : ""));
      const std::vector<T> values = with_missing<T>(dims, is_missing, alike);
      const FrameMask mask = mask_of(cpu, shape, bytes_of(values));
      REQUIRE((mask_of(gpu, shape, bytes_of(values)) == mask));
      const auto expected = filled(cpu, shape, mask);
      REQUIRE(expected.has_value());
      REQUIRE((filled(gpu, shape, mask) == expected));
    }
  }
}

}  // namespace

TEST_CASE("masks of every form are the same on both backends", "[gpu][masks]") {
  Backend* const gpu = device();
  if (gpu == nullptr) return;
  const auto cpu = cpu::make_backend();
  for (const Dims& dims : {Dims{1}, Dims{70}, Dims{100'000}, Dims{65, 33}, Dims{300, 7},
                           Dims{40, 41, 50}, Dims{9, 64, 128}, Dims{3, 9, 20, 31}}) {
    check_masks<float>(*cpu, *gpu, dims);
    check_masks<double>(*cpu, *gpu, dims);
  }
}

TEST_CASE("damaged masks are refused where the CPU refuses them", "[gpu][masks]") {
  Backend* const gpu = device();
  if (gpu == nullptr) return;
  const auto cpu = cpu::make_backend();
  const FrameShape shape{DType::f32, Dims{20, 30, 40}};
  Random random(1);
  for (const auto& [name, is_missing] : masks_of(shape.dims)) {
    const std::vector<float> values = with_missing<float>(shape.dims, is_missing, true);
    const FrameMask mask = mask_of(*cpu, shape, bytes_of(values));
    for (int round = 0; !mask.bits.gaps.empty() && round < 50; ++round) {
      INFO(name << ", round " << round);
      FrameMask damaged = mask;
      std::vector<std::byte>& gaps = damaged.bits.gaps;
      for (std::uint64_t i = 0; i <= random.below(3); ++i) {
        gaps[random.below(gaps.size())] ^= static_cast<std::byte>(1 + random.below(255));
      }
      gaps.back() &= std::byte{0x7F};  // as a reader leaves them
      REQUIRE((filled(*gpu, shape, damaged) == filled(*cpu, shape, damaged)));
    }
  }
}

}  // namespace cuszi::test

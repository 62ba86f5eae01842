#include <cstring>
#include <limits>

#include "cpu_ref/session/cpu_backend.hpp"
#include "test_data/fields.hpp"
#include "test_data/random.hpp"
#include "tests/gpu/device.hpp"
#include "tests/support/bytes.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/frame_codec.hpp"

namespace cuszi::test {

namespace {

struct CellsField {
  Dims dims;
  DType dtype = DType::f32;
  FieldKind kind = FieldKind::smooth;
  double bound = 1e-3;
  std::uint64_t seed = 1;

  FrameTask task() const {
    FrameTask task;
    task.shape = {dtype, dims};
    task.config.predictor.id = PredictorId::cells;
    task.bound = bound;
    if (kind == FieldKind::filled) task.fills.add(filled_value);
    return task;
  }
  std::string to_string() const {
    std::string name;
    for (const FieldKindName& known : field_kinds)
      if (known.kind == kind) name = known.name;
    return dims.to_string() + " " + std::string(name_of(dtype)) + " " + name + " " +
           std::to_string(bound) + " seed " + std::to_string(seed);
  }
};

/// The first section that differs, as words for a message.
std::string first_difference(const CompressedFrame& one, const CompressedFrame& other) {
  std::string words;
  const auto list = [&](const CompressedFrame& frame) {
    std::vector<std::pair<std::string, Bytes>> sections;
    Bytes rest = payload_of(frame);
    for (std::size_t level = 0; level < frame.header.levels.size(); ++level) {
      for (const SectionEntry& section : frame.header.levels[level].sections) {
        sections.emplace_back(
            "level " + std::to_string(level) + " " + std::string(name_of(section.id)),
            rest.first(section.size));
        rest = rest.subspan(section.size);
      }
    }
    return sections;
  };
  const auto ours = list(one);
  const auto theirs = list(other);
  for (std::size_t i = 0; i < std::min(ours.size(), theirs.size()); ++i) {
    const auto& [name, bytes] = ours[i];
    const auto& [other_name, other_bytes] = theirs[i];
    if (name == other_name && bytes.size() == other_bytes.size() &&
        std::memcmp(bytes.data(), other_bytes.data(), bytes.size()) == 0) {
      continue;
    }
    const auto [at, behind] =
        std::mismatch(bytes.begin(), bytes.end(), other_bytes.begin(), other_bytes.end());
    words += name + " of " + std::to_string(bytes.size()) + " bytes, " + other_name + " of " +
             std::to_string(other_bytes.size()) + " from byte " +
             std::to_string(at - bytes.begin()) + "; ";
  }
  return words + std::to_string(ours.size()) + " and " + std::to_string(theirs.size()) +
         " sections";
}

/// Both backends make the same bytes and restore each other's to the same values.
CompressedFrame check_cells(Backend& cpu, Backend& gpu, const CellsField& field) {
  INFO(field.to_string());
  const FrameTask task = field.task();
  const std::vector<std::byte> values = make_field(field.kind, field.dims, field.dtype, field.seed);
  CompressedFrame expected = compress(cpu, task, values).frame;
  const CompressedFrame made = compress(gpu, task, values).frame;
  INFO("differ: " << first_difference(expected, made));
  CHECK(made.bytes == expected.bytes);
  CHECK(made.patches == expected.patches);
  CHECK(restore(gpu, task.shape, expected.bytes) == restore(cpu, task.shape, expected.bytes));
  return expected;
}

/// A frame with some of its payload changed.
std::vector<std::byte> damaged(const CompressedFrame& frame, Random& random) {
  std::vector<std::byte> payload = to_vector(payload_of(frame));
  for (std::uint64_t more = 1 + random.below(3); more != 0; --more) {
    payload[random.below(payload.size())] ^= static_cast<std::byte>(1 + random.below(255));
  }
  return with_payload(frame, payload);
}

}  // namespace

TEST_CASE("cells of small fields are the same on both backends", "[gpu][cells][checker]") {
  Backend* const gpu = device();
  if (gpu == nullptr) return;
  const auto cpu = cpu::make_backend();
  for (const Dims& dims : {Dims{33, 18, 40}, Dims{70, 131}, Dims{5000}}) {
    for (const DType dtype : {DType::f32, DType::f64}) {
      for (const FieldKind kind : {FieldKind::smooth, FieldKind::missing, FieldKind::slices}) {
        check_cells(*cpu, *gpu, {dims, dtype, kind, 1e-3, 1});
      }
    }
  }
}

TEST_CASE("cells are the same on both backends", "[gpu][cells]") {
  Backend* const gpu = device();
  if (gpu == nullptr) return;
  const auto cpu = cpu::make_backend();
  for (const Dims& dims : {Dims{64, 64, 64}, Dims{17, 33, 65}, Dims{26, 100, 90}, Dims{3, 5, 7},
                           Dims{128, 128}, Dims{65, 300}, Dims{2, 3}, Dims{4096}, Dims{20000},
                           Dims{70}, Dims{3, 20, 30, 40}, Dims{100, 96, 132}}) {
    for (const DType dtype : {DType::f32, DType::f64}) {
      for (const FieldKindName& kind : field_kinds) {
        for (const double bound : {1e-1, 1e-2, 1e-4, 1e-7}) {
          check_cells(*cpu, *gpu, {dims, dtype, kind.kind, bound, 3});
        }
      }
    }
  }
}

// The sample does not see it: the frame is coded in the first pass, then perhaps once more.
TEST_CASE("one value of a field of cells may be anything", "[gpu][cells]") {
  Backend* const gpu = device();
  if (gpu == nullptr) return;
  const auto cpu = cpu::make_backend();
  const auto check = [&]<class T>(const Dims& dims, std::uint64_t point, T value) {
    const DType dtype = sizeof(T) == 4 ? DType::f32 : DType::f64;
    INFO(dims.to_string() << " " << name_of(dtype) << " point " << point << ": " << value);
    const FrameTask task = CellsField{dims, dtype}.task();
    std::vector<std::byte> values = make_field(FieldKind::smooth, dims, dtype, 1);
    std::memcpy(values.data() + point * sizeof(T), &value, sizeof(T));
    const CompressedFrame expected = compress(*cpu, task, values).frame;
    CHECK(compress(*gpu, task, values).frame.bytes == expected.bytes);
    CHECK(restore(*gpu, task.shape, expected.bytes) == restore(*cpu, task.shape, expected.bytes));
  };
  const auto check_values = [&]<class T>(T /*zero*/) {
    using Limits = std::numeric_limits<T>;
    for (const T value : {Limits::quiet_NaN(), Limits::infinity(), -Limits::infinity(),
                          Limits::max(), T(1e9), T(-3000), T(-0.0), Limits::denorm_min()}) {
      // Anchors, points of each axis, and the last one, of cells that are cut or not.
      for (const std::uint64_t point : {0, 1, 70, 4900, 16 * 4971, 70 * 70 * 70 - 1})
        check(Dims{70, 70, 70}, point, value);
      check(Dims{300, 700}, 300 * 700 - 1, value);
      check(Dims{30000}, 12345, value);
    }
  };
  check_values(0.0F);
  check_values(0.0);
}

TEST_CASE("cells of larger fields are the same on both backends", "[gpu][cells]") {
  Backend* const gpu = device();
  if (gpu == nullptr) return;
  const auto cpu = cpu::make_backend();
  for (const Dims& dims : {Dims{200, 210, 220}, Dims{3000, 2500}, Dims{7'000'000}}) {
    for (const FieldKind kind :
         {FieldKind::smooth, FieldKind::rough, FieldKind::sparse, FieldKind::slices}) {
      for (const double bound : {1e-2, 1e-5}) {
        check_cells(*cpu, *gpu, {dims, DType::f32, kind, bound, 7});
      }
    }
  }
}

TEST_CASE("previews of cells are the same on both backends", "[gpu][cells]") {
  Backend* const gpu = device();
  if (gpu == nullptr) return;
  const auto cpu = cpu::make_backend();
  StepTimes times;
  for (const Dims& dims : {Dims{60, 70, 80}, Dims{300, 400}, Dims{20000}}) {
    for (const FieldKind kind :
         {FieldKind::smooth, FieldKind::missing, FieldKind::wide, FieldKind::slices}) {
      const CellsField field{dims, DType::f32, kind, 1e-5, 5};
      INFO(field.to_string());
      const CompressedFrame frame = check_cells(*cpu, *gpu, field);
      if (frame.header.kind != FrameKind::coded) continue;
      for (std::uint64_t stride = 1; stride <= 64; stride *= 2) {
        INFO(stride);
        Selection wanted{dims};
        wanted.step.fill(stride);
        const FramePreview preview = FramePreview::of(dims, frame.header, wanted);
        std::vector<std::byte> expected(wanted.points() * size_of(field.dtype));
        std::vector<std::byte> made(expected.size());
        const FrameShape shape{field.dtype, dims};
        decompress_frame(*cpu, shape, frame.header, preview, payload_of(frame), expected, times);
        decompress_frame(*gpu, shape, frame.header, preview, payload_of(frame), made, times);
        CHECK(made == expected);
      }
    }
  }
}

TEST_CASE("damaged cells are refused or restored as on the CPU", "[gpu][cells][checker]") {
  Backend* const gpu = device();
  if (gpu == nullptr) return;
  const auto cpu = cpu::make_backend();
  Random random(5);
  for (const Dims& dims : {Dims{40, 41, 42}, Dims{200, 210}, Dims{30000}}) {
    const CellsField field{dims, DType::f32, FieldKind::rough, 1e-3, 9};
    const FrameTask task = field.task();
    const CompressedFrame frame =
        compress(*cpu, task, make_field(field.kind, dims, field.dtype, field.seed)).frame;
    REQUIRE(frame.header.kind == FrameKind::coded);
    for (int i = 0; i < 60; ++i) {
      INFO(field.to_string() << ", damage " << i);
      const std::vector<std::byte> bytes = damaged(frame, random);
      const auto expected = restored_or_refused(*cpu, task.shape, bytes);
      const auto made = restored_or_refused(*gpu, task.shape, bytes);
      CHECK(made == expected);
    }
  }
}

}  // namespace cuszi::test

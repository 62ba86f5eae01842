#include "core/archive/preview.hpp"

#include <algorithm>
#include <limits>

#include "tests/property/random_frame.hpp"
#include "tests/support/archive_codec.hpp"
#include "tests/support/bytes.hpp"
#include "tests/support/catch.hpp"

namespace cuszi::test {

namespace {

constexpr std::uint64_t most_points = sanitized ? 6'000 : 20'000;

/// Restores previews of an archive from a file and from a pipe, and requires of each what the whole
/// field has there. Returns how many axes were thinned.
int check_preview(Bytes archive, const FrameTask& task, Bytes whole, std::uint64_t stride) {
  MemorySource file(archive);
  PipeSource pipe(archive);
  const RestoredPreview shown = restore_preview(file, stride);
  const RestoredPreview piped = restore_preview(pipe, stride);
  const Dims& dims = task.shape.dims;
  INFO("stride " << stride << " shows " << shown.dims.to_string());
  int axes = 0;
  REQUIRE(shown.dims.rank() == dims.rank());
  for (int axis = 0; axis < dims.rank(); ++axis) {
    const bool is_whole = shown.dims[axis] == dims[axis];
    REQUIRE((is_whole || shown.dims[axis] == ceil_div(dims[axis], stride)));
    axes += is_whole ? 0 : 1;
  }
  const ByteCount size = size_of(task.shape.dtype);
  REQUIRE(shown.values == thinned(whole, size, dims, shown.dims, stride));
  REQUIRE(piped.values == shown.values);
  REQUIRE(piped.bytes_read == shown.bytes_read);
  REQUIRE(shown.bytes_read <= archive.size());
  return axes;
}

/// A box of a field, in it.
Box random_box(Random& random, const Dims& dims) {
  Box box;
  for (std::size_t axis = 0; axis < dims.extents().size(); ++axis) {
    const std::uint64_t extent = dims.extents()[axis];
    box.first[axis] = random.below(extent);
    if (random.one_in(3)) continue;
    box.end[axis] = box.first[axis] + 1 + random.below(extent - box.first[axis]);
  }
  return box;
}

/// The values of a box at the multiples of `stride` along the axes that a preview thins.
std::vector<std::byte> part_of(Bytes whole, ByteCount size, const Dims& dims, const Box& box,
                               std::uint64_t stride, const Dims& preview_dims) {
  Selection part{dims, box.first, {1, 1, 1, 1}, box.end};
  for (std::size_t axis = 0; axis < dims.extents().size(); ++axis) {
    if (preview_dims.extents()[axis] == dims.extents()[axis]) continue;
    part.step[axis] = stride;
    part.first[axis] = ceil_div(box.first[axis], stride) * stride;
  }
  std::vector<std::byte> values(part.points() * size);
  pick(part, size == 4 ? DType::f32 : DType::f64, whole, values);
  return values;
}

}  // namespace

TEST_CASE("boxes have the values of the whole field") {
  Random random(6);
  int left_out = 0;
  int shown_points = 0;
  for (int i = 0; i < some_of(500); ++i) {
    RandomFrame frame = random_frame(random, 1, most_points);
    if (random.one_in(2)) frame.task.config.predictor.id = PredictorId::multilevel;
    const FrameShape& shape = frame.task.shape;
    FieldSettings settings = settings_of(frame.task);
    if (random.one_in(2)) settings.frame_bytes = 1 + random.below(shape.bytes());
    if (plan_frames(shape.dims, shape.dtype, settings.frame_bytes).frames() > 300) continue;
    const auto archive = make_archive(shape.dims, shape.dtype, frame.values(), settings);
    const auto whole = restore_archive(archive);
    for (const std::uint64_t stride : {1U, 1U, 2U, 4U}) {
      const Box box = random_box(random, shape.dims);
      INFO("box " << i << ", stride " << stride << ": " << frame.to_string());
      MemorySource file(archive);
      PipeSource pipe(archive);
      const auto expected = part_of(whole, size_of(shape.dtype), shape.dims, box, stride,
                                    restore_preview(file, stride).dims);
      file.seek(0);
      if (expected.empty()) {
        CHECK_THROWS_AS(restore_preview(file, stride, box), UsageError);
        continue;
      }
      const RestoredPreview shown = restore_preview(file, stride, box);
      REQUIRE(shown.values == expected);
      REQUIRE(shown.dims.count() * size_of(shape.dtype) == expected.size());
      REQUIRE(restore_preview(pipe, stride, box).values == expected);
      left_out += shown.bytes_read < archive.size() / 2 ? 1 : 0;
      ++shown_points;
    }
  }
  CHECK(left_out > expected_of(100));  // few fields here have several frames of 64 KiB
  CHECK(shown_points > expected_of(1000));
}

TEST_CASE("boxes that leave the field are refused") {
  const FieldCuts plan{{10, 20}, 0, 4};
  const auto preview_of = [&](std::uint64_t first, std::uint64_t end) {
    Box box;
    box.first[1] = first;
    box.end[1] = end;
    return Preview(plan, 1, box);
  };
  CHECK(preview_of(19, 20).dims() == Dims{10, 1});
  CHECK(preview_of(19, Box::no_end).dims() == Dims{10, 1});
  CHECK_THROWS_AS(preview_of(20, Box::no_end), UsageError);
  CHECK_THROWS_AS(preview_of(0, 21), UsageError);
  CHECK_THROWS_AS(preview_of(5, 5), UsageError);
  CHECK_THROWS_AS(preview_of(6, 5), UsageError);
}

TEST_CASE("previews have the values of the whole field") {
  Random random(5);
  int thinned_axes = 0;
  int several_frames = 0;
  for (int i = 0; i < some_of(500); ++i) {
    RandomFrame frame = random_frame(random, 1, most_points);
    if (random.one_in(2)) frame.task.config.predictor.id = PredictorId::multilevel;
    const FrameShape& shape = frame.task.shape;
    FieldSettings settings = settings_of(frame.task);
    if (random.one_in(2)) settings.frame_bytes = 1 + random.below(shape.bytes());
    const FieldCuts plan = plan_frames(shape.dims, shape.dtype, settings.frame_bytes, 1);
    if (plan.frames() > 300) continue;
    several_frames += plan.frames() > 1 ? 1 : 0;
    INFO("preview " << i << ", " << plan.frames() << " frames: " << frame.to_string());
    const auto archive = make_archive(shape.dims, shape.dtype, frame.values(), settings);
    const auto whole = restore_archive(archive);
    for (const std::uint64_t stride : {2U, 4U, 8U, 64U, 1U << 20}) {
      thinned_axes += check_preview(archive, frame.task, whole, stride);
    }
  }
  CHECK(thinned_axes > expected_of(1000));
  CHECK(several_frames > expected_of(100));
}

TEST_CASE("previews show frames of one value among others") {
  FrameTask task;
  task.shape = {DType::f32, Dims{12, 30, 40}};
  task.config.predictor.id = PredictorId::multilevel;
  constexpr std::size_t slice = 30 * 40;
  auto values = make_values<float>(FieldKind::smooth, task.shape.dims, 1);
  const auto set_slices = [&](std::size_t first, std::size_t last, float value) {
    std::fill(values.begin() + static_cast<std::ptrdiff_t>(first * slice),
              values.begin() + static_cast<std::ptrdiff_t>(last * slice), value);
  };
  set_slices(0, 2, 0.5F);
  set_slices(6, 8, -0.25F);
  values[7 * slice + 77] = std::numeric_limits<float>::quiet_NaN();
  FieldSettings settings = settings_of(task);
  settings.frame_bytes = 2 * slice * sizeof(float);
  const auto archive = make_archive(task.shape.dims, DType::f32, bytes_of(values), settings);
  const auto whole = restore_archive(archive);
  for (const std::uint64_t stride : {2U, 4U, 16U}) {
    CHECK(check_preview(archive, task, whole, stride) == 3);
  }
}

TEST_CASE("axes that are no lattice axes stay whole") {
  const auto dims_of = [](const Dims& dims, AxisChoice axes) {
    FieldSettings settings;
    settings.bound = 1e-3;
    settings.frame.predictor.id = PredictorId::multilevel;
    settings.frame.predictor.multilevel.axes = axes;
    const auto values = make_field(FieldKind::smooth, dims, DType::f32, 1);
    const auto archive = make_archive(dims, DType::f32, values, settings);
    MemorySource file(archive);
    return restore_preview(file, 4).dims;
  };
  CHECK(dims_of({40, 21, 30}, {AxisRole::lattice, 0}) == Dims{10, 6, 8});
  CHECK(dims_of({40, 21, 30}, {AxisRole::layered, 0}) == Dims{40, 6, 8});
  CHECK(dims_of({40, 21, 30}, {AxisRole::independent, 1}) == Dims{10, 21, 8});
  CHECK(dims_of({4, 21, 1, 30}, {AxisRole::layered, 0}) == Dims{4, 6, 1, 8});
  CHECK(dims_of({4, 6, 21, 30}, {AxisRole::layered, 1}) == Dims{4, 6, 6, 8});
}

TEST_CASE("a preview reads a prefix of each frame") {
  const Dims dims{128, 40, 50};
  const auto values = make_field(FieldKind::smooth, dims, DType::f32, 1);
  FieldSettings settings;
  settings.bound = 1e-4;
  settings.frame.predictor.id = PredictorId::multilevel;
  settings.frame.predictor.multilevel.axes = AxisChoice{AxisRole::lattice, 0};
  settings.frame.coder = CoderId::ans;
  settings.frame_bytes = 64 * 40 * 50 * sizeof(float);
  auto archive = make_archive(dims, DType::f32, values, settings);
  const auto preview_of = [&] {
    MemorySource file(archive);
    return restore_preview(file, 4);
  };
  const RestoredPreview sound = preview_of();
  CHECK(sound.dims == Dims{32, 10, 13});
  CHECK(sound.bytes_read < archive.size() / 3);
  archive[archive.size() * 2 / 5] ^= std::byte{1};  // in the last level of the first frame
  CHECK_THROWS_AS(restore_archive(archive), ArchiveError);
  CHECK(preview_of().values == sound.values);
  archive.resize(archive.size() - 1000);
  CHECK_THROWS_AS(preview_of(), ArchiveError);
}

}  // namespace cuszi::test

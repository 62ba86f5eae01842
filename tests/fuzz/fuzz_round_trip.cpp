#include <algorithm>
#include <cstdint>
#include <cstring>
#include <stdexcept>

#include "codec/archive/archive_reader.hpp"
#include "codec/frames/backend_choice.hpp"
#include "cpu_ref/base/thread_count.hpp"
#include "tests/property/random_frame.hpp"
#include "tests/support/archive_codec.hpp"
#include "tests/support/local_bounds.hpp"
#include "tests/support/promises.hpp"

namespace {

using namespace cuszi;

constexpr std::uint64_t max_points = 1024;
constexpr std::uint64_t max_frames = 64;
/// What an archive may have besides the bytes of its field.
constexpr ByteCount header_bytes = 512;
constexpr ByteCount bytes_per_frame = 128;

void require(bool kept, const char* promise) {
  if (!kept) throw std::logic_error(promise);
}

template <class Call>
auto with_threads(int threads, const Call& call) {
  const ThreadsScope scope(threads);
  return call();
}

/// The field in one frame or in several.
FieldCuts any_plan(const Dims& dims, test::Random& random) {
  if (!random.one_in(3)) return {dims, 0, dims[0]};
  const int axis = static_cast<int>(random.below(static_cast<std::uint64_t>(dims.rank())));
  return {dims, axis, 1 + random.below(dims[axis])};
}

/// The values that the choices describe, some of them replaced by the bits that are left of the
/// input.
std::vector<std::byte> values_of(const test::RandomFrame& field, Bytes bits) {
  std::vector<std::byte> values = field.values();
  const ByteCount size = size_of(field.task.shape.dtype);
  const ByteCount copied = std::min<ByteCount>(bits.size(), values.size()) / size * size;
  if (copied == 0) return values;
  const std::uint64_t first = field.seed % (values.size() / size - copied / size + 1);
  std::memcpy(values.data() + first * size, bits.data(), copied);
  return values;
}

}  // namespace

/// Makes a small field and a way to compress it of the input, and requires of the archive that it
/// keeps the bounds exactly, is not much larger than the field, that neither it nor what it
/// restores to depends on the number of threads, and, where there is a GPU, that this makes the
/// same.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  test::Random random(std::as_bytes(std::span(data, size)));
  const bool is_offset = random.one_in(2);  // with a bound near the type's precision
  const test::RandomFrame field = is_offset ? test::random_offset_frame(random, 1, max_points)
                                            : test::random_frame(random, 1, max_points);
  const FrameShape& shape = field.task.shape;
  const FieldSettings settings = test::settings_of(field.task);
  const FieldCuts plan = any_plan(shape.dims, random);
  if (plan.frames() > max_frames) return 0;
  const std::vector<std::byte> values = values_of(field, random.rest());

  const auto make_on = [&](DeviceChoice::Kind device) {
    Backends backends({device, 0});
    return test::make_archive(backends.for_config(settings.frame), plan, shape.dtype, values,
                              settings);
  };
  const auto make = [&] { return make_on(DeviceChoice::Kind::cpu); };
  const std::vector<std::byte> archive = with_threads(1, make);
  require(with_threads(3, make) == archive, "the number of threads shows in an archive");
  require(!cuda_toolkit() || make_on(DeviceChoice::Kind::automatic) == archive,
          "a GPU makes another archive");
  const auto restore = [&] { return test::restore_archive(archive); };
  const std::vector<std::byte> restored = with_threads(1, restore);
  require(with_threads(3, restore) == restored, "the number of threads shows in restored values");

  MemorySource source(archive);
  const ArchiveHeader header = ArchiveReader(source).header();
  require(restored.size() == values.size(), "a field is restored to another size");
  require(!test::first_broken_promise(
              shape.dtype, values, restored, {field.task.fills, field.task.config.isovalues},
              header.value_bound(), test::bounds_of_points(settings.places, shape.dims)),
          "a restored value breaks the bound or a missing one is lost");
  require(archive.size() <= values.size() + header_bytes + bytes_per_frame * header.plan.frames(),
          "an archive is larger than its field");
  return 0;
}

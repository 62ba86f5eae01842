#include <algorithm>
#include <bit>
#include <limits>

#include "core/lossless/predicted.hpp"
#include "cpu_ref/session/cpu_backend.hpp"
#include "test_data/fields.hpp"
#include "tests/gpu/device.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/frame_codec.hpp"
#include "tests/support/word_values.hpp"

namespace cuszi::test {

namespace {

constexpr DType all_types[] = {DType::f32, DType::f64, DType::f16, DType::bf16,
                               DType::i8,  DType::u8,  DType::i16, DType::u16,
                               DType::i32, DType::u32, DType::i64, DType::u64};

std::vector<std::byte> host_copy(Backend& backend, Bytes bytes) {
  std::vector<std::byte> host(bytes.size());
  backend.copy(bytes, host);
  return host;
}

/// The device's sections, in host memory.
OwnedWordSections encode_on(Backend& gpu, Bytes values, const FrameShape& shape,
                            std::uint64_t step) {
  const std::vector<std::byte> other(sizeof(float));  // a session of any frame does
  const auto session = gpu.encode({DType::f32, {1}}, other, {}, LorenzoParams{}, {});
  const PredictedValues made = session->encode_lossless(values, shape, step);
  return {{made.sections.head.begin(), made.sections.head.end()},
          host_copy(gpu, made.sections.index),
          host_copy(gpu, made.sections.classes),
          host_copy(gpu, made.sections.codes),
          host_copy(gpu, made.sections.raw)};
}

/// Sections one after the other, from an address that is no multiple of words.
std::vector<std::byte> decode_on(Backend& gpu, const OwnedWordSections& sections,
                                 const FrameShape& shape, std::size_t offset) {
  const std::vector<std::byte>* const parts[] = {&sections.head, &sections.index, &sections.classes,
                                                 &sections.raw, &sections.codes};
  std::vector<std::byte> payload(offset);
  for (const auto* part : parts) payload.insert(payload.end(), part->begin(), part->end());
  const auto session = gpu.decode(payload);
  Bytes rest = session->payload().subspan(offset);
  const auto next = [&](const std::vector<std::byte>& part) {
    const Bytes own = rest.first(part.size());
    rest = rest.subspan(part.size());
    return own;
  };
  WordSections<Bytes> there;
  there.head = next(sections.head);
  there.index = next(sections.index);
  there.classes = next(sections.classes);
  there.raw = next(sections.raw);
  there.codes = next(sections.codes);
  std::vector<std::byte> restored(shape.bytes());
  session->decode_lossless(there, shape, restored);
  return restored;
}

/// The first section that differs, for a message.
std::string difference(const OwnedWordSections& one, const OwnedWordSections& other) {
  std::string words;
  const auto compare = [&](const char* name, const auto& ours, const auto& theirs) {
    if (ours == theirs) return;
    const auto [at, unused] = std::mismatch(ours.begin(), ours.end(), theirs.begin(), theirs.end());
    words += std::string(name) + " of " + std::to_string(ours.size()) + " and " +
             std::to_string(theirs.size()) + " bytes from byte " +
             std::to_string(at - ours.begin()) + "; ";
  };
  compare("head", one.head, other.head);
  compare("index", one.index, other.index);
  compare("classes", one.classes, other.classes);
  compare("codes", one.codes, other.codes);
  compare("raw", one.raw, other.raw);
  return words;
}

/// core's coding, on the host's threads.
OwnedWordSections encode_on_host(Bytes values, const FrameShape& shape, std::uint64_t step) {
  static const std::unique_ptr<Backend> cpu = cpu::make_backend();
  return encode_predicted(values, shape, host_work_of(*cpu), step);
}

OwnedWordSections check_values(Backend& gpu, Bytes values, const FrameShape& shape,
                               std::uint64_t step = 1) {
  INFO(name_of(shape.dtype) << ' ' << shape.dims.to_string());
  OwnedWordSections expected = encode_on_host(values, shape, step);
  CHECK(difference(encode_on(gpu, values, shape, step), expected) == "");
  const std::vector<std::byte> restored = decode_on(gpu, expected, shape, values.size() % 13);
  CHECK(std::ranges::equal(restored, values));
  return expected;
}

}  // namespace

TEST_CASE("predicted frames of all types are the same on both backends",
          "[gpu][lossless][checker]") {
  Backend* const gpu = device();
  if (gpu == nullptr) return;
  Random random(1);
  for (const Dims& dims : {Dims{33, 18, 40}, Dims{70, 131}, Dims{5000}, Dims{3, 5, 17, 20}})
    for (const DType dtype : all_types) {
      const FrameShape shape{dtype, dims};
      check_values(*gpu, random_values(shape, random), shape);
    }
}

TEST_CASE("predicted frames of random shapes are the same on both backends", "[gpu][lossless]") {
  Backend* const gpu = device();
  if (gpu == nullptr) return;
  Random random(2);
  for (int i = 0; i < 400; ++i) {
    const FrameShape shape{random.pick({DType::f32, DType::f64}), random_dims(random)};
    INFO("frame " << i);
    check_values(*gpu, random_values(shape, random), shape);
  }
  for (int i = 0; i < 100; ++i) {
    const FrameShape shape{all_types[random.below(std::size(all_types))], random_dims(random)};
    const std::uint64_t step = 1 + 2 * random.below(50);
    INFO("frame " << i << " of any type, step " << step);
    check_values(*gpu, random_values(shape, random), shape, step);
  }
}

TEST_CASE("predicted frames of fields are the same on both backends", "[gpu][lossless]") {
  Backend* const gpu = device();
  if (gpu == nullptr) return;
  for (const Dims& dims :
       {Dims{100, 210, 190}, Dims{97, 5, 200}, Dims{1030, 700}, Dims{1'500'001}, Dims{2, 3},
        Dims{1}, Dims{20000, 2, 2}, Dims{2, 60000}, Dims{9, 30, 30, 30}})
    for (const DType dtype : {DType::f32, DType::f64})
      for (const FieldKindName& kind : field_kinds) {
        INFO(kind.name);
        const FrameShape shape{dtype, dims};
        check_values(*gpu, make_field(kind.kind, dims, dtype, 3), shape);
      }
}

TEST_CASE("special values are kept on the device", "[gpu][lossless][checker]") {
  Backend* const gpu = device();
  if (gpu == nullptr) return;
  const FrameShape shape{DType::f32, {24, 24, 24}};
  std::vector<float> values(shape.points());
  const auto check = [&] { check_values(*gpu, std::as_bytes(std::span(values)), shape); };
  check();  // zeros, all classes 0
  std::ranges::fill(values, -0.0F);
  check();
  using Limits = std::numeric_limits<float>;
  const float special[] = {Limits::quiet_NaN(),
                           Limits::infinity(),
                           -Limits::infinity(),
                           Limits::denorm_min(),
                           Limits::max(),
                           Limits::lowest(),
                           -0.0F,
                           1.0F};
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = special[i * i % std::size(special)];
  check();
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = std::bit_cast<float>(static_cast<std::uint32_t>(i * 2654435761U));
  check();
  for (std::size_t i = 0; i < values.size(); ++i)  // multiples of 1/4
    values[i] = static_cast<float>(i % 24 + i / 24 % 24 * 2) / 4;
  check();
}

TEST_CASE("whole archives without loss are the same on both backends", "[gpu][lossless]") {
  Backend* const gpu = device();
  if (gpu == nullptr) return;
  const auto cpu = cpu::make_backend();
  int predicted = 0;
  for (const Dims& dims : {Dims{64, 64, 64}, Dims{300, 400}, Dims{100'000}})
    for (const DType dtype : all_types) {
      FrameTask task;
      task.shape = {dtype, dims};
      task.mode = ErrorMode::absolute;
      task.bound = 0;
      Random random(4);
      const std::vector<std::byte> values = random_values(task.shape, random);
      const CompressedFrame expected = compress_at_once(*cpu, task, 0.0, values);
      const CompressedFrame made = compress_at_once(*gpu, task, 0.0, values);
      INFO(name_of(dtype) << ' ' << dims.to_string());
      CHECK(made.bytes == expected.bytes);
      CHECK(restore(*gpu, task.shape, expected.bytes) == values);
      predicted += expected.header.kind == FrameKind::predicted ? 1 : 0;
    }
  CHECK(predicted > 5);
}

TEST_CASE("damaged predicted frames are refused or restored as on the CPU",
          "[gpu][lossless][checker]") {
  Backend* const gpu = device();
  if (gpu == nullptr) return;
  Random random(5);
  int refused = 0;
  constexpr int frames = 12;
  constexpr int edits = 40;
  for (int i = 0; i < frames; ++i) {
    const FrameShape shape{random.pick({DType::f32, DType::f64}), random_dims(random)};
    const OwnedWordSections sections =
        encode_predicted(random_values(shape, random), shape, one_by_one);
    for (int edit = 0; edit < edits; ++edit) {
      INFO(shape.dims.to_string() << ", damage " << edit);
      OwnedWordSections damaged = sections;
      std::vector<std::byte>* const parts[] = {&damaged.head, &damaged.index, &damaged.classes,
                                               &damaged.codes, &damaged.raw};
      std::vector<std::byte>& part = *parts[edit % 5];
      if (part.empty()) continue;
      if (random.one_in(4))
        part.resize(random.below(part.size()));
      else
        part[random.below(part.size())] ^= static_cast<std::byte>(1U << random.below(8));
      std::vector<std::byte> expected(shape.bytes());
      const auto restored_or_refused = [&](const auto& restore) {
        try {
          restore();
          return true;
        } catch (const ArchiveError&) {
          return false;
        }
      };
      const bool is_good = restored_or_refused(
          [&] { decode_predicted(view_of(damaged), shape, expected, one_by_one); });
      std::vector<std::byte> made;
      const bool is_good_there =
          restored_or_refused([&] { made = decode_on(*gpu, damaged, shape, 3); });
      CHECK(is_good_there == is_good);
      if (is_good && is_good_there) CHECK(made == expected);
      refused += is_good ? 0 : 1;
    }
  }
  CHECK(refused > frames * edits / 3);
}

}  // namespace cuszi::test

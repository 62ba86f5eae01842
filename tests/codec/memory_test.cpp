// Links nothing above codec: what a program needs that compresses and restores fields by itself.
#include <algorithm>
#include <memory>

#include "codec/archive/archive_reader.hpp"
#include "codec/archive/field_codec.hpp"
#include "codec/field/field_source.hpp"
#include "core/base/error.hpp"
#include "test_data/fields.hpp"
#include "tests/support/catch.hpp"

namespace cuszi::test {

namespace {

const Dims dims{20, 30, 40};

FieldSettings settings_for(PredictorId predictor, CoderId coder) {
  FieldSettings settings;
  settings.bound = 1e-3;
  settings.mode = ErrorMode::relative;
  settings.frame.predictor.id = predictor;
  settings.frame.predictor.automatic = predictor == PredictorId::multilevel;
  settings.frame.coder = coder;
  return settings;
}

std::vector<std::byte> compress(Bytes values, const FieldSettings& settings) {
  FieldLayout layout;
  layout.dims = dims;
  FieldSource field(std::make_unique<MemorySource>(values), layout,
                    plan_frames(dims, DType::f32, settings.frame_bytes));
  Backends backends({DeviceChoice::Kind::cpu, 0});
  MemorySink archive;
  CallTimes times;
  compress_field(backends.for_config(settings.frame), settings, field, archive, times);
  return {archive.bytes().begin(), archive.bytes().end()};
}

std::vector<float> restore(Bytes archive) {
  MemorySource source(archive);
  ArchiveReader reader(source);
  Backends backends({DeviceChoice::Kind::cpu, 0});
  CallTimes times;
  std::vector<float> values;
  const FrameUser append = [&](std::uint64_t /*frame*/, Bytes bytes) {
    const std::size_t at = values.size();
    values.resize(at + bytes.size() / sizeof(float));
    std::copy(bytes.begin(), bytes.end(),
              std::as_writable_bytes(std::span(values)).begin() +
                  static_cast<std::ptrdiff_t>(at * sizeof(float)));
  };
  restore_field(backends, reader, times, {append});
  return values;
}

/// Bytes that have to be read, and how often they were.
class CountingSource final : public ByteSource {
 public:
  CountingSource(Bytes bytes, int& reads) : source_(bytes), reads_(reads) {}

  std::string name() const override { return source_.name(); }
  std::optional<ByteCount> size() const override { return source_.size(); }
  std::size_t read_at(ByteCount offset, MutableBytes out) const override {
    ++reads_;
    return source_.read_at(offset, out);
  }

 private:
  MemorySource source_;
  int& reads_;
};

bool holds(FieldSource& field, Bytes values) { return std::ranges::equal(field.frame(0), values); }

}  // namespace

TEST_CASE("a program without the command line compresses and restores a field in memory") {
  const auto original = make_values<float>(FieldKind::smooth, dims, 1);
  const auto [min, max] = std::minmax_element(original.begin(), original.end());
  const double bound = 1e-3 * (static_cast<double>(*max) - static_cast<double>(*min));
  const std::pair<PredictorId, CoderId> methods[] = {{PredictorId::multilevel, CoderId::ans},
                                                     {PredictorId::interp, CoderId::huffman},
                                                     {PredictorId::lorenzo, CoderId::huffman}};
  for (const auto& [predictor, coder] : methods) {
    for (const ByteCount frame_bytes : {ByteCount{1} << 30, ByteCount{40'000}}) {
      FieldSettings settings = settings_for(predictor, coder);
      settings.frame_bytes = frame_bytes;
      const auto archive = compress(std::as_bytes(std::span(original)), settings);
      CHECK(archive.size() < original.size() * sizeof(float) / 2);
      const auto restored = restore(archive);
      REQUIRE(restored.size() == original.size());
      for (std::size_t i = 0; i < original.size(); ++i) {
        const double error = static_cast<double>(original[i]) - static_cast<double>(restored[i]);
        REQUIRE(std::max(error, -error) <= bound);
      }
    }
  }
}

TEST_CASE("a field of another size is refused before its frames take memory") {
  FieldLayout layout;
  layout.dims = Dims{std::uint64_t{1} << 50, 4};
  const std::vector<std::byte> values(4000);
  CHECK_THROWS_AS(
      FieldSource(std::make_unique<MemorySource>(values), layout, FieldCuts{layout.dims, 0, 1}),
      InputError);
}

TEST_CASE("a frame that is used once takes no memory when it has been dropped") {
  FieldLayout layout;
  layout.dims = dims;
  const auto values = make_field(FieldKind::smooth, dims, DType::f32, 1);
  int reads = 0;
  FieldSource field(std::make_unique<CountingSource>(values, reads), layout,
                    plan_frames(dims, DType::f32));
  CHECK(holds(field, values));
  CHECK(reads == 1);

  CHECK_FALSE(field.take(0).is_owner());  // others may ask for it again
  CHECK(holds(field, values));
  CHECK(reads == 1);

  field.use_once();
  CHECK(holds(field, values));
  CHECK(reads == 1);
  {
    const FrameValues taken = field.take(0);
    CHECK(taken.is_owner());
    CHECK(std::ranges::equal(taken.bytes(), values));
    CHECK(reads == 1);
  }
  CHECK(holds(field, values));
  CHECK(reads == 2);
}

}  // namespace cuszi::test

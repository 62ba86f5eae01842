#include <functional>
#include <limits>

#include "app/cli/cli.hpp"
#include "codec/field/field_source.hpp"
#include "codec/io/byte_sink.hpp"
#include "core/pipeline/frame_check.hpp"
#include "core/pipeline/pipeline.hpp"
#include "cpu_ref/session/cpu_backend.hpp"
#include "test_data/fields.hpp"
#include "tests/support/archive_codec.hpp"
#include "tests/support/catch.hpp"

namespace cuszi::test {

namespace {

/// What goes wrong in an encoder.
struct Fault {
  std::function<void(PredictorParams&)> in_fit = [](PredictorParams& /*params*/) {};
  /// Given the sections of all passes, which stay valid as long as the session.
  std::function<void(std::vector<CodedPass>&)> in_sections = [](auto& /*passes*/) {};
};

class FaultyEncoder final : public PassEncoder {
 public:
  FaultyEncoder(std::unique_ptr<PassEncoder> sound, const Fault& fault)
      : sound_(std::move(sound)), fault_(fault) {}

  void predict(PassRange passes) override { sound_->predict(passes); }
  std::int64_t error_sum() override { return sound_->error_sum(); }
  void fit_contexts(PassRange passes) override { sound_->fit_contexts(passes); }
  std::optional<ByteCount> most_bytes() const override { return sound_->most_bytes(); }
  void encode() override { sound_->encode(); }
  std::vector<CodedPass> finish() override {
    std::vector<CodedPass> passes = sound_->finish();
    fault_.in_sections(passes);
    return passes;
  }

 private:
  std::unique_ptr<PassEncoder> sound_;
  const Fault& fault_;
};

class FaultySession final : public EncodeSession {
 public:
  FaultySession(FrameSlot& slot, std::unique_ptr<EncodeSession> sound, const Fault& fault)
      : EncodeSession(slot), sound_(std::move(sound)), fault_(fault) {}

  const FieldScan& scan() override { return sound_->scan(); }
  FrameMask mask() override { return sound_->mask(); }
  std::vector<double> values_at(std::span<const std::uint64_t> points) override {
    return sound_->values_at(points);
  }
  std::vector<double> sampled_values() override { return sound_->sampled_values(); }
  MagnitudeRange sampled_magnitudes() override { return sound_->sampled_magnitudes(); }
  std::uint64_t count_bits(std::uint64_t bits) override { return sound_->count_bits(bits); }
  DistinctValues distinct_values() override { return sound_->distinct_values(); }
  void transform(const TransformChoice& choice, const ValueBound& bound) override {
    sound_->transform(choice, bound);
  }
  void keep_points(std::span<const std::uint64_t> points) override { sound_->keep_points(points); }
  Bytes encode_signs() override { return sound_->encode_signs(); }
  std::unique_ptr<TrialSession> trials(const TrialPart& part) override {
    return sound_->trials(part);
  }
  void fit(PredictorParams& params) override {
    sound_->fit(params);
    fault_.in_fit(params);
  }
  std::unique_ptr<PassEncoder> passes(const FrameCoding& coding) override {
    return std::make_unique<FaultyEncoder>(sound_->passes(coding), fault_);
  }
  std::vector<CodedPass> encode_values(const FrameCoding& coding) override {
    std::vector<CodedPass> passes = sound_->encode_values(coding);
    fault_.in_sections(passes);
    return passes;
  }
  void pack(Sections& sections) override { sound_->pack(sections); }

 private:
  std::unique_ptr<EncodeSession> sound_;
  const Fault& fault_;
};

/// The CPU's backend with a fault.
class FaultyBackend final : public Backend {
 public:
  explicit FaultyBackend(Fault fault) : fault_(std::move(fault)) {}

  std::string name() const override { return "faulty"; }
  std::unique_ptr<EncodeSession> encode(const FrameShape& shape, Bytes values,
                                        const ValueRules& rules, const PredictorParams& draft,
                                        const std::optional<FieldScan>& known) override {
    return std::make_unique<FaultySession>(
        slot_, sound_->encode(shape, values, rules, draft, known), fault_);
  }
  std::unique_ptr<DecodeSession> decode(Bytes payload) override { return sound_->decode(payload); }
  Quality measure_quality(DType dtype, Bytes original, Bytes restored, const ValueRules& rules,
                          const ValueBound& bound) override {
    return sound_->measure_quality(dtype, original, restored, rules, bound);
  }
  std::vector<std::uint64_t> hashes(std::span<const Bytes> strings) override {
    return sound_->hashes(strings);
  }
  void copy(Bytes from, MutableBytes to) override { sound_->copy(from, to); }
  void gather(std::span<const Sections> passes, MutableBytes out) override {
    sound_->gather(passes, out);
  }

 private:
  FrameSlot slot_;
  Fault fault_;
  std::unique_ptr<Backend> sound_ = cpu::make_backend();
};

const FrameShape shape{DType::f64, Dims{10, 20, 30}};

FrameTask task_for(PredictorId predictor, CoderId coder) {
  FrameTask task;
  task.shape = shape;
  task.config.predictor.id = predictor;
  task.config.coder = coder;
  return task;
}

/// Compresses a rough field with a fault, to an archive and as a frame. Returns what the error
/// says.
std::string refusal(const FrameTask& task, const Fault& fault) {
  const auto values = make_field(FieldKind::rough, shape.dims, shape.dtype, 1);
  FaultyBackend backend(fault);
  FieldLayout layout;
  layout.dims = shape.dims;
  layout.dtype = shape.dtype;
  FieldSource field(std::make_unique<MemorySource>(values), layout,
                    FieldCuts{shape.dims, 0, shape.dims[0]});
  MemorySink archive;
  CallTimes times;
  CHECK_THROWS_AS(compress_field(backend, settings_of(task), field, archive, times), InternalError);
  try {
    compress(backend, task, values);
  } catch (const InternalError& error) {
    CHECK(static_cast<int>(app::exit_code_of(error.kind())) == 8);
    return error.what();
  }
  return "no refusal";
}

/// The passes' first section of this kind gets these bytes.
Fault with_section(SectionId id, const std::vector<std::byte>& bytes) {
  Fault fault;
  fault.in_sections = [id, &bytes](std::vector<CodedPass>& passes) {
    for (CodedPass& pass : passes) {
      if (!pass.sections.has(id)) continue;
      Sections changed;
      for (const Section& section : pass.sections.list()) {
        changed.add(section.id, section.id == id ? Bytes(bytes) : section.bytes);
      }
      pass.sections = changed;
      return;
    }
    FAIL("no such section");
  };
  return fault;
}

}  // namespace

TEST_CASE("a header that no reader takes does not leave the encoder") {
  const auto with_params = [](const std::function<void(MultilevelParams&)>& change) {
    Fault fault;
    fault.in_fit = [change](PredictorParams& params) {
      change(std::get<MultilevelParams>(params));
    };
    return refusal(task_for(PredictorId::multilevel, CoderId::ans), fault);
  };
  CHECK(with_params([](MultilevelParams& params) {
          params.snap = 8;
          params.background = std::numeric_limits<double>::infinity();
        }) ==
        "internal error: the encoder made an invalid frame: the background value of multilevel "
        "is "
        "out of range");
  CHECK(with_params([](MultilevelParams& params) { params.snap = 31; }).find("background value") !=
        std::string::npos);
}

TEST_CASE("heads of sections that no reader takes do not leave the encoder") {
  const std::vector<std::byte> ones(40, std::byte{0xFF});
  const std::vector<std::byte> long_ones(25'000, std::byte{0xFF});
  const FrameTask by_ans = task_for(PredictorId::multilevel, CoderId::ans);
  const FrameTask by_huffman = task_for(PredictorId::lorenzo, CoderId::huffman);
  CHECK(refusal(by_ans, with_section(SectionId::codes, ones)).find("invalid frame") !=
        std::string::npos);
  CHECK(refusal(by_ans, with_section(SectionId::codes, long_ones)).find("invalid frame") !=
        std::string::npos);
  CHECK(refusal(by_huffman, with_section(SectionId::codebook, ones)).find("invalid frame") !=
        std::string::npos);
  FrameTask with_outliers = by_huffman;
  with_outliers.config.predictor.radius = 2;
  CHECK(refusal(with_outliers, with_section(SectionId::outliers, ones)).find("sparse list") !=
        std::string::npos);
}

TEST_CASE("a sound frame passes") {
  const auto values = make_field(FieldKind::rough, shape.dims, shape.dtype, 1);
  for (const PredictorId predictor : {PredictorId::multilevel, PredictorId::lorenzo,
                                      PredictorId::interp, PredictorId::tiles, PredictorId::zfp}) {
    FaultyBackend without_faults({});
    const FrameTask task = task_for(predictor, CoderId::ans);
    const auto cpu = cpu::make_backend();
    CHECK(compress(without_faults, task, values).frame.bytes ==
          compress(*cpu, task, values).frame.bytes);
  }
}

}  // namespace cuszi::test

#include "core/pipeline/pipeline_batch.hpp"

#include <algorithm>
#include <deque>

#include "cpu_ref/session/cpu_backend.hpp"
#include "test_data/fields.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/frame_codec.hpp"

namespace cuszi {

namespace {

/// A batch whose frames the CPU backend codes one by one.
class HostBatch final : public FrameBatch {
 public:
  HostBatch(FrameSlot& slot, Backend& cpu) : FrameBatch(slot), cpu_(cpu) {}

  void for_each(std::size_t count, const std::function<void(std::size_t)>& each) override {
    one_by_one(count, each);
  }
  std::vector<std::optional<BatchRange>> scan(std::span<const BatchFrame> frames) override {
    std::vector<std::optional<BatchRange>> ranges;
    for (const BatchFrame& frame : frames) {
      const FieldScan scan = session_of(frame, TilesParams{})->scan();
      ranges.push_back(scan.missing == 0 ? std::optional(BatchRange{scan.min, scan.max})
                                         : std::nullopt);
    }
    return ranges;
  }
  std::vector<std::optional<BatchRange>> sample(std::span<const BatchFrame> frames) override {
    std::vector<std::optional<BatchRange>> ranges;
    for (const BatchFrame& frame : frames) {
      const double sampled = session_of(frame, TilesParams{})->scan().sampled;
      ranges.push_back(BatchRange{-sampled, sampled});
    }
    return ranges;
  }
  std::vector<std::span<const double>> draw(std::span<const BatchFrame> /*frames*/,
                                            std::span<const std::uint64_t> /*counts*/) override {
    return {};
  }
  std::vector<std::span<const double>> values_at(
      std::span<const BatchFrame> frames,
      std::span<const std::vector<std::uint64_t>> points) override {
    std::vector<std::span<const double>> values;
    for (std::size_t i = 0; i < frames.size(); ++i)
      values.emplace_back(
          drawn_.emplace_back(session_of(frames[i], CellsParams{})->values_at(points[i])));
    return values;
  }
  std::vector<CellsSample> samples_of_cells(std::span<const BatchFrame> frames) override {
    std::vector<CellsSample> found;
    for (const BatchFrame& frame : frames)
      found.push_back(session_of(frame, CellsParams{})->sample_of_cells());
    return found;
  }
  std::vector<std::optional<BatchCoded>> encode(std::span<const BatchEncoding> frames) override {
    std::vector<std::optional<BatchCoded>> coded;
    for (const BatchEncoding& frame : frames) {
      const auto session = session_of(frame.frame, frame.params);
      const FieldScan& scan = session->scan();
      if (scan.missing != 0) {
        coded.emplace_back();
        continue;
      }
      BatchCoded& one = coded.emplace_back(BatchCoded{{}, scan.min, scan.max}).value();
      for (const CodedPass& pass :
           session->encode_values({frame.params, {frame.bound, 1}, {}, {}})) {
        CodedPass& kept = one.passes.emplace_back();
        for (const Section& section : pass.sections.list()) {
          const Bytes bytes = kept_.emplace_back(section.bytes.begin(), section.bytes.end());
          kept.sections.add({section.id, bytes, {}, bytes});
        }
      }
    }
    return coded;
  }
  std::vector<std::uint64_t> place(std::span<const BatchCopy> sections,
                                   std::span<const Bytes> levels) override {
    for (const BatchCopy& section : sections)
      std::copy(section.from.begin(), section.from.end(), section.to.begin());
    return host_hashes(levels);
  }
  std::vector<BatchDecoded> decode(std::span<const BatchDecoding> frames) override {
    std::vector<BatchDecoded> decoded;
    for (const BatchDecoding& frame : frames) {
      BatchDecoded& one = decoded.emplace_back(BatchDecoded{true, host_hashes(frame.levels)});
      const FrameMask none;
      const FrameTarget target{
          frame.shape,  frame.min, frame.max, none,
          frame.values, nullptr,   nullptr,   {frame.shape.dims, {}, {1, 1, 1, 1}}};
      try {
        cpu_.decode({})->decode_values(target, frame.params, frame.passes);
      } catch (const ArchiveError&) {
        one.is_done = false;
      }
    }
    return decoded;
  }
  std::vector<Bytes> bring(std::span<const Bytes> strings) override {
    return {strings.begin(), strings.end()};
  }
  void upload(std::span<const BatchCopy> /*pieces*/) override {}
  void download(std::span<const BatchCopy> /*pieces*/) override {}

 private:
  std::unique_ptr<EncodeSession> session_of(const BatchFrame& frame, const PredictorParams& draft) {
    return cpu_.encode(frame.shape, frame.values, {}, draft, {});
  }

  Backend& cpu_;
  std::deque<std::vector<double>> drawn_;
  std::deque<std::vector<std::byte>> kept_;
};

struct Member {
  test::FrameTask task;
  std::vector<std::byte> values;
  std::vector<std::byte> archive = {};  ///< of a batch
};

/// Frames of many shapes and kinds.
std::vector<Member> members_of(PredictorId predictor) {
  std::vector<Member> members;
  for (const Dims& dims : {Dims{33, 18, 40}, Dims{5, 40, 70}, Dims{70, 131}, Dims{5000}, Dims{3}}) {
    for (const test::FieldKindName& kind : test::field_kinds) {
      test::FrameTask task;
      task.shape = {dims.rank() == 2 ? DType::f64 : DType::f32, dims};
      task.config.predictor.id = predictor;
      task.config.coder = CoderId::none;
      task.mode = ErrorMode::absolute;
      task.bound = 1e-3;
      members.push_back({task, test::make_field(kind.kind, dims, task.shape.dtype, 1)});
    }
  }
  return members;
}

std::vector<FrameToCode> frames_of(FrameBatch& batch, const std::vector<Member>& members) {
  std::vector<FrameToCode> frames;
  for (const Member& member : members) {
    const BatchFrame frame{member.task.shape, member.values};
    const PredictorParams draft = draft_predictor(member.task.config, frame.shape.dims);
    const bool is_scanned = std::holds_alternative<CellsParams>(draft);
    const auto range = is_scanned ? batch.scan({&frame, 1}) : batch.sample({&frame, 1});
    frames.push_back({frame, draft, range.front().value_or(BatchRange{}), member.task.bound});
  }
  return frames;
}

FrameToRestore to_restore(const Member& member, Bytes archive, std::vector<std::byte>& out) {
  const ByteCount table = read_frame_prefix(archive.first(frame_prefix_bytes));
  return {member.task.shape,
          read_frame_header(archive.subspan(frame_prefix_bytes, table), member.task.shape.dims,
                            member.task.shape.dtype),
          archive.subspan(frame_prefix_bytes + table), out};
}

}  // namespace

TEST_CASE("frames of a batch are those of single calls", "[unsanitized]") {
  const auto cpu = cpu::make_backend();
  FrameSlot slot;
  HostBatch batch(slot, *cpu);
  for (const PredictorId predictor : {PredictorId::tiles, PredictorId::cells}) {
    std::vector<Member> members = members_of(predictor);
    const auto headers =
        compress_batch(batch, frames_of(batch, members), [&](std::size_t i, ByteCount size) {
          members[i].archive.resize(size);
          return MutableBytes(members[i].archive);
        });
    for (std::size_t i = 0; i < members.size(); ++i) {
      Member& member = members[i];
      INFO(name_of(predictor) << ' ' << member.task.shape.dims.to_string() << ", kind "
                              << i % test::field_kinds.size());
      const CompressedFrame expected = test::compress(*cpu, member.task, member.values).frame;
      if (headers[i].empty()) {
        CHECK((expected.header.kind != FrameKind::coded || expected.header.masked() != 0));
        continue;
      }
      std::copy(headers[i].begin(), headers[i].end(), member.archive.begin());
      REQUIRE(member.archive == expected.bytes);

      std::vector<std::byte> restored(member.values.size());
      const FrameToRestore frame = to_restore(member, member.archive, restored);
      CHECK(decompress_batch(batch, {&frame, 1}) == std::vector<char>{1});
      CHECK(restored == test::restore(*cpu, member.task.shape, expected.bytes));
      member.archive.back() ^= std::byte{1};
      CHECK(decompress_batch(batch, {&frame, 1}) == std::vector<char>{0});
    }
  }
}

}  // namespace cuszi

#include "core/pipeline.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "core/lossless.hpp"

namespace cuszi {

namespace {

/// A relative bound below which the range's own rounding would decide; such a frame is lossless.
bool can_be_quantised(const LoadedFrame& frame, double bound) {
  const FieldScan& scan = frame.scan;
  const double range = scan.max - scan.min;
  return bound > 0 && range > 0 && std::isfinite(range) && scan.missing < frame.shape.points();
}

CoderParams coder_params(const HuffmanConfig& config) {
  return HuffmanParams{config.chunk, config.index, config.partition};
}

/// The table entry of a level, its hash yet unknown.
LevelEntry level_entry(const Sections& sections) {
  LevelEntry level;
  for (const Section& section : sections.list()) {
    level.sections.push_back({section.id, section.bytes.size()});
  }
  return level;
}

FrameHeader frame_header(const LoadedFrame& frame, std::uint64_t index, FrameKind kind) {
  FrameHeader header;
  header.index = index;
  header.kind = kind;
  header.missing = frame.scan.missing;
  header.min = frame.scan.min;
  header.max = frame.scan.max;
  return header;
}

/// Puts the levels one after the other behind the frame's header, hashes them and completes it.
void write_frame(Backend& backend, std::span<const Sections> levels, const Allocate& allocate,
                 FrameHeader& header) {
  const ByteCount header_bytes = write_frame_header(header).size();
  const MutableBytes bytes = allocate(header_bytes + header.payload_bytes());
  MutableBytes rest = bytes.subspan(header_bytes);
  for (std::size_t i = 0; i < levels.size(); ++i) {
    const MutableBytes level = rest.first(levels[i].size());
    backend.gather(levels[i], level);
    header.levels[i].hash = backend.hash(level);
    rest = rest.subspan(level.size());
  }
  backend.copy(write_frame_header(header), bytes.first(header_bytes));
}

/// The values packed losslessly, or as they are if that is no larger.
FrameReport keep_frame(Backend& backend, const LoadedFrame& frame, std::uint64_t index,
                       const Allocate& allocate) {
  std::vector<std::byte> values(frame.values.size());
  backend.copy(frame.values, values);
  const std::vector<std::byte> packed = pack_values(values, size_of(frame.shape.dtype));
  const bool pays = packed.size() < values.size();

  FrameReport result;
  result.header = frame_header(frame, index, pays ? FrameKind::lossless : FrameKind::stored);
  Sections sections;
  sections.add(SectionId::raw, pays ? packed : values);
  result.header.levels.push_back(level_entry(sections));
  write_frame(backend, std::span(&sections, 1), allocate, result.header);
  return result;
}

/// The frame coded with these parameters: the loop over passes. Nothing if that does not pay.
std::optional<FrameReport> code_frame(Backend& backend, const FrameConfig& config,
                                      const LoadedFrame& frame, const PredictorParams& predictor,
                                      std::uint64_t index, double bound, const Allocate& allocate,
                                      StepTimes& times) {
  FrameReport result;
  result.header = frame_header(frame, index, FrameKind::coded);
  result.header.predictor = predictor;
  result.header.coder = coder_params(config.huffman);

  const int passes = std::visit([](const auto& p) { return p.passes(); }, predictor);
  std::vector<Sections> levels(static_cast<std::size_t>(passes));
  EncodedMask mask;
  if (frame.scan.missing != 0) {
    times.measure("mask",
                  [&] { mask = encode_mask(backend.mask(), frame.shape.dims, frame.shape.dtype); });
    levels.front().add(SectionId::mask_bits, mask.bits);
    levels.front().add(SectionId::mask_values, mask.values);
  }
  for (int pass = 0; pass < passes; ++pass) {
    Sections& level = levels[static_cast<std::size_t>(pass)];
    times.measure("predict", [&] {
      backend.contexts(predictor, pass);
      const PassCounts counts = backend.predict_quantise(predictor, bound, pass, level);
      result.outliers += counts.outliers;
      result.patches += counts.patches;
    });
    times.measure("encode",
                  [&] { backend.encode(*result.header.coder, config.huffman.width, pass, level); });
  }
  for (const Sections& level : levels) result.header.levels.push_back(level_entry(level));
  const ByteCount size = write_frame_header(result.header).size() + result.header.payload_bytes();
  if (size >= frame.values.size()) return std::nullopt;
  times.measure("gather", [&] { write_frame(backend, levels, allocate, result.header); });
  return result;
}

/// Copies a section out of the memory it lies in.
std::vector<std::byte> to_host(Backend& backend, Bytes bytes) {
  std::vector<std::byte> host(bytes.size());
  backend.copy(bytes, host);
  return host;
}

Mask read_mask(Backend& backend, const FrameShape& shape, const FrameHeader& header,
               const Sections& sections) {
  if (header.missing == 0) return {};
  const EncodedMask encoded{to_host(backend, sections.at(SectionId::mask_bits)),
                            to_host(backend, sections.at(SectionId::mask_values))};
  return decode_mask(encoded, shape.dims, shape.dtype, header.missing);
}

void restore_kept_frame(Backend& backend, const FrameShape& shape, const FrameHeader& header,
                        Bytes payload, MutableBytes out) {
  const std::vector<std::byte> host = to_host(backend, payload);
  const Sections sections = read_level(header, 0, host);
  const Bytes raw = sections.at(SectionId::raw);
  if (header.kind == FrameKind::lossless) {
    std::vector<std::byte> values(out.size());
    unpack_values(raw, size_of(shape.dtype), values);
    backend.copy(values, out);
  } else if (raw.size() == out.size()) {
    backend.copy(raw, out);
  } else {
    throw ArchiveError("a stored frame has another size than its dims say");
  }
}

}  // namespace

LoadedFrame load_frame(Backend& backend, const FrameConfig& config, const FrameShape& shape,
                       Bytes values, const FillValues& fills, StepTimes& times) {
  LoadedFrame frame{shape, values, draft_predictor(config.predictor, shape.extents()), {}};
  times.measure("scan", [&] { frame.scan = backend.load(shape, values, fills, frame.draft); });
  return frame;
}

FrameReport compress_frame(Backend& backend, const FrameConfig& config, const LoadedFrame& frame,
                           std::uint64_t index, double bound, const Allocate& allocate,
                           StepTimes& times) {
  PredictorParams predictor = frame.draft;
  bool quantisable = can_be_quantised(frame, bound);
  if (quantisable) {
    std::visit(
        [&](auto& p) {
          p.choose(config.predictor, frame.scan, bound, frame.shape.dtype);
          quantisable = p.is_usable(frame.shape.dtype);
        },
        predictor);
  }
  if (quantisable) {
    auto coded = code_frame(backend, config, frame, predictor, index, bound, allocate, times);
    if (coded) return *std::move(coded);
  }
  return keep_frame(backend, frame, index, allocate);
}

CompressedFrame compress_frame(Backend& backend, const FrameConfig& config,
                               const LoadedFrame& frame, std::uint64_t index, double bound,
                               StepTimes& times) {
  CompressedFrame result;
  const Allocate allocate = [&](ByteCount size) {
    result.bytes.resize(size);
    return MutableBytes(result.bytes);
  };
  static_cast<FrameReport&>(result) =
      compress_frame(backend, config, frame, index, bound, allocate, times);
  return result;
}

void decompress_frame(Backend& backend, const FrameShape& shape, const FrameHeader& header,
                      Bytes payload, MutableBytes out, StepTimes& times) {
  if (header.kind != FrameKind::coded) {
    times.measure("unpack", [&] { restore_kept_frame(backend, shape, header, payload, out); });
    return;
  }
  const int passes = std::visit([](const auto& p) { return p.passes(); }, *header.predictor);
  const Bytes bytes = times.measure("upload", [&] { return backend.resident(payload); });
  const HashBytes hash = [&](Bytes level) { return backend.hash(level); };
  for (int pass = 0; pass < passes; ++pass) {
    const Sections level = times.measure(
        "check", [&] { return read_level(header, static_cast<std::size_t>(pass), bytes, hash); });
    if (pass == 0) {
      const Mask mask =
          times.measure("mask", [&] { return read_mask(backend, shape, header, level); });
      backend.begin(shape, header, mask, out);
    }
    times.measure("decode", [&] {
      backend.contexts(*header.predictor, pass);
      backend.decode(*header.coder, pass, level);
    });
    times.measure("reconstruct", [&] { backend.reconstruct(*header.predictor, pass, level); });
  }
  times.measure("finish", [&] { backend.finish(); });
}

}  // namespace cuszi

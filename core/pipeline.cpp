#include "core/pipeline.hpp"

#include <algorithm>
#include <cmath>

#include "core/hash.hpp"
#include "core/lossless.hpp"
#include "core/sparse_list.hpp"

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

/// The table entry of a level whose payload is `bytes`.
LevelEntry level_entry(const Sections& sections, Bytes bytes) {
  LevelEntry level;
  for (const Section& section : sections.list()) {
    level.sections.push_back({section.id, section.bytes.size()});
  }
  level.hash = block_hash(bytes);
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

void join(CompressedFrame& frame, Bytes payload) {
  frame.bytes = write_frame_header(frame.header);
  frame.bytes.insert(frame.bytes.end(), payload.begin(), payload.end());
}

void gather_levels(Backend& backend, std::span<const Sections> levels, CompressedFrame& frame) {
  ByteCount size = 0;
  for (const Sections& level : levels) size += level.size();
  std::vector<std::byte> payload(size);
  MutableBytes rest(payload);
  for (const Sections& level : levels) {
    const MutableBytes bytes = rest.first(level.size());
    backend.gather(level, bytes);
    frame.header.levels.push_back(level_entry(level, bytes));
    rest = rest.subspan(bytes.size());
  }
  join(frame, payload);
}

/// The values packed losslessly, or as they are if that is no larger.
CompressedFrame keep_frame(Backend& backend, const LoadedFrame& frame, std::uint64_t index) {
  std::vector<std::byte> values(frame.values.size());
  Sections raw;
  raw.add(SectionId::raw, frame.values);
  backend.gather(raw, values);
  std::vector<std::byte> packed = pack_values(values, size_of(frame.shape.dtype));
  const bool pays = packed.size() < values.size();
  const std::vector<std::byte>& payload = pays ? packed : values;

  CompressedFrame result;
  result.header = frame_header(frame, index, pays ? FrameKind::lossless : FrameKind::stored);
  Sections sections;
  sections.add(SectionId::raw, payload);
  result.header.levels.push_back(level_entry(sections, payload));
  join(result, payload);
  return result;
}

/// The frame coded with these parameters: the loop over passes.
CompressedFrame code_frame(Backend& backend, const FrameConfig& config, const LoadedFrame& frame,
                           const PredictorParams& predictor, std::uint64_t index, double bound,
                           StepTimes& times) {
  CompressedFrame result;
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
      backend.predict_quantise(predictor, bound, pass, level);
    });
    times.measure("encode",
                  [&] { backend.encode(*result.header.coder, config.huffman.width, pass, level); });
    result.outliers += SparseList::encoded_count(level.find(SectionId::outliers));
    result.patches += SparseList::encoded_count(level.find(SectionId::patches));
  }
  times.measure("gather", [&] { gather_levels(backend, levels, result); });
  return result;
}

Mask read_mask(const FrameShape& shape, const FrameHeader& header, const Sections& sections) {
  if (header.missing == 0) return {};
  const Bytes bits = sections.at(SectionId::mask_bits);
  const Bytes values = sections.at(SectionId::mask_values);
  const EncodedMask encoded{{bits.begin(), bits.end()}, {values.begin(), values.end()}};
  return decode_mask(encoded, shape.dims, shape.dtype, header.missing);
}

void restore_kept_frame(const FrameShape& shape, const FrameHeader& header, Bytes payload,
                        MutableBytes out) {
  const Sections sections = read_level(header, 0, payload);
  const Bytes raw = sections.at(SectionId::raw);
  if (header.kind == FrameKind::lossless) {
    unpack_values(raw, size_of(shape.dtype), out);
  } else if (raw.size() == out.size()) {
    std::copy(raw.begin(), raw.end(), out.begin());
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

CompressedFrame compress_frame(Backend& backend, const FrameConfig& config,
                               const LoadedFrame& frame, std::uint64_t index, double bound,
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
  if (!quantisable) return keep_frame(backend, frame, index);
  CompressedFrame coded = code_frame(backend, config, frame, predictor, index, bound, times);
  if (coded.bytes.size() < frame.values.size()) return coded;
  return keep_frame(backend, frame, index);
}

void decompress_frame(Backend& backend, const FrameShape& shape, const FrameHeader& header,
                      Bytes payload, MutableBytes out, StepTimes& times) {
  if (header.kind != FrameKind::coded) {
    times.measure("unpack", [&] { restore_kept_frame(shape, header, payload, out); });
    return;
  }
  const int passes = std::visit([](const auto& p) { return p.passes(); }, *header.predictor);
  Mask mask;
  for (int pass = 0; pass < passes; ++pass) {
    const Sections level = times.measure(
        "check", [&] { return read_level(header, static_cast<std::size_t>(pass), payload); });
    if (pass == 0) {
      mask = times.measure("mask", [&] { return read_mask(shape, header, level); });
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

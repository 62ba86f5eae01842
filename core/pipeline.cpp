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

std::vector<int> levels_of_passes(const PredictorParams& predictor) {
  return std::visit([](const auto& p) { return p.level_of_pass(); }, predictor);
}

std::uint32_t radius_of(const PredictorParams& predictor) {
  return std::visit([](const auto& p) { return p.radius; }, predictor);
}

/// The table entry of a level that holds the given passes and whose payload is `bytes`.
LevelEntry level_entry(std::span<const Sections> passes, Bytes bytes) {
  LevelEntry level;
  for (std::size_t pass = 0; pass < passes.size(); ++pass) {
    for (const Section& section : passes[pass].list()) {
      level.sections.push_back({section.id, section.bytes.size(), pass});
    }
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

ByteCount size_of_passes(std::span<const Sections> passes) {
  ByteCount size = 0;
  for (const Sections& pass : passes) size += pass.size();
  return size;
}

void gather_levels(Backend& backend, std::span<const int> level_of_pass,
                   std::span<const Sections> passes, CompressedFrame& frame) {
  std::vector<std::byte> payload(size_of_passes(passes));
  MutableBytes rest(payload);
  for (auto first = level_of_pass.begin(); first != level_of_pass.end();) {
    const auto end = std::upper_bound(first, level_of_pass.end(), *first);
    const auto level = passes.subspan(static_cast<std::size_t>(first - level_of_pass.begin()),
                                      static_cast<std::size_t>(end - first));
    const MutableBytes bytes = rest.first(size_of_passes(level));
    MutableBytes free = bytes;
    for (const Sections& pass : level) {
      backend.gather(pass, free.first(pass.size()));
      free = free.subspan(pass.size());
    }
    frame.header.levels.push_back(level_entry(level, bytes));
    rest = rest.subspan(bytes.size());
    first = end;
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
  result.header.levels.push_back(level_entry(std::span(&sections, 1), payload));
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
  result.header.coder = coder_params(config, radius_of(predictor));

  const std::vector<int> level_of_pass = levels_of_passes(predictor);
  std::vector<Sections> passes(level_of_pass.size());
  EncodedMask mask;
  if (frame.scan.missing != 0) {
    times.measure("mask",
                  [&] { mask = encode_mask(backend.mask(), frame.shape.dims, frame.shape.dtype); });
    passes.front().add(SectionId::mask_bits, mask.bits);
    passes.front().add(SectionId::mask_values, mask.values);
  }
  for (int pass = 0; pass < static_cast<int>(passes.size()); ++pass) {
    Sections& sections = passes[static_cast<std::size_t>(pass)];
    times.measure("predict", [&] { backend.predict_quantise(predictor, bound, pass, sections); });
    if (uses_contexts(*result.header.coder)) {
      times.measure("contexts", [&] { backend.fit_contexts(predictor, pass, sections); });
    }
    times.measure("encode", [&] {
      backend.encode(*result.header.coder, config.huffman.width, pass, sections);
    });
    result.outliers += SparseList::encoded_count(sections.find(SectionId::outliers));
    result.patches += SparseList::encoded_count(sections.find(SectionId::patches));
  }
  times.measure("gather", [&] { gather_levels(backend, level_of_pass, passes, result); });
  return result;
}

Mask read_mask(const FrameShape& shape, const FrameHeader& header, const Sections& sections) {
  if (header.missing == 0) return {};
  const Bytes bits = sections.at(SectionId::mask_bits);
  const Bytes values = sections.at(SectionId::mask_values);
  const EncodedMask encoded{{bits.begin(), bits.end()}, {values.begin(), values.end()}};
  return decode_mask(encoded, shape.dims, shape.dtype, header.missing);
}

/// The sections of all passes of the level that begins with `pass`.
std::vector<Sections> read_passes(const FrameHeader& header, const std::vector<int>& level_of_pass,
                                  std::size_t pass, Bytes payload) {
  const int level = level_of_pass[pass];
  const auto passes = std::count(level_of_pass.begin(), level_of_pass.end(), level);
  return read_level(header, static_cast<std::size_t>(level), static_cast<std::size_t>(passes),
                    payload);
}

void restore_pass(Backend& backend, const FrameHeader& header, int pass, const Sections& sections,
                  StepTimes& times) {
  if (uses_contexts(*header.coder)) {
    times.measure("contexts", [&] { backend.contexts(*header.predictor, pass, sections); });
  }
  times.measure("decode", [&] { backend.decode(*header.coder, pass, sections); });
  times.measure("reconstruct", [&] { backend.reconstruct(*header.predictor, pass, sections); });
}

void restore_kept_frame(const FrameShape& shape, const FrameHeader& header, Bytes payload,
                        MutableBytes out) {
  const Sections sections = read_level(header, 0, 1, payload).front();
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
  LoadedFrame frame{shape, values, draft_predictor(config.predictor, shape.dims), {}};
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
  times.measure("choose", [&] { backend.refine(predictor, config, bound); });
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
  const std::vector<int> level_of_pass = levels_of_passes(*header.predictor);
  Mask mask;
  std::vector<Sections> level;
  std::size_t first = 0;  // pass of the level
  for (std::size_t pass = 0; pass < level_of_pass.size(); ++pass) {
    if (pass == 0 || level_of_pass[pass] != level_of_pass[first]) {
      first = pass;
      level =
          times.measure("check", [&] { return read_passes(header, level_of_pass, pass, payload); });
    }
    if (pass == 0) {
      mask = times.measure("mask", [&] { return read_mask(shape, header, level.front()); });
      backend.begin(shape, header, mask, out);
    }
    restore_pass(backend, header, static_cast<int>(pass), level[pass - first], times);
  }
  times.measure("finish", [&] { backend.finish(); });
}

}  // namespace cuszi

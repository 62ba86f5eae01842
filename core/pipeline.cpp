#include "core/pipeline.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "core/constant.hpp"
#include "core/lossless.hpp"

namespace cuszi {

namespace {

/// A relative bound below which the range's own rounding would decide; such a frame is lossless.
bool can_be_quantised(const LoadedFrame& frame, double bound) {
  const FieldScan& scan = frame.scan;
  const double range = scan.max - scan.min;
  return bound > 0 && range > 0 && std::isfinite(range) && scan.missing < frame.shape.points();
}

std::uint32_t radius_of(const PredictorParams& predictor) {
  return std::visit([](const auto& p) { return p.radius; }, predictor);
}

/// The table entry of a level that holds the given passes, its hash yet unknown.
LevelEntry level_entry(std::span<const Sections> passes) {
  LevelEntry level;
  for (std::size_t pass = 0; pass < passes.size(); ++pass) {
    for (const Section& section : passes[pass].list()) {
      level.sections.push_back({section.id, section.bytes.size(), pass, section.unpacked});
    }
  }
  return level;
}

/// The table entries of all levels: passes of one level are neighbours.
std::vector<LevelEntry> level_entries(std::span<const int> pass_levels,
                                      std::span<const Sections> passes) {
  std::vector<LevelEntry> levels;
  for (auto first = pass_levels.begin(); first != pass_levels.end();) {
    const auto end = std::upper_bound(first, pass_levels.end(), *first);
    levels.push_back(
        level_entry(passes.subspan(static_cast<std::size_t>(first - pass_levels.begin()),
                                   static_cast<std::size_t>(end - first))));
    first = end;
  }
  return levels;
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

/// Puts the passes one after the other behind the frame's header, hashes each level and completes
/// the header.
void write_frame(Backend& backend, std::span<const Sections> passes, const Allocate& allocate,
                 FrameHeader& header) {
  const ByteCount header_bytes = write_frame_header(header).size();
  const MutableBytes bytes = allocate(header_bytes + header.payload_bytes());
  MutableBytes rest = bytes.subspan(header_bytes);
  for (const Sections& pass : passes) {
    backend.gather(pass, rest.first(pass.size()));
    rest = rest.subspan(pass.size());
  }
  rest = bytes.subspan(header_bytes);
  for (LevelEntry& level : header.levels) {
    level.hash = backend.hash(rest.first(level.size()));
    rest = rest.subspan(level.size());
  }
  backend.copy(write_frame_header(header), bytes.first(header_bytes));
}

/// Whether a frame with this header is smaller than its values.
bool pays(const FrameHeader& header, const LoadedFrame& frame) {
  return write_frame_header(header).size() + header.payload_bytes() < frame.values.size();
}

/// The mask of the loaded frame, empty if no point is missing.
EncodedMask code_mask(Backend& backend, const LoadedFrame& frame, StepTimes& times) {
  if (frame.scan.missing == 0) return {};
  return times.measure(
      "mask", [&] { return encode_mask(backend.mask(), frame.shape.dims, frame.shape.dtype); });
}

void add_mask(const EncodedMask& mask, Sections& out) {
  if (mask.bits.empty()) return;
  out.add(SectionId::mask_bits, mask.bits);
  out.add(SectionId::mask_values, mask.values);
}

/// The values packed losslessly, or as they are if that is no larger.
FrameReport keep_frame(Backend& backend, const LoadedFrame& frame, std::uint64_t index,
                       const Allocate& allocate) {
  std::vector<std::byte> values(frame.values.size());
  backend.copy(frame.values, values);
  const std::vector<std::byte> packed = pack_values(values, size_of(frame.shape.dtype));
  const bool is_smaller = packed.size() < values.size();

  FrameReport result;
  result.header = frame_header(frame, index, is_smaller ? FrameKind::lossless : FrameKind::stored);
  Sections sections;
  sections.add(SectionId::raw, is_smaller ? packed : values);
  result.header.levels.push_back(level_entry(std::span(&sections, 1)));
  write_frame(backend, std::span(&sections, 1), allocate, result.header);
  return result;
}

/// The bits that all points have that are not missing, if they have the same.
std::optional<std::uint64_t> only_bits(Backend& backend, const LoadedFrame& frame) {
  const FieldScan& scan = frame.scan;
  if (scan.min != scan.max || scan.missing == frame.shape.points()) return std::nullopt;
  const DType dtype = frame.shape.dtype;
  // The scan does not tell -0 from 0.
  if (scan.min == 0 && backend.holds(bits_of(-0.0, dtype))) return std::nullopt;
  return bits_of(scan.min, dtype);
}

/// The frame as the only value of its points. Nothing if they have several or it does not pay.
std::optional<FrameReport> code_constant_frame(Backend& backend, const LoadedFrame& frame,
                                               std::uint64_t index, const Allocate& allocate,
                                               StepTimes& times) {
  const auto bits = times.measure("scan", [&] { return only_bits(backend, frame); });
  if (!bits) return std::nullopt;
  const std::vector<std::byte> raw =
      encode_constant(*bits, frame.shape.dtype, least_payload_bytes(frame.values.size()));
  const EncodedMask mask = code_mask(backend, frame, times);
  Sections sections;
  add_mask(mask, sections);
  sections.add(SectionId::raw, raw);

  FrameReport result;
  result.header = frame_header(frame, index, FrameKind::constant);
  result.header.levels.push_back(level_entry(std::span(&sections, 1)));
  if (!pays(result.header, frame)) return std::nullopt;
  times.measure("gather",
                [&] { write_frame(backend, std::span(&sections, 1), allocate, result.header); });
  return result;
}

/// The frame coded with these parameters: the loop over passes. Nothing if that does not pay.
std::optional<FrameReport> code_frame(Backend& backend, const FrameConfig& config,
                                      const LoadedFrame& frame, const Method& method,
                                      std::uint64_t index, double bound, const Allocate& allocate,
                                      StepTimes& times) {
  const PredictorParams& predictor = method.predictor;
  FrameReport result;
  result.header = frame_header(frame, index, FrameKind::coded);
  result.header.predictor = predictor;
  result.header.coder = coder_params(method.coder, config.huffman, radius_of(predictor));

  const std::vector<int> pass_levels = level_of_pass(predictor);
  std::vector<Sections> passes(pass_levels.size());
  const EncodedMask mask = code_mask(backend, frame, times);
  add_mask(mask, passes.front());
  for (int pass = 0; pass < static_cast<int>(passes.size()); ++pass) {
    Sections& sections = passes[static_cast<std::size_t>(pass)];
    times.measure("predict", [&] {
      const PassCounts counts = backend.predict_quantise(predictor, bound, pass, sections);
      result.outliers += counts.outliers;
      result.patches += counts.patches;
    });
    if (uses_contexts(*result.header.coder)) {
      times.measure("contexts", [&] { backend.fit_contexts(predictor, pass, sections); });
    }
    times.measure("encode",
                  [&] { backend.encode(*result.header.coder, config.huffman, pass, sections); });
    if (config.lossless == Lossless::bitcomp) {
      times.measure("pack", [&] { backend.pack(sections); });
    }
  }
  result.header.levels = level_entries(pass_levels, passes);
  if (!pays(result.header, frame)) return std::nullopt;
  times.measure("gather", [&] { write_frame(backend, passes, allocate, result.header); });
  return result;
}

/// Copies a section out of the memory it lies in.
std::vector<std::byte> to_host(Backend& backend, Bytes bytes) {
  std::vector<std::byte> host(bytes.size());
  backend.copy(bytes, host);
  return host;
}

/// The mask of the restored points.
Mask read_mask(Backend& backend, const FrameShape& shape, const FrameHeader& header,
               const Selection& restored, const Sections& sections) {
  if (header.missing == 0) return {};
  const EncodedMask encoded{to_host(backend, sections.at(SectionId::mask_bits)),
                            to_host(backend, sections.at(SectionId::mask_values))};
  const Mask mask = decode_mask(encoded, shape.dims, shape.dtype, header.missing);
  return restored.all() ? mask : pick(restored, shape.dtype, mask);
}

/// The sections of all passes of the level that begins with `pass`.
std::vector<Sections> read_passes(Backend& backend, const FrameHeader& header,
                                  const std::vector<int>& pass_levels, std::size_t pass,
                                  Bytes payload) {
  const int level = pass_levels[pass];
  const auto passes = std::count(pass_levels.begin(), pass_levels.end(), level);
  return read_level(header, static_cast<std::size_t>(level), static_cast<std::size_t>(passes),
                    payload, [&](Bytes bytes) { return backend.hash(bytes); });
}

void restore_pass(Backend& backend, const FrameHeader& header, int pass, const Sections& sections,
                  StepTimes& times) {
  if (uses_contexts(*header.coder)) {
    times.measure("contexts", [&] { backend.contexts(*header.predictor, pass, sections); });
  }
  times.measure("decode", [&] { backend.decode(*header.coder, pass, sections); });
  times.measure("reconstruct", [&] { backend.reconstruct(*header.predictor, pass, sections); });
}

void restore_kept_frame(Backend& backend, const FrameShape& shape, const FrameHeader& header,
                        Bytes payload, MutableBytes out) {
  const std::vector<std::byte> host = to_host(backend, payload);
  const Sections sections = read_level(header, 0, 1, host).front();
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

/// The one value of a constant frame at some of its points.
void restore_constant_frame(Backend& backend, const FrameShape& shape, const FrameHeader& header,
                            const FramePreview& preview, Bytes bytes, MutableBytes out,
                            StepTimes& times) {
  const auto hash = [&](Bytes level) { return backend.hash(level); };
  const Sections sections =
      times.measure("check", [&] { return read_level(header, 0, 1, bytes, hash).front(); });
  const std::uint64_t bits =
      decode_constant(to_host(backend, sections.at(SectionId::raw)), shape.dtype);
  const Mask mask = times.measure(
      "mask", [&] { return read_mask(backend, shape, header, preview.restored, sections); });
  times.measure("fill", [&] {
    backend.begin({shape.dtype, preview.restored.dims()}, header, mask, out);
    backend.fill(bits);
  });
  times.measure("finish", [&] { backend.finish(); });
}

/// The header of a frame that has only the points that `preview` restores.
FrameHeader header_of(const FrameHeader& header, const FramePreview& preview) {
  FrameHeader result = header;
  if (auto* const params = std::get_if<MultilevelParams>(&*result.predictor)) {
    *params = params->at_stride(preview.stride);
  }
  return result;
}

/// The passes that restore some of a coded frame's points, level by level.
void restore_passes(Backend& backend, const FrameShape& shape, const FrameHeader& header,
                    const FramePreview& preview, Bytes bytes, MutableBytes out, StepTimes& times) {
  const FrameHeader restored = header_of(header, preview);
  const std::vector<int> pass_levels = level_of_pass(*header.predictor);
  Mask mask;
  std::vector<Sections> level;
  std::size_t first = 0;  // pass of the level
  for (std::size_t pass = 0; pass < preview.passes; ++pass) {
    if (pass == 0 || pass_levels[pass] != pass_levels[first]) {
      first = pass;
      level = times.measure("check",
                            [&] { return read_passes(backend, header, pass_levels, pass, bytes); });
      if (header.is_packed()) {
        times.measure("unpack", [&] {
          for (Sections& sections : level) backend.unpack(sections);
        });
      }
    }
    if (pass == 0) {
      mask = times.measure("mask", [&] {
        return read_mask(backend, shape, header, preview.restored, level.front());
      });
      backend.begin({shape.dtype, preview.restored.dims()}, restored, mask, out);
    }
    restore_pass(backend, restored, static_cast<int>(pass), level[pass - first], times);
  }
  times.measure("finish", [&] { backend.finish(); });
}

void restore_points(Backend& backend, const FrameShape& shape, const FrameHeader& header,
                    const FramePreview& preview, Bytes payload, MutableBytes out,
                    StepTimes& times) {
  if (header.kind == FrameKind::stored || header.kind == FrameKind::lossless) {
    times.measure("unpack", [&] { restore_kept_frame(backend, shape, header, payload, out); });
    return;
  }
  const Bytes bytes = times.measure("upload", [&] { return backend.resident(payload); });
  if (header.kind == FrameKind::constant) {
    restore_constant_frame(backend, shape, header, preview, bytes, out, times);
  } else {
    restore_passes(backend, shape, header, preview, bytes, out, times);
  }
}

}  // namespace

LoadedFrame load_frame(Backend& backend, const FrameConfig& config, const FrameShape& shape,
                       Bytes values, const FillValues& fills, StepTimes& times) {
  LoadedFrame frame{shape, values, draft_predictor(config.predictor, shape.dims), {}};
  times.measure("scan", [&] { frame.scan = backend.load(shape, values, fills, frame.draft); });
  return frame;
}

FrameReport compress_frame(Backend& backend, const FrameConfig& config, const LoadedFrame& frame,
                           std::uint64_t index, double bound, const Allocate& allocate,
                           StepTimes& times) {
  if (auto constant = code_constant_frame(backend, frame, index, allocate, times)) {
    return *std::move(constant);
  }
  Method method{frame.draft, config.coder};
  bool quantisable = can_be_quantised(frame, bound);
  if (quantisable) {
    std::visit(
        [&](auto& p) {
          p.choose(config.predictor, frame.scan, bound, frame.shape.dtype);
          quantisable = p.is_usable(frame.shape.dtype);
        },
        method.predictor);
  }
  if (quantisable) {
    times.measure("choose", [&] { backend.refine(method, config, bound); });
    auto coded = code_frame(backend, config, frame, method, index, bound, allocate, times);
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
  const Selection all{shape.dims, {}, {1, 1, 1, 1}};
  decompress_frame(backend, shape, header, FramePreview::of(shape.dims, header, all), payload, out,
                   times);
}

void decompress_frame(Backend& backend, const FrameShape& shape, Bytes frame, MutableBytes out,
                      StepTimes& times) {
  if (frame.size() < frame_prefix_bytes) throw ArchiveError("a frame ends within its header");
  const ByteCount table = read_frame_prefix(to_host(backend, frame.first(frame_prefix_bytes)));
  const Bytes rest = frame.subspan(frame_prefix_bytes);
  if (rest.size() < table) throw ArchiveError("a frame ends within its header");
  const FrameHeader header =
      read_frame_header(to_host(backend, rest.first(table)), shape.dims, shape.dtype);
  const Bytes payload = rest.subspan(table);
  if (payload.size() != header.payload_bytes()) {
    throw ArchiveError("a frame is not of the size that its header says");
  }
  decompress_frame(backend, shape, header, payload, out, times);
}

void decompress_frame(Backend& backend, const FrameShape& shape, const FrameHeader& header,
                      const FramePreview& preview, Bytes payload, MutableBytes out,
                      StepTimes& times) {
  if (preview.shown.all()) {
    restore_points(backend, shape, header, preview, payload, out, times);
    return;
  }
  std::vector<std::byte> restored(preview.restored.points() * size_of(shape.dtype));
  restore_points(backend, shape, header, preview, payload, restored, times);
  times.measure("pick", [&] { pick(preview.shown, shape.dtype, restored, out); });
}

}  // namespace cuszi

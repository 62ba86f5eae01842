#include <algorithm>

#include "core/base/floating_point.hpp"
#include "core/base/lossless.hpp"
#include "core/field/stored_type.hpp"
#include "core/pipeline/coded_frame.hpp"
#include "core/pipeline/pipeline.hpp"

namespace cuszi {

namespace {

std::vector<std::byte> to_host(Backend& backend, Bytes bytes) {
  std::vector<std::byte> host(bytes.size());
  backend.copy(bytes, host);
  return host;
}

FrameMask read_mask(Backend& backend, const FrameShape& shape, const FrameHeader& header,
                    const Selection& restored, const Sections& sections, StepTimes& times) {
  if (header.masked() == 0) return {};
  return times.measure("mask", [&] {
    const EncodedMask encoded{to_host(backend, sections.at(SectionId::mask_bits)),
                              to_host(backend, sections.at(SectionId::mask_values))};
    FrameMask mask =
        decode_mask(encoded, shape.points(), shape.dtype, header.masked(), host_work_of(backend));
    if (restored.all()) return mask;
    return compact(pick(restored, shape.dtype, expand(mask, shape.dims, shape.dtype)),
                   restored.dims(), shape.dtype);
  });
}

HashStrings hashes_by(Backend& backend) {
  return [&backend](std::span<const Bytes> strings) { return backend.hashes(strings); };
}

/// If hashes are computed concurrently, nothing restored may be used before finish().
class LevelCheck {
 public:
  LevelCheck(Backend& backend, const FrameHeader& header, std::span<const Bytes> levels)
      : header_(header), pending_(backend.start_hashes(levels)) {
    if (!pending_) check_levels(header, backend.hashes(levels));
  }

  /// Throws ArchiveError.
  void finish() const {
    if (pending_) check_levels(header_, pending_());
  }

 private:
  const FrameHeader& header_;
  PendingHashes pending_;
};

/// For frames of one pass.
Sections read_only_pass(const FrameHeader& header, Bytes payload, const HashStrings& hashes) {
  const std::vector<Bytes> bytes = read_levels(header, 1, payload, hashes);
  return read_passes(header.levels.front(), 1, bytes.front()).front();
}

WordSections<Bytes> words_of(const Sections& sections) {
  return {sections.at(SectionId::codebook), sections.at(SectionId::index),
          sections.at(SectionId::contexts), sections.find(SectionId::codes),
          sections.find(SectionId::raw)};
}

void restore_kept_frame(Backend& backend, const FrameShape& shape, const FrameHeader& header,
                        Bytes payload, MutableBytes out) {
  const std::vector<std::byte> host = to_host(backend, payload);
  const Sections sections = read_only_pass(header, host, host_hashes);
  const Bytes raw = sections.at(SectionId::raw);
  if (header.kind == FrameKind::lossless) {
    std::vector<std::byte> values(out.size());
    unpack_values(raw, size_of(shape.dtype), values);
    backend.copy(values, out);
  } else if (raw.size() == out.size()) {
    backend.copy(raw, out);
  } else {
    throw ArchiveError("the size of a stored frame does not match its dims");
  }
}

std::optional<TransformTarget> read_transform(DecodeSession& session, const FrameShape& shape,
                                              const FrameHeader& header, const Selection& restored,
                                              const Sections& sections, StepTimes& times) {
  if (!header.transform) return std::nullopt;
  TransformTarget target{*header.transform, header.min, header.max};
  target.is_by_tiles = is_by_tiles(header.transform->params, *header.predictor);
  if (target.is_by_tiles) return target;
  const bool are_alike = header.min >= 0 || header.max <= 0;
  if (are_alike || has_signs(header.transform->params)) return target;
  return times.measure("signs", [&] {
    target.negative = session.decode_signs(sections.at(SectionId::signs), shape.dims, restored);
    return target;
  });
}

std::optional<LocalBounds> read_bounds(Backend& backend, const FrameShape& shape,
                                       const FrameHeader& header, const Sections& sections,
                                       StepTimes& times) {
  if (!header.bounds || !sections.has(SectionId::bounds)) return std::nullopt;
  return times.measure("bounds", [&] {
    return LocalBounds::decode(to_host(backend, sections.at(SectionId::bounds)), shape);
  });
}

FrameTarget target_of(const FrameShape& shape, const FrameHeader& header,
                      const FramePreview& preview, const FrameMask& mask, MutableBytes out) {
  FrameTarget target{{shape.dtype, preview.restored.dims()}, header.min, header.max, mask, out};
  target.points = preview.restored;
  target.stride = preview.stride;
  return target;
}

void restore_constant_frame(Backend& backend, DecodeSession& session, const FrameShape& shape,
                            const FrameHeader& header, const FramePreview& preview,
                            MutableBytes out, StepTimes& times) {
  const Sections sections = times.measure(
      "check", [&] { return read_only_pass(header, session.payload(), hashes_by(backend)); });
  const std::uint64_t bits =
      decode_constant(to_host(backend, sections.at(SectionId::raw)), work_of(shape.dtype));
  const FrameMask mask =
      read_mask(backend, shape.work(), header, preview.restored, sections, times);
  times.measure("fill", [&] { session.fill(target_of(shape, header, preview, mask, out), bits); });
}

PredictorParams predictor_of(const FrameHeader& header, const FramePreview& preview) {
  PredictorParams result = *header.predictor;
  if (auto* const params = std::get_if<MultilevelParams>(&result)) {
    *params = params->at_stride(preview.stride);
  }
  return result;
}

/// Contexts of a pass depend on values of earlier passes.
void restore_passes(PassDecoder& decoder, std::span<const CodedLevel> levels,
                    std::span<const PassShape> shapes, std::span<const Sections> passes,
                    bool with_contexts, StepTimes& times) {
  constexpr double decoding = 0.3;  // share of the work
  times.measure("decode", [&] { decoder.decode(levels); });
  times.tell(decoding);
  double all = 0;
  for (const PassShape& shape : shapes.first(passes.size())) {
    all += static_cast<double>(shape.points);
  }
  double done = 0;
  for (std::size_t i = 0; i < passes.size(); ++i) {
    const auto pass = static_cast<int>(i);
    if (with_contexts) {
      times.measure("contexts", [&] { decoder.contexts(pass, passes[i]); });
    }
    times.measure("place", [&] { decoder.place(pass); });
    times.measure("reconstruct", [&] { decoder.reconstruct(pass, passes[i]); });
    done += static_cast<double>(shapes[i].points);
    times.tell(decoding + (1 - decoding) * done / all);
  }
  times.measure("finish", [&] { decoder.finish(); });
}

/// Needs the levels that hold the points.
void restore_levels(Backend& backend, DecodeSession& session, const FrameShape& shape,
                    const FrameHeader& header, const FramePreview& preview,
                    std::span<const Bytes> levels, MutableBytes out, StepTimes& times) {
  const std::vector<int> pass_levels = level_of_pass(*header.predictor);
  std::vector<Sections> passes = read_sections(header, levels);
  if (header.is_packed()) {
    times.measure("unpack", [&] {
      for (Sections& sections : passes) session.unpack(sections);
    });
  }
  const FrameMask mask =
      read_mask(backend, shape.work(), header, preview.restored, passes.front(), times);
  const auto transform =
      read_transform(session, shape, header, preview.restored, passes.front(), times);
  FrameTarget target = target_of(shape, header, preview, mask, out);
  if (transform) {
    target.min = header.transform->min;
    target.max = header.transform->max;
    target.transform = &*transform;
  }
  const auto local = read_bounds(backend, shape.work(), header, passes.front(), times);
  if (local) target.local = &*local;
  if (has_own_coder(id_of(*header.predictor))) {
    times.measure("decode", [&] {
      session.decode_values(target, *header.predictor,
                            std::span(passes).first(std::min(preview.passes, passes.size())));
    });
  } else {
    const PredictorParams predictor = predictor_of(header, preview);
    const auto shapes = pass_shapes(*header.predictor, shape.points());
    const auto decoder = session.passes(target, predictor, *header.coder);
    restore_passes(*decoder, coded_levels(pass_levels, shapes, passes), shapes,
                   std::span(passes).first(preview.passes), uses_contexts(*header.coder), times);
  }
}

void restore_words(DecodeSession& session, const FrameShape& shape, const FrameHeader& header,
                   Bytes level, MutableBytes out, StepTimes& times) {
  const Sections sections = read_passes(header.levels.front(), 1, level).front();
  times.measure("decode", [&] { session.decode_words(shape, sections, out); });
}

/// Calls restore(levels) beside the check of their hashes.
template <class Restore>
void restore_checked(Backend& backend, const DecodeSession& session, const FrameHeader& header,
                     std::size_t count, StepTimes& times, const Restore& restore) {
  const std::vector<Bytes> levels = cut_levels(header, count, session.payload());
  const auto check = times.measure("check", [&] { return LevelCheck(backend, header, levels); });
  try {
    restore(levels);
  } catch (...) {
    check.finish();  // errors may be consequences of damage
    throw;
  }
  times.measure("check", [&] { check.finish(); });
}

void restore_predicted_frame(DecodeSession& session, const FrameShape& shape,
                             const FrameHeader& header, Bytes level, MutableBytes out,
                             StepTimes& times) {
  const Sections sections = read_passes(header.levels.front(), 1, level).front();
  times.measure("decode", [&] { session.decode_lossless(words_of(sections), shape, out); });
}

void restore_points(Backend& backend, const FrameShape& shape, const FrameHeader& header,
                    const FramePreview& preview, const FramePayload& payload, MutableBytes out,
                    StepTimes& times) {
  if (header.kind == FrameKind::stored || header.kind == FrameKind::lossless) {
    times.measure("unpack",
                  [&] { restore_kept_frame(backend, shape, header, payload.bytes, out); });
    return;
  }
  const auto session = times.measure("upload", [&] { return backend.decode(payload.bytes); });
  session->learn_begin(payload.begin_on_host);
  if (header.kind == FrameKind::constant) {
    restore_constant_frame(backend, *session, shape, header, preview, out, times);
    return;
  }
  const bool is_kept = is_without_loss(header.kind);
  restore_checked(backend, *session, header, is_kept ? 1 : preview.levels, times,
                  [&](std::span<const Bytes> levels) {
                    if (header.kind == FrameKind::predicted)
                      return restore_predicted_frame(*session, shape, header, levels.front(), out,
                                                     times);
                    if (header.kind == FrameKind::tiled)
                      return restore_words(*session, shape, header, levels.front(), out, times);
                    restore_levels(backend, *session, shape, header, preview, levels, out, times);
                  });
}

}  // namespace

std::optional<FrameBoundsByPlace> bounds_of_frame(Backend& backend, const FrameShape& shape,
                                                  const FrameHeader& header, Bytes payload) {
  if (!header.bounds) return std::nullopt;
  std::optional<LocalBounds> bounds;
  const Sections sections = read_sections(header, cut_levels(header, 1, payload)).front();
  if (sections.has(SectionId::bounds)) {
    bounds = LocalBounds::decode(to_host(backend, sections.at(SectionId::bounds)), shape.work());
    for (LocalBound& local : bounds->bounds) local.bound = bound_of_local(shape.dtype, local.bound);
  }
  return FrameBoundsByPlace{bound_of_local(shape.dtype, header.bounds->largest), std::move(bounds)};
}

void decompress_frame(Backend& backend, const FrameShape& shape, const FrameHeader& header,
                      const FramePayload& payload, MutableBytes out, StepTimes& times) {
  const Selection all{shape.dims, {}, {1, 1, 1, 1}};
  decompress_frame(backend, shape, header, FramePreview::of(shape.dims, header, all), payload, out,
                   times);
}

void decompress_frame(Backend& backend, const FrameShape& shape, Bytes frame, MutableBytes out,
                      StepTimes& times) {
  if (frame.size() < frame_prefix_bytes) throw ArchiveError("a frame ends within its header");
  constexpr ByteCount most_headers = 4096;  // in one copy, with what follows
  const std::vector<std::byte> begin =
      to_host(backend, frame.first(std::min<ByteCount>(frame.size(), most_headers)));
  const ByteCount table = read_frame_prefix(Bytes(begin).first(frame_prefix_bytes));
  const Bytes rest = frame.subspan(frame_prefix_bytes);
  if (rest.size() < table) throw ArchiveError("a frame ends within its header");
  const FrameHeader header =
      frame_prefix_bytes + table <= begin.size()
          ? read_frame_header(Bytes(begin).subspan(frame_prefix_bytes, table), shape.dims,
                              shape.dtype)
          : read_frame_header(to_host(backend, rest.first(table)), shape.dims, shape.dtype);
  const Bytes payload = rest.subspan(table);
  if (payload.size() != header.payload_bytes()) {
    throw ArchiveError("the size of a frame does not match its header");
  }
  const Bytes begin_of_payload =
      Bytes(begin).subspan(std::min<ByteCount>(begin.size(), frame_prefix_bytes + table));
  decompress_frame(backend, shape, header, FramePayload(payload, begin_of_payload), out, times);
}

void decompress_frame(Backend& backend, const FrameShape& shape, const FrameHeader& header,
                      const FramePreview& preview, const FramePayload& payload, MutableBytes out,
                      StepTimes& times) {
  const IeeeArithmetic arithmetic;
  if (preview.shown.all()) {
    restore_points(backend, shape, header, preview, payload, out, times);
    return;
  }
  std::vector<std::byte> restored(preview.restored.points() * size_of(shape.dtype));
  restore_points(backend, shape, header, preview, payload, restored, times);
  times.measure("pick", [&] {
    std::vector<std::byte> shown(out.size());
    pick(preview.shown, shape.dtype, restored, shown);
    backend.copy(shown, out);
  });
}

}  // namespace cuszi

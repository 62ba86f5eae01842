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

/// A frame with all that the steps of its restoration share.
struct DecodeWork {
  Backend& backend;
  const FrameShape& shape;
  const FrameHeader& header;
  const FramePreview& preview;
  MutableBytes out;
  StepTimes& times;
};

FrameMask read_mask(const DecodeWork& work, const Sections& sections) {
  if (work.header.masked() == 0) return {};
  const FrameShape shape = work.shape.work();
  const Selection& restored = work.preview.restored;
  return work.times.measure("mask", [&] {
    const EncodedMask encoded{to_host(work.backend, sections.at(SectionId::mask_bits)),
                              to_host(work.backend, sections.at(SectionId::mask_values))};
    FrameMask mask = decode_mask(encoded, shape.points(), shape.dtype, work.header.masked(),
                                 host_work_of(work.backend));
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

void restore_kept_frame(const DecodeWork& work, Bytes payload) {
  const std::vector<std::byte> host = to_host(work.backend, payload);
  const Sections sections = read_only_pass(work.header, host, host_hashes);
  const Bytes raw = sections.at(SectionId::raw);
  if (work.header.kind == FrameKind::lossless) {
    std::vector<std::byte> values(work.out.size());
    unpack_values(raw, size_of(work.shape.dtype), values);
    work.backend.copy(values, work.out);
  } else if (raw.size() == work.out.size()) {
    work.backend.copy(raw, work.out);
  } else {
    throw ArchiveError("the size of a stored frame does not match its dims");
  }
}

std::optional<TransformTarget> read_transform(const DecodeWork& work, DecodeSession& session,
                                              const Sections& sections) {
  const FrameHeader& header = work.header;
  if (!header.transform) return std::nullopt;
  TransformTarget target{*header.transform, header.min, header.max};
  target.is_by_tiles = is_by_tiles(header.transform->params, *header.predictor);
  if (target.is_by_tiles) return target;
  const bool are_alike = header.min >= 0 || header.max <= 0;
  if (are_alike || has_signs(header.transform->params)) return target;
  return work.times.measure("signs", [&] {
    target.negative =
        session.decode_signs(sections.at(SectionId::signs), work.shape.dims, work.preview.restored);
    return target;
  });
}

std::optional<LocalBounds> read_bounds(const DecodeWork& work, const Sections& sections) {
  if (!work.header.bounds || !sections.has(SectionId::bounds)) return std::nullopt;
  return work.times.measure("bounds", [&] {
    return LocalBounds::decode(to_host(work.backend, sections.at(SectionId::bounds)),
                               work.shape.work());
  });
}

FrameTarget target_of(const DecodeWork& work, const FrameMask& mask) {
  const FramePreview& preview = work.preview;
  FrameTarget target{{work.shape.dtype, preview.restored.dims()},
                     work.header.min,
                     work.header.max,
                     mask,
                     work.out};
  target.points = preview.restored;
  target.stride = preview.stride;
  return target;
}

void restore_constant_frame(const DecodeWork& work, DecodeSession& session) {
  const Sections sections = work.times.measure("check", [&] {
    return read_only_pass(work.header, session.payload(), hashes_by(work.backend));
  });
  const std::uint64_t bits = decode_constant(to_host(work.backend, sections.at(SectionId::raw)),
                                             work_of(work.shape.dtype));
  const FrameMask mask = read_mask(work, sections);
  work.times.measure("fill", [&] { session.fill(target_of(work, mask), bits); });
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
void restore_levels(const DecodeWork& work, DecodeSession& session, std::span<const Bytes> levels) {
  const FrameHeader& header = work.header;
  const FramePreview& preview = work.preview;
  const PredictorParams& predictor = *header.predictor;
  StepTimes& times = work.times;
  std::vector<Sections> passes = read_sections(header, levels);
  if (header.is_packed()) {
    times.measure("unpack", [&] {
      for (Sections& sections : passes) session.unpack(sections);
    });
  }
  const FrameMask mask = read_mask(work, passes.front());
  const auto transform = read_transform(work, session, passes.front());
  FrameTarget target = target_of(work, mask);
  if (transform) {
    target.min = header.transform->min;
    target.max = header.transform->max;
    target.transform = &*transform;
  }
  const auto local = read_bounds(work, passes.front());
  if (local) target.local = &*local;
  const auto some = std::span(passes).first(std::min(preview.passes, passes.size()));
  if (has_own_coder(id_of(predictor))) {
    times.measure("decode", [&] { session.decode_values(target, predictor, some); });
    return;
  }
  const auto shapes = pass_shapes(predictor, work.shape.points());
  const PredictorParams of_stride = predictor_of(header, preview);
  const auto decoder = session.passes(target, of_stride, *header.coder);
  restore_passes(*decoder, coded_levels(level_of_pass(predictor), shapes, passes), shapes, some,
                 uses_contexts(*header.coder), times);
}

void restore_words(const DecodeWork& work, DecodeSession& session, Bytes level) {
  const Sections sections = read_passes(work.header.levels.front(), 1, level).front();
  work.times.measure("decode", [&] { session.decode_words(work.shape, sections, work.out); });
}

void restore_predicted_frame(const DecodeWork& work, DecodeSession& session, Bytes level) {
  const Sections sections = read_passes(work.header.levels.front(), 1, level).front();
  work.times.measure("decode",
                     [&] { session.decode_lossless(words_of(sections), work.shape, work.out); });
}

/// Calls restore(levels) beside the check of their hashes.
template <class Restore>
void restore_checked(const DecodeWork& work, const DecodeSession& session, std::size_t count,
                     const Restore& restore) {
  const std::vector<Bytes> levels = cut_levels(work.header, count, session.payload());
  const auto check =
      work.times.measure("check", [&] { return LevelCheck(work.backend, work.header, levels); });
  try {
    restore(levels);
  } catch (...) {
    check.finish();  // errors may be consequences of damage
    throw;
  }
  work.times.measure("check", [&] { check.finish(); });
}

void restore_points(const DecodeWork& work, const FramePayload& payload) {
  const FrameKind kind = work.header.kind;
  if (kind == FrameKind::stored || kind == FrameKind::lossless) {
    work.times.measure("unpack", [&] { restore_kept_frame(work, payload.bytes); });
    return;
  }
  const auto session =
      work.times.measure("upload", [&] { return work.backend.decode(payload.bytes); });
  session->learn_begin(payload.begin_on_host);
  if (kind == FrameKind::constant) return restore_constant_frame(work, *session);
  restore_checked(work, *session, is_without_loss(kind) ? 1 : work.preview.levels,
                  [&](std::span<const Bytes> levels) {
                    if (kind == FrameKind::predicted)
                      return restore_predicted_frame(work, *session, levels.front());
                    if (kind == FrameKind::tiled)
                      return restore_words(work, *session, levels.front());
                    restore_levels(work, *session, levels);
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
    restore_points({backend, shape, header, preview, out, times}, payload);
    return;
  }
  std::vector<std::byte> restored(preview.restored.points() * size_of(shape.dtype));
  restore_points({backend, shape, header, preview, restored, times}, payload);
  times.measure("pick", [&] {
    std::vector<std::byte> shown(out.size());
    pick(preview.shown, shape.dtype, restored, shown);
    backend.copy(shown, out);
  });
}

}  // namespace cuszi

#include "tests/slow_decoder/slow_archive.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <optional>

#include "core/archive/amendment.hpp"
#include "core/archive/archive.hpp"
#include "core/base/bytes.hpp"
#include "core/base/lossless.hpp"
#include "core/field/sparse_list.hpp"
#include "core/field/stored_type.hpp"
#include "tests/slow_decoder/slow_frame.hpp"

namespace cuszi::slow {

namespace {

/// The sections of a frame, pass by pass.
std::vector<Sections> read_sections(const FrameHeader& header, Bytes payload) {
  std::vector<Sections> passes;
  std::size_t first = 0;  // pass of the level
  const std::vector<int> level_of =
      header.predictor ? level_of_pass(*header.predictor) : std::vector<int>{0};
  passes.resize(level_of.size());
  for (std::size_t level = 0; level < header.levels.size(); ++level) {
    const LevelEntry& entry = header.levels[level];
    if (block_hash(payload.first(entry.size())) != entry.hash) {
      throw ArchiveError("a level's hash is wrong");
    }
    for (const SectionEntry& section : entry.sections) {
      if (section.unpacked) throw ArchiveError("a section is packed by Bitcomp");
      if (section.id != SectionId::optional) {
        passes.at(first + section.pass).add(section.id, payload.first(section.size));
      }
      payload = payload.subspan(section.size);
    }
    const auto in_level = std::count(level_of.begin(), level_of.end(), static_cast<int>(level));
    first += static_cast<std::size_t>(in_level);
  }
  return passes;
}

/// The codes of all passes, level by level.
std::vector<PassCodes> read_codes(const FrameHeader& header, std::span<const Sections> passes,
                                  std::uint64_t points) {
  std::vector<PassCodes> codes;
  if (!header.coder || !std::holds_alternative<AnsParams>(*header.coder)) return codes;
  const std::vector<int> level_of = level_of_pass(*header.predictor);
  const std::vector<PassShape> shapes = pass_shapes(*header.predictor, points);
  for (std::size_t first = 0, end = 0; first < passes.size(); first = end) {
    while (end < passes.size() && level_of[end] == level_of[first]) ++end;
    const auto level = decode_chain(std::get<AnsParams>(*header.coder).centre,
                                    passes[first].find(SectionId::codes),
                                    std::span(shapes).subspan(first, end - first));
    codes.insert(codes.end(), level.begin(), level.end());
  }
  return codes;
}

template <class T>
void put_back_missing(SlowFrame<T>& frame) {
  std::size_t next = 0;
  for (std::uint64_t i = 0; i < frame.values.size(); ++i) {
    if (!frame.is_missing(i)) continue;
    std::memcpy(&frame.values[i], frame.mask.values.data() + next++ * sizeof(T), sizeof(T));
  }
}

/// Section 3.5: the magnitude that y stands for.
template <class T>
double magnitude_from(const TransformParams& params, double y) {
  if (const auto* const log = std::get_if<LogTransform>(&params)) {
    return log->inverse(static_cast<T>(y));
  }
  if (const auto* const symlog = std::get_if<SymlogTransform>(&params)) {
    const double size = std::fabs(y);
    return symlog->knee.magnitude * (size <= 1 ? size : exp2_of_value<T>((size - 1) * log2_e));
  }
  const double knee = std::get<LogLinearTransform>(params).knee.magnitude;
  return knee * (y < 0 ? exp2_of_value<T>(y) : 1 + y * ln_2);
}

/// Section 3.5: what the predictor has restored becomes values in the frame's own range.
template <class T>
void undo_transform(SlowFrame<T>& frame, double min, double max) {
  const FrameTransform& transform = *frame.header.transform;
  const bool is_symlog = std::holds_alternative<SymlogTransform>(transform.params);
  const Bytes signs = frame.passes.front().find(SectionId::signs);
  const bool differ = min < 0 && max > 0 && !is_symlog;
  const std::vector<bool> of_points =
      differ ? decode_signs(signs, frame.dims) : std::vector<bool>{};
  constexpr auto largest = static_cast<double>(std::numeric_limits<T>::max());
  for (std::uint64_t i = 0; i < frame.values.size(); ++i) {
    const double y = std::clamp(static_cast<double>(frame.values[i]), transform.min, transform.max);
    const bool negative = differ ? of_points[i] : is_symlog ? y < 0 : min < 0;
    const T magnitude = static_cast<T>(std::min(magnitude_from<T>(transform.params, y), largest));
    frame.values[i] =
        std::clamp(negative ? -magnitude : magnitude, static_cast<T>(min), static_cast<T>(max));
  }
}

/// Section 4.4: tiles restore the values themselves of a frame under the log transform.
template <class T>
bool tiles_restore_logs(const SlowFrame<T>& frame) {
  return std::holds_alternative<LogTransform>(frame.header.transform->params) &&
         std::holds_alternative<TilesParams>(*frame.header.predictor);
}

template <class T>
void restore_coded(SlowFrame<T>& frame) {
  const double min = frame.header.min;
  const double max = frame.header.max;
  if (frame.header.transform) {
    frame.header.min = frame.header.transform->min;
    frame.header.max = frame.header.transform->max;
  }
  frame.min = min;
  frame.max = max;
  std::visit([&](const auto& params) { restore(params, frame); }, *frame.header.predictor);
  if (frame.header.transform && !tiles_restore_logs(frame)) undo_transform(frame, min, max);
}

template <class T>
void restore_values(SlowFrame<T>& frame) {
  const Sections& first = frame.passes.front();
  const FrameHeader& header = frame.header;
  if (header.kind == FrameKind::coded) {
    restore_coded(frame);
  } else if (header.kind == FrameKind::constant) {
    const std::uint64_t bits = decode_constant(first.at(SectionId::raw), dtype_of<T>);
    std::fill(frame.values.begin(), frame.values.end(),
              std::bit_cast<T>(static_cast<BitsOf<T>>(bits)));
  } else if (header.kind == FrameKind::lossless) {
    unpack_values(first.at(SectionId::raw), sizeof(T),
                  std::as_writable_bytes(std::span(frame.values)));
  } else if (header.kind == FrameKind::predicted) {
    restore_predicted(frame);
  } else {
    const Bytes raw = first.at(SectionId::raw);
    if (raw.size() != frame.values.size() * sizeof(T))
      throw ArchiveError("a stored frame is short");
    std::memcpy(frame.values.data(), raw.data(), raw.size());
  }
  put_back_missing(frame);
}

template <class T>
std::vector<T> restore_frame(const Dims& dims, const FrameHeader& header, Bytes payload) {
  SlowFrame<T> frame{dims, dims.as_3d(), header, {}, read_sections(header, payload), {}, {}, 0, 0};
  frame.codes = read_codes(header, frame.passes, dims.count());
  frame.values.resize(dims.count());
  const bool has_mask = header.kind == FrameKind::coded || header.kind == FrameKind::constant;
  if (has_mask && header.masked() != 0) {
    const auto copy_of = [&](SectionId id) {
      const Bytes bytes = frame.passes.front().at(id);
      return std::vector<std::byte>(bytes.begin(), bytes.end());
    };
    const FrameMask mask =
        decode_mask({copy_of(SectionId::mask_bits), copy_of(SectionId::mask_values)}, dims.count(),
                    dtype_of<T>, header.masked(), one_by_one);
    frame.mask = expand(mask, dims, dtype_of<T>);
  }
  restore_values(frame);
  return frame.values;
}

ArchiveHeader header_of(Bytes archive) {
  ByteReader in(archive, "the archive");
  const ByteCount body = read_archive_prefix(in.take(archive_prefix_bytes));
  return read_archive_header(in.take(body));
}

/// Section 7: where a point of the box stands in the field.
std::uint64_t place_in_field(const Amendment& amendment, const Dims& dims, std::uint64_t point) {
  std::uint64_t place = 0;
  std::uint64_t slice = 1;
  for (int axis = dims.rank() - 1; axis >= 0; --axis) {
    const std::uint64_t at = point % amendment.dims[axis];
    place += (amendment.box.first.at(static_cast<std::size_t>(axis)) + at) * slice;
    point /= amendment.dims[axis];
    slice *= dims[axis];
  }
  return place;
}

/// Section 7: the bits of the box's points; none where the base's value holds.
template <class S>
std::vector<std::optional<StoredBits<S>>> amended_bits(const Amendment& amendment, DType dtype,
                                                       Bytes exact, Bytes inner) {
  std::vector<std::optional<StoredBits<S>>> bits(amendment.dims.count());
  if (!inner.empty()) {
    const ArchiveHeader header = header_of(inner);
    if (header.plan.dims != amendment.dims || header.dtype != dtype) {
      throw ArchiveError("the inner archive is not of the box");
    }
    const MissingTest<WorkOf<S>> is_missing(stored_fills(dtype, header.fills));
    const std::vector<std::byte> values = decode(inner);
    for (std::uint64_t i = 0; i < bits.size(); ++i) {
      S value;
      std::memcpy(&value, values.data() + i * sizeof(S), sizeof(S));
      if (std::bit_cast<StoredBits<S>>(value) == amendment.hole) continue;
      const auto work = converted_to<WorkOf<S>>(value);
      if (!is_missing(work)) value = converted_to<S>(amendment.grid.nearest(work));
      bits[i] = std::bit_cast<StoredBits<S>>(value);
    }
  }
  if (exact.empty()) return bits;
  const SparseList list = SparseList::decode(exact, bits.size());
  for (const SparseEntry& entry : list.entries()) {
    bits[entry.point] = static_cast<StoredBits<S>>(entry.value);
  }
  return bits;
}

std::vector<std::byte> decode_amended(const Amendment& amendment, ByteReader& in) {
  const Bytes base = in.take(amendment.base_bytes);
  const Bytes exact = in.take(amendment.exact_bytes);
  const Bytes inner = in.take(amendment.inner_bytes);
  in.expect_end();
  const ArchiveHeader header = header_of(base);
  check_amendment(amendment, header);
  if (block_hash(exact) != amendment.exact_hash)
    throw ArchiveError("the exact values' hash is wrong");
  std::vector<std::byte> values = decode(base);
  with_stored_type_of(header.dtype, [&](auto zero) {
    using S = decltype(zero);
    const auto bits = amended_bits<S>(amendment, header.dtype, exact, inner);
    for (std::uint64_t i = 0; i < bits.size(); ++i) {
      if (!bits[i]) continue;
      const std::uint64_t place = place_in_field(amendment, header.plan.dims, i);
      std::memcpy(values.data() + place * sizeof(S), &*bits[i], sizeof(S));
    }
  });
  return values;
}

/// Frames that are kept have stored values, others work values.
std::vector<std::byte> restore_stored(DType stored, const Dims& dims, const FrameHeader& frame,
                                      Bytes payload) {
  std::vector<std::byte> values(dims.count() * size_of(stored));
  if (frame.kind == FrameKind::predicted && is_cast(stored)) {
    const std::size_t size = size_of(stored);
    with_type_of(size == 8 ? DType::f64 : DType::f32, [&]<class Wide>(Wide /*type*/) {
      const auto words = restore_frame<Wide>(dims, frame, payload);
      const std::size_t behind = is_integer(stored) ? 0 : sizeof(Wide) - size;  // halves are upper
      for (std::size_t i = 0; i < words.size(); ++i)
        std::memcpy(values.data() + i * size,
                    reinterpret_cast<const std::byte*>(&words[i]) + behind, size);
    });
    return values;
  }
  if (frame.kind == FrameKind::tiled) {
    SlowFrame<float> words{dims, dims.as_3d(), frame, {}, read_sections(frame, payload),
                           {},   {},           0,     0};
    words.values.resize(dims.count());
    restore_words(stored, words);
    std::ranges::copy(std::as_bytes(std::span(words.values)), values.begin());
    return values;
  }
  const bool is_kept = frame.kind == FrameKind::stored || frame.kind == FrameKind::lossless;
  if (is_kept && is_cast(stored)) {
    const std::vector<Bytes> levels = read_levels(frame, 1, payload, host_hashes);
    const Sections sections = read_passes(frame.levels.front(), 1, levels.front()).front();
    const Bytes raw = sections.at(SectionId::raw);
    if (frame.kind == FrameKind::lossless) {
      unpack_values(raw, size_of(stored), values);
    } else {
      if (raw.size() != values.size()) throw ArchiveError("a stored frame has another size");
      std::ranges::copy(raw, values.begin());
    }
    return values;
  }
  with_type_of(work_of(stored), [&](auto zero) {
    const auto work = restore_frame<decltype(zero)>(dims, frame, payload);
    const Bytes bytes = std::as_bytes(std::span(work));
    if (is_cast(stored)) return from_work(stored, bytes, values);
    std::ranges::copy(bytes, values.begin());
  });
  return values;
}

/// Section 1.3.
std::vector<std::byte> decode_member(ByteReader& in) {
  std::vector<std::byte> all;
  const Bytes body = in.take(read_archive_prefix(in.take(archive_prefix_bytes)));
  if (const auto amendment = read_amended_header(body)) return decode_amended(*amendment, in);
  const ArchiveHeader header = read_archive_header(body);
  std::vector<ByteCount> frame_bytes;
  for (std::uint64_t i = 0; i < header.plan.frames(); ++i) {
    const ByteCount before = in.remaining();
    const Dims dims = header.plan.frame_dims(i);
    const ByteCount table = read_frame_prefix(in.take(frame_prefix_bytes));
    const FrameHeader frame = read_frame_header(in.take(table), dims, header.dtype);
    const Bytes payload = in.take(frame.payload_bytes());
    const std::vector<std::byte> values = restore_stored(header.dtype, dims, frame, payload);
    all.insert(all.end(), values.begin(), values.end());
    frame_bytes.push_back(before - in.remaining());
  }
  const std::vector<std::byte> footer = write_archive_footer(frame_bytes);
  if (!std::ranges::equal(in.take(footer.size()), footer)) {
    throw ArchiveError("the footer is wrong");
  }
  return all;
}

}  // namespace

std::vector<std::byte> decode(Bytes archive) {
  std::vector<std::byte> all;
  ByteReader in(archive, "the archive");
  do {
    const std::vector<std::byte> values = decode_member(in);
    all.insert(all.end(), values.begin(), values.end());
  } while (in.remaining() != 0);
  return all;
}

}  // namespace cuszi::slow

#include "codec/archive/zfp_import_export.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "codec/archive/archive_output.hpp"
#include "core/field/bound.hpp"
#include "core/field/chunk_index.hpp"
#include "core/pipeline/frame_check.hpp"
#include "core/zfp/zfp_grid.hpp"
#include "cpu_ref/zfp/zfp.hpp"

namespace cuszi {

namespace {

using Reader = ZfpBitReader<const std::uint64_t*>;
using Words = std::vector<std::uint64_t>;

Bytes bytes_of(const Words& words) { return std::as_bytes(std::span(words)); }

/// Zero-padded.
Words words_of(Bytes stream) {
  Words words(ceil_div(stream.size(), 8));
  if (!stream.empty()) std::memcpy(words.data(), stream.data(), stream.size());
  return words;
}

template <class Writer>
void append(const Words& words, BitCount at, BitCount count, Writer& out) {
  Reader in(words.data(), words.size(), at);
  for (; count >= 64; count -= 64) out.put(in.get(64), 64);
  out.put(in.get(static_cast<unsigned>(count)), static_cast<unsigned>(count));
}

Words cut_bits(const Words& words, BitCount at, BitCount count) {
  Words part(ceil_div(count, 64) + 1);
  ZfpBitWriter<std::uint64_t*> out(part.data());
  append(words, at, count, out);
  out.flush();
  part.resize(ceil_div(count, 64));
  return part;
}

/// A bit writer's words, which go to a sink in their order.
class SinkWords {
 public:
  explicit SinkWords(ByteSink& sink) : sink_(sink) {}

  std::uint64_t& operator[](std::uint64_t /*i*/) {
    if (buffer_.size() == buffer_words) flush();
    return buffer_.emplace_back();
  }

  /// Returns the bytes so far.
  ByteCount flush() {
    sink_.write(bytes_of(buffer_));
    written_ += bytes_of(buffer_).size();
    buffer_.clear();
    return written_;
  }

 private:
  static constexpr std::size_t buffer_words = 1 << 16;

  ByteSink& sink_;
  Words buffer_;
  ByteCount written_ = 0;
};

/// Whether concatenated frames have the field's blocks.
bool cuts_between_blocks(const FieldCuts& plan) {
  if (plan.frames() == 1) return true;
  for (int axis = 0; axis < plan.axis; ++axis) {
    if (plan.dims[axis] != 1) return false;
  }
  const auto rank_of_frame = [&](std::uint64_t i) { return zfp_dims(plan.frame_dims(i)).rank(); };
  const int rank = zfp_dims(plan.dims).rank();
  return plan.height % 4 == 0 && rank_of_frame(0) == rank &&
         rank_of_frame(plan.frames() - 1) == rank;
}

FieldCuts plan_of_import(const ZfpImport& how, const Dims& dims, DType dtype) {
  const FieldCuts plan = plan_frames(dims, dtype, how.frame_bytes);
  return cuts_between_blocks(plan) ? plan : FieldCuts{dims, 0, dims[0]};
}

std::vector<BitCount> starts_of(const std::vector<std::uint32_t>& chunk_bits) {
  std::vector<BitCount> starts;
  BitCount at = 0;
  for (const std::uint32_t bits : chunk_bits) {
    starts.push_back(at);
    at += bits;
  }
  return starts;
}

/// The zero padding of the last word is not part of the stream.
void require_bits(BitCount read, BitCount end) {
  if (read > end) {
    throw ArchiveError(fmt::format("the zfp stream is truncated: {} bytes, at least {} are needed",
                                   end / 8, ceil_div(read, 8)));
  }
}

struct StreamPart {
  ZfpCoding coding;
  Words words;
  std::vector<std::uint32_t> chunk_bits;
  BitCount bits = 0;
};

template <class T>
StreamPart take_part(const Words& stream, BitCount end, const ZfpCoding& coding, const Dims& dims,
                     BitCount at) {
  StreamPart part;
  part.chunk_bits =
      cpu::zfp_walk<T>(coding.zfp, dims, bytes_of(stream), at, std::max(coding.chunk, 1U));
  for (const std::uint32_t bits : part.chunk_bits) part.bits += bits;
  require_bits(at + part.bits, end);
  part.coding = coding.with_chosen_chunk(part.bits, zfp_blocks(dims));
  if (part.coding.chunk != coding.chunk) {
    part.chunk_bits = cpu::zfp_joined_chunks(part.chunk_bits, part.coding.chunk);
  }
  part.words = cut_bits(stream, at, part.bits);
  return part;
}

/// Clamping to the finite range has no effect.
template <class T>
ValueRange range_of(const StreamPart& part, const Dims& dims) {
  const ZfpCoding& coding = part.coding;
  std::vector<T> values(dims.count());
  cpu::zfp_decode<T>(coding.zfp, dims, bytes_of(part.words), starts_of(part.chunk_bits),
                     coding.chunk, values);
  ValueRange range;
  for (const T value : values) {
    if (std::isfinite(value)) {
      range.add(static_cast<double>(value), static_cast<double>(value));
    } else if (!coding.zfp.is_reversible()) {
      throw InputError("the zfp stream decodes to values that are not finite");
    }
  }
  return range;
}

std::vector<std::byte> frame_of(FrameHeader& header, const Sections& sections) {
  std::vector<std::byte> payload;
  LevelEntry level;
  for (const Section& section : sections.list()) {
    payload.insert(payload.end(), section.bytes.begin(), section.bytes.end());
    level.sections.push_back({section.id, section.bytes.size()});
  }
  level.hash = block_hash(payload);
  header.levels.push_back(level);
  std::vector<std::byte> frame = write_frame_header(header);
  frame.insert(frame.end(), payload.begin(), payload.end());
  return frame;
}

/// Frames of bits `at` to `end`.
template <class T>
void import_frames(const Words& stream, BitCount at, BitCount end, const ZfpCoding& coding,
                   ArchiveWriter& writer, CompressedField& result) {
  const FieldCuts& plan = result.header.plan;
  for (std::uint64_t i = 0; i < plan.frames(); ++i) {
    const Dims dims = zfp_dims(plan.frame_dims(i));
    const StreamPart part = take_part<T>(stream, end, coding, dims, at);
    at += part.bits;
    const ValueRange range = range_of<T>(part, dims);
    FrameHeader header;
    header.index = i;
    header.kind = FrameKind::coded;
    header.min = range.min + 0.0;
    header.max = range.max + 0.0;
    header.predictor = part.coding;
    header.coder = NoCoderParams{};
    const auto index =
        encode_index(part.coding.index_kind(), part.coding.partition, part.chunk_bits);
    Sections sections;
    if (!index.empty()) sections.add(SectionId::index, index);
    sections.add(SectionId::codes, bytes_of(part.words));
    const std::vector<std::byte> frame = frame_of(header, sections);
    check_header({result.header.dtype, plan.frame_dims(i)}, write_frame_header(header));
    writer.add_frame(frame);
    result.summary.add(header, dims.count(), 0, 0);
  }
}

/// Leaves `in` after the header.
ZfpHeader header_of(const ZfpImport& how, Reader& in) {
  const ZfpHeader header = how.header ? *how.header : read_zfp_header(in);
  if (!archived_type(header.scalar)) {
    throw InputError(fmt::format("the zfp stream contains {} values; archives contain f32 or f64",
                                 name_of(header.scalar)));
  }
  if (zfp_dims(header.dims) != header.dims) {
    throw InputError(fmt::format("the zfp stream has dims {}; extents of 1 are not supported",
                                 header.dims.to_string()));
  }
  return header;
}

struct FramePart {
  ZfpCoding coding;
  Words words;
  BitCount bits = 0;
};

/// Decodes only the last chunk.
template <class T>
BitCount end_of(const FramePart& part, const Dims& dims, Bytes index) {
  const ZfpCoding& coding = part.coding;
  const std::uint64_t blocks = zfp_blocks(dims);
  if (coding.zfp.has_fixed_rate()) return blocks * coding.zfp.max_bits;
  const auto starts =
      decode_index(coding.index_kind(), coding.partition, index, ceil_div(blocks, coding.chunk),
                   BitCount{part.words.size()} * 64);
  const BitCount start = starts.back();
  BitCount end = start;
  for (const std::uint32_t bits :
       cpu::zfp_walk<T>(coding.zfp, dims, bytes_of(part.words), start, coding.chunk,
                        (starts.size() - 1) * coding.chunk)) {
    end += bits;
  }
  return end;
}

FramePart part_of(const ArchiveFrame& frame) {
  const FrameHeader& header = frame.header;
  const auto* const coding =
      header.predictor ? std::get_if<ZfpCoding>(&*header.predictor) : nullptr;
  if (coding == nullptr) {
    throw UsageError(fmt::format(
        "frame {} is not a zfp stream ({}); make the archive with --preset zfp", header.index,
        header.predictor ? name_of(id_of(*header.predictor)) : name_of(header.kind)));
  }
  if (header.missing != 0) {
    throw UsageError(
        fmt::format("frame {} has {} missing values, which zfp streams cannot represent",
                    header.index, header.missing));
  }
  if (header.is_packed()) {
    throw UsageError(
        fmt::format("frame {} is packed with Bitcomp; leave out --lossless", header.index));
  }
  const Dims dims = zfp_dims(frame.shape.dims);
  const auto bytes = read_levels(header, 1, frame.payload);
  const Sections sections = read_passes(header.levels.front(), 1, bytes.front()).front();
  FramePart part{*coding, words_of(sections.at(SectionId::codes)), 0};
  coding->check_stream(sections.at(SectionId::codes).size(), zfp_blocks(dims));
  part.bits = with_type_of(frame.shape.dtype, [&](auto zero) {
    return end_of<decltype(zero)>(part, dims, sections.find(SectionId::index));
  });
  return part;
}

}  // namespace

CompressedField import_zfp(Bytes stream, const ZfpImport& how, ByteSink& sink) {
  const Words words = words_of(stream);
  Reader in(words.data(), words.size(), 0);
  const BitCount end = BitCount{stream.size()} * 8;
  const ZfpHeader zfp = header_of(how, in);
  require_bits(in.position(), end);
  CompressedField result;
  ArchiveHeader& header = result.header;
  header.dtype = *archived_type(zfp.scalar);
  header.mode = ErrorMode::absolute;
  header.bound_asked = zfp.params.is_reversible() ? 0 : no_bound;
  header.bound_absolute = header.bound_asked;
  header.plan = plan_of_import(how, zfp.dims, header.dtype);
  const ZfpCoding coding{zfp.dims.rank(), zfp.params, how.index.kind,
                         how.zfp.chunk.value_or(ZfpCoding::open_chunk), how.index.partition};
  ArchiveWriter writer(sink, header);
  with_type_of(header.dtype, [&](auto zero) {
    import_frames<decltype(zero)>(words, in.position(), end, coding, writer, result);
  });
  writer.finish();
  result.archive_bytes = writer.bytes_written();
  return result;
}

ZfpExport export_zfp(ArchiveReader& archive, ByteSink& sink) {
  if (archive.amendment()) {
    throw UsageError(
        "an amended archive cannot be exported; restore it and compress the values again");
  }
  if (is_cast(archive.header().dtype)) {
    throw UsageError(fmt::format("an archive of {} has no zfp stream; f32 and f64 have",
                                 name_of(archive.header().dtype)));
  }
  const FieldCuts& plan = archive.header().plan;
  if (!cuts_between_blocks(plan)) {
    throw UsageError(
        fmt::format("frames of {} split zfp blocks; make the archive with a larger --frame-size",
                    plan.frame_dims(0).to_string()));
  }
  ZfpExport result;
  SinkWords words(sink);
  ZfpBitWriter<SinkWords&> out(words);
  for (std::uint64_t i = 0; i < plan.frames(); ++i) {
    const ArchiveFrame frame = archive.next_frame();
    const FramePart part = part_of(frame);
    if (i == 0) {
      result.header = {zfp_scalar_of(archive.header().dtype), zfp_dims(plan.dims), part.coding.zfp};
      const ZfpHeaderBits header = write_zfp_header(result.header);
      append({header.words.begin(), header.words.end()}, 0, header.count, out);
    } else if (!(part.coding.zfp == result.header.params)) {
      throw UsageError(
          fmt::format("frame {} has zfp parameters that differ from those of earlier frames", i));
    }
    append(part.words, 0, part.bits, out);
    result.patches += count_exceptions(frame.header, frame.payload).patches;
  }
  archive.finish();
  out.flush();
  result.bytes = words.flush();
  return result;
}

}  // namespace cuszi

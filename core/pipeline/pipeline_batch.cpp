#include "core/pipeline/pipeline_batch.hpp"

#include <optional>
#include <utility>

#include "core/base/floating_point.hpp"
#include "core/pipeline/coded_frame.hpp"
#include "core/pipeline/frame_check.hpp"

namespace cuszi {

namespace {

std::optional<BatchEncoding> encoding_of(const FrameToCode& frame) {
  const DType dtype = frame.frame.shape.dtype;
  TilesParams params;
  params.choose(frame.sample.magnitude(), frame.bound, dtype);
  if (!params.is_usable(dtype)) return std::nullopt;
  return BatchEncoding{frame.frame, frame.sample, params, frame.bound};
}

Sections sections_of(const BatchCoded& coded) {
  Sections sections;
  sections.add(SectionId::index, coded.payload.first(coded.index_bytes));
  sections.add(SectionId::codes, coded.payload.subspan(coded.index_bytes));
  return sections;
}

/// nullopt if it does not pay, or needs more than its sections.
/// needed than its sections.
std::optional<FrameHeader> header_of(const BatchEncoding& encoding, const BatchCoded& coded) {
  if (!has_codable_range(coded.min, coded.max)) return std::nullopt;
  const Sections sections = sections_of(coded);
  const std::span<const Sections> passes(&sections, 1);
  const ByteCount value_bytes = encoding.frame.shape.bytes();
  if (padding_bytes(passes, value_bytes) != 0) return std::nullopt;
  FrameHeader header;
  header.kind = FrameKind::coded;
  header.min = coded.min;
  header.max = coded.max;
  header.predictor = encoding.params;
  header.coder = NoCoderParams{};
  header.levels.push_back(level_entry(passes));
  return header;
}

struct PlacedFrame {
  FrameHeader header;
  BatchCopy payload;
};

std::optional<PlacedFrame> place_frame(const BatchEncoding& encoding, const BatchCoded& coded,
                                       std::size_t number, const AllocateInBatch& allocate) {
  auto header = header_of(encoding, coded);
  if (!header) return std::nullopt;
  const ByteCount header_bytes = write_frame_header(*header).size();
  const ByteCount size = header_bytes + coded.payload.size();
  if (size >= encoding.frame.shape.bytes()) return std::nullopt;
  const MutableBytes place = allocate(number, size);
  if (place.empty()) return std::nullopt;
  return PlacedFrame{*std::move(header), {coded.payload, place.subspan(header_bytes)}};
}

std::vector<std::byte> finish_header(const FrameShape& shape, FrameHeader& header,
                                     std::uint64_t hash) {
  header.levels.front().hash = hash;
  std::vector<std::byte> written = write_frame_header(header);
  check_header(shape, written);
  return written;
}

std::optional<BatchDecoding> decoding_of(const FrameToRestore& frame) {
  const FrameHeader& header = frame.header;
  if (!may_join_batch(header)) return std::nullopt;
  try {
    const std::vector<Bytes> levels = cut_levels(header, 1, frame.payload);
    const Sections sections = read_passes(header.levels.front(), 1, levels.front()).front();
    return BatchDecoding{frame.shape,
                         header.min,
                         header.max,
                         std::get<TilesParams>(*header.predictor),
                         sections.at(SectionId::index),
                         sections.at(SectionId::codes),
                         levels.front(),
                         frame.out};
  } catch (const ArchiveError&) {
    return std::nullopt;
  }
}

}  // namespace

std::vector<std::vector<std::byte>> compress_batch(FrameBatch& batch,
                                                   std::span<const FrameToCode> frames,
                                                   const AllocateInBatch& allocate) {
  const IeeeArithmetic arithmetic;
  const auto encodings = find_present<BatchEncoding>(
      batch, frames.size(), [&](std::size_t i) { return encoding_of(frames[i]); });
  const auto coded = batch.encode(encodings.values);
  auto placed = find_present<PlacedFrame>(
      batch, coded.size(), [&](std::size_t i) -> std::optional<PlacedFrame> {
        if (!coded[i]) return std::nullopt;
        return place_frame(encodings.values[i], *coded[i], encodings.numbers[i], allocate);
      });
  std::vector<BatchCopy> payloads;
  for (const PlacedFrame& frame : placed.values) payloads.push_back(frame.payload);
  const std::vector<std::uint64_t> hashes = batch.place(payloads);
  std::vector<std::vector<std::byte>> headers(frames.size());
  batch.for_each(hashes.size(), [&](std::size_t i) {
    const IeeeArithmetic own_arithmetic;
    const std::size_t number = encodings.numbers[placed.numbers[i]];
    headers[number] = finish_header(frames[number].frame.shape, placed.values[i].header, hashes[i]);
  });
  return headers;
}

// Which has nothing but what `tiles` codes.
bool may_join_batch(const FrameHeader& header) {
  return header.kind == FrameKind::coded &&
         std::holds_alternative<TilesParams>(*header.predictor) && header.masked() == 0 &&
         !header.transform && !header.is_packed();
}

std::vector<char> decompress_batch(FrameBatch& batch, std::span<const FrameToRestore> frames) {
  const IeeeArithmetic arithmetic;
  const auto decodings = find_present<BatchDecoding>(
      batch, frames.size(), [&](std::size_t i) { return decoding_of(frames[i]); });
  const std::vector<BatchDecoded> decoded = batch.decode(decodings.values);
  std::vector<char> restored(frames.size(), 0);
  for (std::size_t i = 0; i < decoded.size(); ++i) {
    const std::size_t number = decodings.numbers[i];
    const LevelEntry& level = frames[number].header.levels.front();
    restored[number] = decoded[i].is_done && decoded[i].hash == level.hash ? 1 : 0;
  }
  return restored;
}

}  // namespace cuszi

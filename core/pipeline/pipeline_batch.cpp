#include "core/pipeline/pipeline_batch.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "core/base/floating_point.hpp"
#include "core/cells/slices.hpp"
#include "core/pipeline/coded_frame.hpp"
#include "core/pipeline/frame_check.hpp"

namespace cuszi {

namespace {

std::optional<BatchEncoding> encoding_of(const FrameToCode& frame) {
  FieldScan scan;
  scan.min = frame.range.min;
  scan.max = frame.range.max;
  scan.sampled = frame.range.magnitude();
  const bool is_scanned = std::holds_alternative<CellsParams>(frame.draft);
  if (is_scanned && !has_codable_range(scan.min, scan.max)) return std::nullopt;
  auto params = predictor_for(frame.draft, {}, scan, frame.bound, frame.frame.shape.dtype);
  if (!params) return std::nullopt;
  return BatchEncoding{frame.frame, frame.range, *std::move(params), frame.bound};
}

/// Chooses what `cells` takes from samples of the frames, as choose_method() does.
void choose_cells(FrameBatch& batch, std::span<BatchEncoding> encodings) {
  std::vector<BatchEncoding*> cells;
  std::vector<BatchFrame> frames;
  for (BatchEncoding& encoding : encodings) {
    if (!std::holds_alternative<CellsParams>(encoding.params)) continue;
    cells.push_back(&encoding);
    frames.push_back(encoding.frame);
  }
  if (cells.empty()) return;
  std::vector<std::vector<std::uint64_t>> points(cells.size());
  batch.for_each(cells.size(), [&](std::size_t i) {
    points[i] = points_for_tile_rank(frames[i].shape.extents());
  });
  const std::vector<CellsSample> samples = batch.samples_of_cells(frames);
  const auto values = batch.values_at(frames, points);
  batch.for_each(cells.size(), [&](std::size_t i) {
    const IeeeArithmetic arithmetic;
    auto& params = std::get<CellsParams>(cells[i]->params);
    params.learn(samples[i], cells[i]->bound, frames[i].shape.dtype);
    if (points[i].empty()) return;
    const BatchRange& range = cells[i]->range;
    params.rank = choose_tile_rank(
        {frames[i].shape.extents(), params.half_step, range.min, range.max}, values[i]);
  });
}

std::vector<Sections> sections_of(const BatchCoded& coded) {
  std::vector<Sections> passes;
  for (const CodedPass& pass : coded.passes) passes.push_back(pass.sections);
  return passes;
}

/// nullopt if it does not pay, or needs more than its sections.
std::optional<FrameHeader> header_of(const BatchEncoding& encoding, const BatchCoded& coded,
                                     std::span<const Sections> passes) {
  if (!has_codable_range(coded.min, coded.max)) return std::nullopt;
  if (padding_bytes(passes, encoding.frame.shape.bytes()) != 0) return std::nullopt;
  FrameHeader header;
  header.kind = FrameKind::coded;
  header.min = coded.min;
  header.max = coded.max;
  header.predictor = encoding.params;
  header.coder = NoCoderParams{};
  header.levels = level_entries(level_of_pass(encoding.params), passes);
  return header;
}

struct PlacedFrame {
  FrameHeader header;
  std::vector<BatchCopy> sections;
  std::vector<Bytes> levels;
};

std::optional<PlacedFrame> place_frame(const BatchEncoding& encoding, const BatchCoded& coded,
                                       std::size_t number, const AllocateInBatch& allocate) {
  const std::vector<Sections> passes = sections_of(coded);
  auto header = header_of(encoding, coded, passes);
  if (!header) return std::nullopt;
  const ByteCount header_bytes = write_frame_header(*header).size();
  const ByteCount size = header_bytes + header->payload_bytes();
  if (size >= encoding.frame.shape.bytes()) return std::nullopt;
  const MutableBytes place = allocate(number, size);
  if (place.empty()) return std::nullopt;
  MutableBytes rest = place.subspan(header_bytes);
  PlacedFrame placed{*std::move(header), {}, {}};
  placed.levels = cut_levels(placed.header, placed.header.levels.size(), rest);
  for (const Sections& sections : passes) {
    for (const Section& section : sections.list()) {
      placed.sections.push_back({section.bytes, rest.first(section.bytes.size())});
      rest = rest.subspan(section.bytes.size());
    }
  }
  return placed;
}

std::vector<std::byte> finish_header(const FrameShape& shape, const BatchCoded& coded,
                                     FrameHeader& header, std::span<const std::uint64_t> hashes) {
  for (std::size_t i = 0; i < hashes.size(); ++i) header.levels[i].hash = hashes[i];
  std::vector<std::byte> written = write_frame_header(header);
  check_codebook(check_header(shape, written),
                 coded.passes.front().sections.on_host(SectionId::codebook));
  return written;
}

std::optional<BatchDecoding> decoding_of(const FrameToRestore& frame) {
  const FrameHeader& header = frame.header;
  if (!may_join_batch(header)) return std::nullopt;
  try {
    std::vector<Bytes> levels = cut_levels(header, header.levels.size(), frame.payload);
    std::vector<Sections> passes = read_sections(header, levels);
    return BatchDecoding{frame.shape,       header.min,        header.max, *header.predictor,
                         std::move(passes), std::move(levels), frame.out};
  } catch (const ArchiveError&) {
    return std::nullopt;
  }
}

}  // namespace

std::vector<std::vector<std::byte>> compress_batch(FrameBatch& batch,
                                                   std::span<const FrameToCode> frames,
                                                   const AllocateInBatch& allocate) {
  const IeeeArithmetic arithmetic;
  auto encodings = find_present<BatchEncoding>(
      batch, frames.size(), [&](std::size_t i) { return encoding_of(frames[i]); });
  choose_cells(batch, encodings.values);
  const auto coded = batch.encode(encodings.values);
  auto placed = find_present<PlacedFrame>(
      batch, coded.size(), [&](std::size_t i) -> std::optional<PlacedFrame> {
        if (!coded[i]) return std::nullopt;
        return place_frame(encodings.values[i], *coded[i], encodings.numbers[i], allocate);
      });
  std::vector<BatchCopy> sections;
  std::vector<Bytes> levels;
  std::vector<std::size_t> first_level;
  for (const PlacedFrame& frame : placed.values) {
    first_level.push_back(levels.size());
    sections.insert(sections.end(), frame.sections.begin(), frame.sections.end());
    levels.insert(levels.end(), frame.levels.begin(), frame.levels.end());
  }
  const std::vector<std::uint64_t> hashes = batch.place(sections, levels);
  std::vector<std::vector<std::byte>> headers(frames.size());
  batch.for_each(placed.values.size(), [&](std::size_t i) {
    const IeeeArithmetic own_arithmetic;
    PlacedFrame& frame = placed.values[i];
    const std::size_t number = encodings.numbers[placed.numbers[i]];
    headers[number] =
        finish_header(frames[number].frame.shape, *coded[placed.numbers[i]], frame.header,
                      std::span(hashes).subspan(first_level[i], frame.levels.size()));
  });
  return headers;
}

// Which has nothing but what `tiles` or `cells` codes.
bool may_join_batch(const FrameHeader& header) {
  return header.kind == FrameKind::coded && is_for_batches(id_of(*header.predictor)) &&
         header.masked() == 0 && !header.transform && !header.bounds && !header.is_packed();
}

std::vector<char> decompress_batch(FrameBatch& batch, std::span<const FrameToRestore> frames) {
  const IeeeArithmetic arithmetic;
  const auto decodings = find_present<BatchDecoding>(
      batch, frames.size(), [&](std::size_t i) { return decoding_of(frames[i]); });
  const std::vector<BatchDecoded> decoded = batch.decode(decodings.values);
  std::vector<char> restored(frames.size(), 0);
  for (std::size_t i = 0; i < decoded.size(); ++i) {
    const std::size_t number = decodings.numbers[i];
    const bool is_right = std::ranges::equal(decoded[i].hashes, frames[number].header.levels, {},
                                             {}, &LevelEntry::hash);
    restored[number] = decoded[i].is_done && is_right ? 1 : 0;
  }
  return restored;
}

}  // namespace cuszi

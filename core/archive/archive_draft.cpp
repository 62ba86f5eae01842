#include "core/archive/archive_draft.hpp"

#include <algorithm>
#include <vector>

#include "core/base/error.hpp"
#include "core/base/lossless.hpp"
#include "core/field/frame_shape.hpp"
#include "core/tiles/tiles.hpp"

namespace cuszi {

namespace {

// Bit patterns that occur nowhere else in a draft.
constexpr double some_min = -0x1.23456789abcdep-7;
constexpr double some_max = 0x1.3579bdf02468ap+9;
constexpr double some_half_step = 0x1.fedcba9876543p-11;
constexpr double some_bound = 0x1.eca8642013579p-13;

DraftBytes draft_of(Bytes bytes) {
  DraftBytes draft;
  if (bytes.size() > DraftBytes::room) throw InternalError("a header is longer than its draft");
  std::copy(bytes.begin(), bytes.end(), draft.bytes);
  draft.size = static_cast<std::uint32_t>(bytes.size());
  return draft;
}

std::uint32_t place_of(double number, Bytes draft) {
  const Bytes wanted = std::as_bytes(std::span(&number, 1));
  const auto at = std::search(draft.begin(), draft.end(), wanted.begin(), wanted.end());
  if (at == draft.end()) throw InternalError("a draft lacks one of its numbers");
  return static_cast<std::uint32_t>(at - draft.begin());
}

FrameHeader frame_header(FrameKind kind) {
  FrameHeader header;
  header.kind = kind;
  header.min = some_min;
  header.max = some_max;
  header.levels.emplace_back();
  return header;
}

std::vector<std::byte> coded_table(ByteCount index_bytes, ByteCount code_bytes) {
  FrameHeader header = frame_header(FrameKind::coded);
  header.predictor = TilesParams{some_half_step};
  header.coder = NoCoderParams{};
  header.levels.front().sections = {{SectionId::index, index_bytes, 0, {}, 0},
                                    {SectionId::codes, code_bytes, 0, {}, 0}};
  return write_frame_header(header);
}

std::vector<std::byte> raw_table(FrameKind kind, ByteCount raw_bytes) {
  FrameHeader header = frame_header(kind);
  header.levels.front().sections = {{SectionId::raw, raw_bytes, 0, {}, 0}};
  return write_frame_header(header);
}

ByteCount index_bytes_of(const FrameShape& shape) {
  return with_type_of(shape.dtype, [&](auto zero) {
    return with_tile_shape(shape.extents(), [&](auto tile) {
      const TileGrid grid = TileGrid::of<decltype(zero), decltype(tile)>(shape.extents());
      return grid.chunks * sizeof(std::uint32_t);
    });
  });
}

ByteCount least_of_bytes(unsigned bytes) { return ByteCount{1} << (7 * (bytes - 1)); }

}  // namespace

ArchiveDraft ArchiveDraft::of(const ArchiveHeader& header) {
  const FrameShape shape{header.dtype, header.plan.dims};
  ArchiveDraft draft{};
  draft.index_bytes = index_bytes_of(shape);
  draft.value_bytes = shape.bytes();
  draft.header = draft_of(write_archive_header(header));
  ArchiveHeader marked = header;
  marked.bound_asked = some_bound;
  constexpr std::uint32_t mode_bytes = sizeof(ErrorMode);
  draft.mode_at = place_of(some_bound, write_archive_header(marked)) - mode_bytes;
  for (unsigned bytes = 1; bytes <= most_size_bytes; ++bytes) {
    draft.coded[bytes - 1] = draft_of(coded_table(draft.index_bytes, least_of_bytes(bytes)));
    draft.footer[bytes - 1] = draft_of(write_archive_footer({least_of_bytes(bytes)}));
  }
  draft.constant_bytes =
      encode_constant(0, header.dtype, least_payload_bytes(draft.value_bytes)).size();
  draft.stored = draft_of(raw_table(FrameKind::stored, draft.value_bytes));
  draft.constant = draft_of(raw_table(FrameKind::constant, draft.constant_bytes));
  const std::vector<std::byte> table = coded_table(draft.index_bytes, 1);
  draft.min_at = place_of(some_min, table);
  draft.half_step_at = place_of(some_half_step, table);
  return draft;
}

}  // namespace cuszi

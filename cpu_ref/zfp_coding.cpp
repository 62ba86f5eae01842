#include "cpu_ref/zfp_coding.hpp"

#include "core/chunk_index.hpp"
#include "core/quantizer.hpp"
#include "core/zfp_grid.hpp"
#include "cpu_ref/parallel.hpp"
#include "cpu_ref/zfp.hpp"

namespace cuszi::cpu {

namespace {

constexpr std::uint64_t piece_points = std::uint64_t{1} << 16;

/// Calls work(first, end) for all points, piece by piece.
template <class Work>
void for_pieces(std::uint64_t points, const Work& work) {
  parallel_for(ceil_div(points, piece_points), [&](std::uint64_t i) {
    work(i, i * piece_points, std::min(points, (i + 1) * piece_points));
  });
}

template <class T>
std::vector<T> without_gaps(const FrameInput<T>& frame) {
  std::vector<T> values(frame.values.begin(), frame.values.end());
  T last = static_cast<T>(frame.min);
  for (std::uint64_t i = 0; i < values.size(); ++i) {
    if (frame.mask(i)) values[i] = last;
    last = values[i];
  }
  return values;
}

/// The index of a stream; a fixed rate needs none.
IndexKind index_of(const ZfpCoding& coding) {
  return coding.zfp.has_fixed_rate() ? IndexKind::none : coding.index;
}

/// Restores a stream as it lies in a frame.
template <class T>
void restore(const ZfpCoding& coding, const Dims& dims, Bytes stream, Bytes index, T min, T max,
             std::span<T> values) {
  const Dims blocks_of = zfp_dims(dims);
  const std::uint64_t blocks = zfp_blocks(blocks_of);
  if (stream.size() % 8 != 0 || stream.size() / 8 < ceil_div(blocks, 64)) {
    throw ArchiveError("a zfp stream is truncated");
  }
  const auto starts = decode_index(index_of(coding), coding.partition, index,
                                   ceil_div(blocks, coding.chunk), BitCount{stream.size()} * 8);
  zfp_decode<T>(coding.zfp, blocks_of, stream, starts, coding.chunk, values);
  if (coding.zfp.is_reversible()) return;
  for_pieces(values.size(), [&](std::uint64_t, std::uint64_t first, std::uint64_t end) {
    for (std::uint64_t i = first; i < end; ++i) values[i] = clamp_to(values[i], min, max);
  });
}

/// The points that come back beyond the bound or as a fill value, with what they should be.
template <class T>
std::vector<SparseEntry> find_patches(const FrameInput<T>& frame, std::span<const T> restored,
                                      double bound) {
  std::vector<std::vector<SparseEntry>> found(ceil_div(restored.size(), piece_points));
  for_pieces(restored.size(), [&](std::uint64_t piece, std::uint64_t first, std::uint64_t end) {
    for (std::uint64_t i = first; i < end; ++i) {
      if (frame.mask.any() && frame.mask(i)) continue;
      if (!may_restore_to(frame.values[i], restored[i], bound, frame.fills)) {
        found[piece].push_back(exact_value(i, frame.values[i]));
      }
    }
  });
  std::vector<SparseEntry> patches;
  for (const std::vector<SparseEntry>& some : found) append_entries(patches, some);
  return patches;
}

}  // namespace

template <class T>
SelfCoded encode_values(const ZfpCoding& coding, double bound, const FrameInput<T>& frame) {
  std::vector<T> filled;
  if (frame.mask.any()) filled = without_gaps(frame);
  const std::span<const T> values = frame.mask.any() ? std::span<const T>(filled) : frame.values;
  ZfpStream stream = zfp_encode<T>(coding.zfp, zfp_dims(frame.dims), values, coding.chunk);
  auto index = encode_index(index_of(coding), coding.partition, stream.chunk_bits);

  std::vector<T> restored(values.size());
  restore<T>(coding, frame.dims, stream.bytes, index, static_cast<T>(frame.min),
             static_cast<T>(frame.max), restored);
  const auto patches = find_patches<T>(frame, restored, bound);
  SelfCoded coded;
  coded.counts.patches = patches.size();
  coded.sections.push_back({SectionId::index, std::move(index)});
  coded.sections.push_back({SectionId::codes, std::move(stream.bytes)});
  coded.sections.push_back({SectionId::patches, SparseList::encode(patches, values.size())});
  return coded;
}

template <class T>
void decode_values(const ZfpCoding& coding, const Sections& sections, const FrameOutput<T>& frame) {
  restore<T>(coding, frame.dims, sections.at(SectionId::codes), sections.find(SectionId::index),
             static_cast<T>(frame.min), static_cast<T>(frame.max), frame.values);
  const SparseList patches =
      SparseList::decode(sections.find(SectionId::patches), frame.values.size());
  for (const SparseEntry& patch : patches.entries()) {
    frame.values[patch.point] = value_of<T>(patch.value);
  }
}

template SelfCoded encode_values(const ZfpCoding&, double, const FrameInput<float>&);
template SelfCoded encode_values(const ZfpCoding&, double, const FrameInput<double>&);
template void decode_values(const ZfpCoding&, const Sections&, const FrameOutput<float>&);
template void decode_values(const ZfpCoding&, const Sections&, const FrameOutput<double>&);

}  // namespace cuszi::cpu

#include "cpu_ref/zfp/zfp_coding.hpp"

#include <algorithm>

#include "core/field/chunk_index.hpp"
#include "core/zfp/zfp_grid.hpp"
#include "cpu_ref/zfp/zfp.hpp"

namespace cuszi::cpu {

namespace {

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

}  // namespace

template <class T>
OwnCoded encode_values(const ZfpCoding& coding, double bound, const FrameInput<T>& frame) {
  std::vector<T> filled;
  if (frame.mask.any()) filled = without_gaps(frame);
  const std::span<const T> values = frame.mask.any() ? std::span<const T>(filled) : frame.values;
  ZfpPatches<T> patches{{bound, frame.min, frame.max, frame.rules}, frame.mask, {}};
  const bool checks = coding.needs_check(bound, frame.rules.any());
  const Dims dims = zfp_dims(frame.dims);
  ZfpStream stream = zfp_encode<T>(coding.zfp, dims, values, std::max(coding.chunk, 1U),
                                   checks ? &patches : nullptr);
  const ZfpCoding final_params = coding.with_chosen_chunk(stream.bits, zfp_blocks(dims));
  if (coding.chunk == ZfpCoding::open_chunk) {
    stream.chunk_bits = zfp_joined_chunks(stream.chunk_bits, final_params.chunk);
  }
  OwnCoded coded;
  coded.final_params = final_params;
  coded.counts.patches = patches.found.size();
  coded.sections.push_back(
      {SectionId::index,
       encode_index(final_params.index_kind(), final_params.partition, stream.chunk_bits)});
  coded.sections.push_back({SectionId::codes, std::move(stream.bytes)});
  coded.sections.push_back({SectionId::patches, SparseList::encode(patches.found, values.size())});
  return coded;
}

template <class T>
void decode_values(const ZfpCoding& coding, const Sections& sections, const FrameOutput<T>& frame) {
  const Dims dims = zfp_dims(frame.dims);
  const std::uint64_t blocks = zfp_blocks(dims);
  const Bytes stream = sections.at(SectionId::codes);
  coding.check_stream(stream.size(), blocks);
  const auto starts =
      decode_index(coding.index_kind(), coding.partition, sections.find(SectionId::index),
                   ceil_div(blocks, coding.chunk), BitCount{stream.size()} * 8);
  const auto limits = coding.zfp.is_reversible()
                          ? ZfpLimits<T>{}
                          : ZfpLimits<T>{static_cast<T>(frame.min), static_cast<T>(frame.max)};
  zfp_decode<T>(coding.zfp, dims, stream, starts, coding.chunk, frame.values, limits);
  const SparseList patches =
      SparseList::decode(sections.find(SectionId::patches), frame.values.size());
  for (const SparseEntry& patch : patches.entries()) {
    frame.values[patch.point] = value_of<T>(patch.value);
  }
}

template OwnCoded encode_values(const ZfpCoding&, double, const FrameInput<float>&);
template OwnCoded encode_values(const ZfpCoding&, double, const FrameInput<double>&);
template void decode_values(const ZfpCoding&, const Sections&, const FrameOutput<float>&);
template void decode_values(const ZfpCoding&, const Sections&, const FrameOutput<double>&);

}  // namespace cuszi::cpu

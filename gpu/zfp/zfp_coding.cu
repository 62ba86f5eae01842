#include <cub/device/device_scan.cuh>

#include "core/zfp/zfp_grid.hpp"
#include "gpu/field/chunk_index.cuh"
#include "gpu/runtime/copies.hpp"
#include "gpu/runtime/launch.cuh"
#include "gpu/zfp/zfp.cuh"
#include "gpu/zfp/zfp_coding.cuh"

namespace cuszi::gpu {

namespace {

/// Position behind the last valid point of each 64; 0 if none.
__global__ void find_present(RankedBits missing, std::uint64_t words, std::uint64_t* last) {
  const std::uint64_t word = ItemPolicy::first();
  if (word >= words) return;
  const auto present = static_cast<long long>(~missing.words[word]);
  last[word] = present == 0 ? 0 : word * 64 + 64 - static_cast<unsigned>(__clzll(present));
}

struct Larger {
  __host__ __device__ std::uint64_t operator()(std::uint64_t a, std::uint64_t b) const {
    return a > b ? a : b;
  }
};

const std::uint64_t* last_present(DeviceContext& gpu, const RankedBits& missing) {
  const std::uint64_t words = missing.blocks * RankedBits::block_words;
  auto* const last = gpu.take<std::uint64_t>(words);
  launch_items(gpu, "find_present", words, find_present, missing, words, last);
  std::size_t bytes = 0;
  const auto scan = [&](void* memory) {
    check(cub::DeviceScan::InclusiveScan(memory, bytes, last, last, Larger{}, words, gpu.stream()),
          "find the values that are not missing");
  };
  scan(nullptr);
  scan(gpu.take<std::byte>(bytes));
  return last;
}

/// By the last valid value before, else the minimum.
template <class T>
struct CloseGap {
  RankedBits missing;
  const std::uint64_t* last;
  T smallest;
  T* values;

  __device__ void operator()(std::uint64_t point, std::uint64_t /*rank*/) const {
    const std::uint64_t word = point / 64;
    const std::uint64_t below = (std::uint64_t{1} << (point % 64)) - 1;
    const auto present = static_cast<long long>(~missing.words[word] & below);
    const std::uint64_t before = word == 0 ? 0 : last[word - 1];
    const std::uint64_t found =
        present == 0 ? before : word * 64 + 64 - static_cast<unsigned>(__clzll(present));
    values[point] = found == 0 ? smallest : values[found - 1];
  }
};

template <class T>
const T* without_gaps(DeviceContext& gpu, const FrameInput<T>& frame) {
  if (frame.missing_points == 0) return frame.values;
  const std::uint64_t points = count_of(frame.extents);
  auto* const values = gpu.take<T>(points);
  start_copy(gpu, values, frame.values, points);
  for_each_bit(gpu, frame.missing,
               CloseGap<T>{frame.missing, last_present(gpu, frame.missing),
                           static_cast<T>(frame.min), values});
  return values;
}

/// Empty at fixed rate.
Bytes index_of(DeviceContext& gpu, const ZfpCoding& coding, const ZfpStream& stream,
               BitCount most_bits) {
  if (coding.index_kind() == IndexKind::none) return {};
  const std::uint64_t chunks = ceil_div(stream.blocks, coding.chunk);
  return encode_index(gpu, coding.index, coding.partition,
                      zfp_chunk_starts(gpu, stream, coding.chunk), chunks,
                      coding.chunk * most_bits);
}

}  // namespace

template <class T>
OwnCoded encode_values(DeviceContext& gpu, const ZfpCoding& coding, double bound,
                       const FrameInput<T>& frame) {
  const Dims dims = zfp_dims(frame.dims);
  const T* const values = without_gaps(gpu, frame);
  const bool checks = coding.needs_check(bound, frame.rules.any());
  ZfpPatches<T> patches;
  patches.check = ZfpCheck<T>(bound, frame.min, frame.max, frame.rules);
  patches.missing = frame.missing;
  const ZfpStream stream =
      zfp_encode<T>(gpu, coding.zfp, dims, values, checks ? &patches : nullptr);

  const ZfpCoding final_params = coding.with_chosen_chunk(stream.bits, stream.blocks);
  OwnCoded coded;
  coded.final_params = final_params;
  add_section(SectionId::index,
              index_of(gpu, final_params, stream, zfp_most_block_bits<T>(coding.zfp, dims.rank())),
              coded.sections);
  add_section(SectionId::codes,
              {reinterpret_cast<const std::byte*>(stream.words), zfp_stream_bytes(stream.bits)},
              coded.sections);
  if (!patches.any) return coded;
  const PassCounts& counts = *download(gpu, patches.exceptions.counts, 1);
  gpu.sync();
  coded.counts = counts;
  add_section(SectionId::patches,
              encode_sparse(gpu, patches.exceptions.patches, counts.patches, BitsAt<T>{values}),
              coded.sections);
  return coded;
}

template <class T>
void decode_values(DeviceContext& gpu, const ZfpCoding& coding, const Sections& sections,
                   const FrameOutput<T>& frame) {
  const Dims dims = zfp_dims(frame.dims);
  const std::uint64_t blocks = zfp_blocks(dims);
  const Bytes stream = sections.at(SectionId::codes);
  const Bytes index = sections.find(SectionId::index);
  coding.check_stream(stream.size(), blocks);
  const std::uint64_t points = count_of(frame.extents);
  const PendingSparse lists(gpu, {sections.find(SectionId::patches)}, points);
  const std::byte* const first = download(gpu, index.data(), index.empty() ? 0 : 1);
  gpu.sync();
  const BitCount* const starts = decode_index(
      gpu, coding.index_kind(), coding.partition, index, index.empty() ? std::byte{} : *first,
      ceil_div(blocks, coding.chunk), BitCount{stream.size()} * 8);
  const ZfpLimits<T> limits = coding.zfp.is_reversible() ? ZfpLimits<T>{}
                                                         : ZfpLimits<T>{static_cast<T>(frame.min),
                                                                        static_cast<T>(frame.max)};
  const bool has_index = coding.index_kind() != IndexKind::none;
  zfp_decode<T>(gpu, coding.zfp, dims, stream, starts, has_index ? coding.chunk : blocks, limits,
                frame.values);
  const SparseView patches = lists.unpack().front();
  if (patches.bits.words == nullptr) return;
  for_each_bit(
      gpu, patches.bits,
      [patches, values = frame.values] __device__(std::uint64_t point, std::uint64_t rank) {
        values[point] = value_of<T>(patches.value(rank));
      });
}

template OwnCoded encode_values(DeviceContext&, const ZfpCoding&, double, const FrameInput<float>&);
template OwnCoded encode_values(DeviceContext&, const ZfpCoding&, double,
                                const FrameInput<double>&);
template void decode_values(DeviceContext&, const ZfpCoding&, const Sections&,
                            const FrameOutput<float>&);
template void decode_values(DeviceContext&, const ZfpCoding&, const Sections&,
                            const FrameOutput<double>&);

}  // namespace cuszi::gpu

#include <string>

#include "gpu/field/chunk_index.cuh"
#include "gpu/field/ranked_bits.cuh"
#include "gpu/runtime/bytes.cuh"
#include "gpu/runtime/copies.hpp"
#include "gpu/runtime/launch.cuh"

namespace cuszi::gpu {

namespace {

__global__ void find_most_bits(const BitCount* starts, std::uint64_t chunks, std::uint64_t* most) {
  const std::uint64_t i = ItemPolicy::first();
  if (i < chunks) atomicMax(reinterpret_cast<unsigned long long*>(most), starts[i + 1] - starts[i]);
}

/// One thread per chunk.
__global__ void write_index(IndexLayout layout, unsigned head, unsigned length_bytes,
                            const BitCount* starts, std::uint64_t chunks, std::byte* index) {
  const std::uint64_t i = ItemPolicy::first();
  if (i >= chunks) return;
  const std::uint64_t run = i / layout.chunks_per_offset;
  if (head != 0 && i == 0) index[0] = static_cast<std::byte>(length_bytes);
  if (layout.has_offsets && i % layout.chunks_per_offset == 0) {
    put_bytes(index + head + run * sizeof(BitCount), starts[i], sizeof(BitCount));
  }
  if (i + 1 < chunks && (i + 1) % layout.chunks_per_offset != 0) {
    put_bytes(index + layout.lengths_at + (i - run) * length_bytes, starts[i + 1] - starts[i],
              length_bytes);
  }
}

/// One warp per offset and its chunks.
__global__ void read_offsets(IndexLayout layout, unsigned head, unsigned length_bytes,
                             const std::byte* index, std::uint64_t chunks, BitCount stream_bits,
                             BitCount* starts, std::uint32_t* flaws) {
  const std::uint64_t run = ItemPolicy::first() / 32;
  const unsigned lane = threadIdx.x % 32;
  const std::uint64_t first = run * layout.chunks_per_offset;
  if (first >= chunks) return;
  const std::byte* const offset = index + head + run * sizeof(BitCount);
  const std::uint64_t end =
      first + layout.chunks_per_offset < chunks ? first + layout.chunks_per_offset : chunks;
  BitCount at = get_bytes(offset, sizeof(BitCount));
  for (std::uint64_t some = first; some < end; some += 32) {
    const std::uint64_t i = some + lane;
    const BitCount own =
        i + 1 < end ? get_bytes(index + layout.lengths_at + (i - run) * length_bytes, length_bytes)
                    : 0;
    const BitCount sum = sum_to_lane(own);
    const BitCount start = at + sum - own;
    if (i < end) {
      starts[i] = start < stream_bits ? start : stream_bits;
      if (start > stream_bits) atomicOr(flaws, bad_chunk_index);
    }
    at += __shfl_sync(~0U, sum, 31);
  }
  if (lane != 0) return;
  if (end < chunks && get_bytes(offset + sizeof(BitCount), sizeof(BitCount)) < at) {
    atomicOr(flaws, bad_chunk_index);
  }
  if (end == chunks) starts[chunks] = stream_bits;
}

__global__ void read_lengths(const std::byte* lengths, unsigned length_bytes, std::uint64_t count,
                             std::uint32_t* out) {
  const std::uint64_t i = ItemPolicy::first();
  if (i < count)
    out[i] = static_cast<std::uint32_t>(get_bytes(lengths + i * length_bytes, length_bytes));
}

__global__ void close_starts(std::uint64_t chunks, BitCount stream_bits, BitCount* starts,
                             std::uint32_t* flaws) {
  const std::uint64_t i = ItemPolicy::first();
  if (i > chunks) return;
  if (i < chunks && starts[i] > stream_bits) atomicOr(flaws, bad_chunk_index);
  if (i == chunks || starts[i] > stream_bits) starts[i] = stream_bits;
}

}  // namespace

Bytes encode_index(DeviceContext& gpu, IndexKind kind, std::uint32_t partition,
                   const BitCount* starts, std::uint64_t chunks, std::uint64_t most_bits) {
  if (kind == IndexKind::none || chunks < 2) return {};
  if (bytes_per_length(most_bits) != 2 && kind != IndexKind::offset) {
    auto* const most = gpu.take_zeroed<std::uint64_t>(1);
    launch_items(gpu, "find_most_bits", chunks, find_most_bits, starts, chunks, most);
    const std::uint64_t& found = *download(gpu, most, 1);
    gpu.sync();
    most_bits = found;
  }
  const unsigned length_bytes = bytes_per_length(most_bits);
  const IndexLayout layout = index_layout(kind, partition, chunks, length_bytes);
  auto* const index = gpu.take<std::byte>(layout.size);
  const unsigned head = kind == IndexKind::offset ? 0 : 1;
  launch_items(gpu, "write_index", chunks, write_index, layout, head, length_bytes, starts, chunks,
               index);
  return {index, layout.size};
}

const BitCount* decode_index(DeviceContext& gpu, IndexKind kind, std::uint32_t partition,
                             Bytes index, std::byte first_byte, std::uint64_t chunks,
                             BitCount stream_bits) {
  auto* const starts = gpu.take<BitCount>(chunks + 1);
  const bool has_lengths = kind == IndexKind::length || kind == IndexKind::hybrid;
  const bool present = kind != IndexKind::none && chunks > 1;
  const auto length_bytes = present && has_lengths ? static_cast<unsigned>(first_byte) : 2;
  if (length_bytes != 2 && length_bytes != 4) {
    throw ArchiveError("the chunk index has lengths of " + std::to_string(length_bytes) + " bytes");
  }
  const IndexLayout layout = index_layout(kind, partition, chunks, length_bytes);
  if (index.size() < layout.size) throw ArchiveError("the chunk index is truncated");
  if (index.size() > layout.size)
    throw ArchiveError("the chunk index holds unknown bytes at its end");
  if (!present) {
    check(cudaMemsetAsync(starts, 0, sizeof *starts, gpu.stream()), "clear memory");
    launch_items(gpu, "close_starts", 2, close_starts, 1, stream_bits, starts, gpu.flaws());
  } else if (layout.has_offsets) {
    const std::uint64_t runs = ceil_div(chunks, layout.chunks_per_offset);
    launch_items(gpu, "read_offsets", 32 * runs, read_offsets, layout, has_lengths ? 1 : 0,
                 length_bytes, index.data(), chunks, stream_bits, starts, gpu.flaws());
  } else {
    auto* const lengths = gpu.take<std::uint32_t>(chunks);
    launch_items(gpu, "read_lengths", chunks - 1, read_lengths, index.data() + layout.lengths_at,
                 length_bytes, chunks - 1, lengths);
    exclusive_sums(gpu, lengths, chunks - 1, starts);
    launch_items(gpu, "close_starts", chunks + 1, close_starts, chunks, stream_bits, starts,
                 gpu.flaws());
  }
  return starts;
}

}  // namespace cuszi::gpu

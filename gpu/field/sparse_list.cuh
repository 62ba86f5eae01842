#pragma once

#include "core/base/dtype.hpp"
#include "core/field/sparse_list.hpp"
#include "gpu/field/ranked_bits.cuh"
#include "gpu/runtime/bytes.cuh"

namespace cuszi::gpu {

struct SparseEntries {
  RankedBits bits;
  std::uint16_t* positions = nullptr;
  std::uint64_t* values = nullptr;
  std::uint64_t* largest = nullptr;

  __device__ void put(std::uint64_t point, std::uint64_t rank, std::uint64_t value) const {
    positions[rank] = static_cast<std::uint16_t>(point % SparseList::block_points);
    values[rank] = value;
    atomicMax(reinterpret_cast<unsigned long long*>(largest), value);
  }
};

SparseEntries take_entries(DeviceContext& gpu, const RankedBits& bits, std::uint64_t count);
/// Same bytes as SparseList::encode(). Synchronises.
Bytes encode_entries(DeviceContext& gpu, const SparseEntries& entries, std::uint64_t count);

/// `count` points with values value_at(point); empty for an empty set. Synchronises.
template <class ValueAt>
Bytes encode_sparse(DeviceContext& gpu, const RankedBits& bits, std::uint64_t count,
                    const ValueAt& value_at) {
  if (count == 0) return {};
  const SparseEntries entries = take_entries(gpu, bits, count);
  for_each_bit(gpu, bits, [entries, value_at] __device__(std::uint64_t point, std::uint64_t rank) {
    entries.put(point, rank, value_at(point));
  });
  return encode_entries(gpu, entries, count);
}

struct SparseView {
  RankedBits bits;  ///< null if empty
  const std::byte* values = nullptr;
  unsigned value_bytes = 0;

  __device__ std::uint64_t value(std::uint64_t rank) const {
    return get_bytes(values + rank * value_bytes, value_bytes);
  }

  /// 0 if absent.
  __device__ std::uint64_t find(std::uint64_t point) const {
    if (bits.words == nullptr || !bits.test(point)) return 0;
    return value(bits.rank(point));
  }
};

class PendingSparse {
 public:
  /// Starts the downloads. The lists are in device memory.
  PendingSparse(DeviceContext& gpu, std::span<const Bytes> lists, std::uint64_t points);
  PendingSparse(DeviceContext& gpu, std::initializer_list<Bytes> lists, std::uint64_t points)
      : PendingSparse(gpu, std::span(lists.begin(), lists.size()), points) {}

  bool any() const;
  /// Call it after the next sync(). Damaged lists set a flaw or throw ArchiveError.
  std::vector<SparseView> unpack() const;

 private:
  struct List {
    Bytes bytes;
    Bytes head;  ///< in pinned memory
  };

  DeviceContext& gpu_;
  std::vector<List> lists_;
  std::uint64_t points_;
};

/// Lists are in device memory. Synchronises. Damaged lists set a flaw or throw ArchiveError.
std::vector<SparseView> decode_sparse(DeviceContext& gpu, std::initializer_list<Bytes> lists,
                                      std::uint64_t points);

template <class T>
__device__ std::uint64_t bits_of(T value) {
  return __builtin_bit_cast(BitsOf<T>, value);
}
template <class T>
struct BitsAt {
  const T* values;

  __device__ std::uint64_t operator()(std::uint64_t point) const { return bits_of(values[point]); }
};
template <class T>
__device__ T value_of(std::uint64_t bits) {
  return __builtin_bit_cast(T, static_cast<BitsOf<T>>(bits));
}

}  // namespace cuszi::gpu

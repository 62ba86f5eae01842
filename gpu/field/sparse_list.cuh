#pragma once

#include "core/base/dtype.hpp"
#include "core/field/sparse_list.hpp"
#include "gpu/field/ranked_bits.cuh"
#include "gpu/runtime/bytes.cuh"

namespace cuszi::gpu {

/// Entries of a sparse list as kernels make them: the set of points, then positions and values by
/// rank.
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

/// Ranks a set of `count` points and makes room for their entries.
SparseEntries take_entries(DeviceContext& gpu, const RankedBits& bits, std::uint64_t count);
/// The bytes of SparseList::encode. Waits for the largest value.
Bytes encode_entries(DeviceContext& gpu, const SparseEntries& entries, std::uint64_t count);

/// The sparse list of a set of points (nothing for an empty set); value_at(point) gives the values.
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

/// A sparse list as kernels read it.
struct SparseView {
  RankedBits bits;  ///< no words if the list is empty
  const std::byte* values = nullptr;
  unsigned value_bytes = 0;

  __device__ std::uint64_t value(std::uint64_t rank) const {
    return get_bytes(values + rank * value_bytes, value_bytes);
  }

  /// The value at `point`, 0 if the list has none.
  __device__ std::uint64_t find(std::uint64_t point) const {
    if (bits.words == nullptr || !bits.test(point)) return 0;
    return value(bits.rank(point));
  }
};

/// Sparse lists in the device's memory, of a frame of `points` points, while their heads travel to
/// the host.
class PendingSparse {
 public:
  /// Starts to copy the heads of the lists to the host.
  PendingSparse(DeviceContext& gpu, std::span<const Bytes> lists, std::uint64_t points);
  PendingSparse(DeviceContext& gpu, std::initializer_list<Bytes> lists, std::uint64_t points)
      : PendingSparse(gpu, std::span(lists.begin(), lists.size()), points) {}

  /// Whether there is any list.
  bool any() const;
  /// The lists as kernels read them; to be called after the next sync(). Throws ArchiveError, or
  /// sets a flaw, if the lists are damaged.
  std::vector<SparseView> unpack() const;

 private:
  struct List {
    Bytes bytes;
    Bytes head;  ///< in page-locked memory
  };

  DeviceContext& gpu_;
  std::vector<List> lists_;
  std::uint64_t points_;
};

/// Unpacks sparse lists in the device's memory, of a frame of `points` points. The host waits once.
/// Throws ArchiveError, or sets a flaw, if the lists are damaged.
std::vector<SparseView> decode_sparse(DeviceContext& gpu, std::initializer_list<Bytes> lists,
                                      std::uint64_t points);

/// The bits of a value as sparse lists hold them.
template <class T>
__device__ std::uint64_t bits_of(T value) {
  return __builtin_bit_cast(BitsOf<T>, value);
}
/// Gives a sparse list the bits of a frame's values, by point.
template <class T>
struct BitsAt {
  const T* values;

  __device__ std::uint64_t operator()(std::uint64_t point) const { return bits_of(values[point]); }
};
/// The value that these bits of a sparse list stand for.
template <class T>
__device__ T value_of(std::uint64_t bits) {
  return __builtin_bit_cast(T, static_cast<BitsOf<T>>(bits));
}

}  // namespace cuszi::gpu

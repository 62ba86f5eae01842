#pragma once

#include <vector>

#include "core/coders/ans_chain.hpp"
#include "gpu/coders/tuning.cuh"
#include "gpu/runtime/copies.hpp"
#include "gpu/runtime/launch.cuh"

namespace cuszi::gpu {

// The chains of a frame, concatenated for kernels.

struct FrameList {
  std::uint32_t first;  ///< slot of the frame
  std::uint32_t count;
  SlotKind kind;
  QuantCode* codes;        ///< of SlotKind::code
  std::uint32_t* numbers;  ///< of other kinds

  __device__ std::uint32_t value(std::uint32_t slot) const {
    return kind == SlotKind::code ? codes[slot - first] : numbers[slot - first];
  }
  __device__ void set_value(std::uint32_t slot, std::uint32_t value) const {
    if (kind == SlotKind::code) {
      codes[slot - first] = static_cast<QuantCode>(value);
    } else {
      numbers[slot - first] = value;
    }
  }
};

struct FrameSegment {
  std::uint32_t first;  ///< slot of the frame
  std::uint32_t slots;
  std::uint32_t list;  ///< of the first slot

  __device__ std::uint32_t lanes() const { return lanes_of(slots); }
  __device__ std::uint32_t steps() const { return (slots + lanes() - 1) / lanes(); }
};

struct FrameSlots {
  const FrameList* lists = nullptr;
  const FrameSegment* segments = nullptr;
  std::uint32_t list_count = 0;
  std::uint32_t segment_count = 0;
  std::uint32_t slots = 0;
};

inline constexpr std::uint32_t segment_tiles = slots_of_lane / SegmentPolicy::tile_steps;

/// Slots within the segment.
struct SlotTile {
  std::uint32_t begin;
  std::uint32_t end;

  __device__ SlotTile(const FrameSegment& segment, std::uint32_t number) {
    const std::uint32_t size = SegmentPolicy::tile_steps * segment.lanes();
    begin = min(number * size, segment.slots);
    end = min(begin + size, segment.slots);
  }
};

class ListCursor {
 public:
  /// `slot` must not be before `list`.
  __device__ ListCursor(const FrameSlots& all, std::uint32_t list, std::uint32_t slot)
      : lists_(all.lists) {
    std::uint32_t end = all.list_count;
    while (end - list > 1) {
      const std::uint32_t middle = (list + end) / 2;
      if (lists_[middle].first <= slot) {
        list = middle;
      } else {
        end = middle;
      }
    }
    enter(list);
  }

  /// `slot` should be near.
  __device__ void move_to(std::uint32_t slot) {
    while (slot < first_) enter(number_ - 1);
    while (slot - first_ >= count_) enter(number_ + 1);
  }

  __device__ std::uint32_t number() const { return number_; }
  __device__ const FrameList& list() const { return lists_[number_]; }
  /// Slots of the frame.
  __device__ std::uint32_t first() const { return first_; }
  __device__ std::uint32_t end() const { return first_ + count_; }

 private:
  __device__ void enter(std::uint32_t number) {
    number_ = number;
    first_ = lists_[number].first;
    count_ = lists_[number].count;
  }

  const FrameList* lists_;
  std::uint32_t number_;
  std::uint32_t first_;
  std::uint32_t count_;
};

class FrameSlotsBuilder {
 public:
  /// Appends a chain; values(list) returns the location of a list's values. Throws DeviceError for
  /// too many slots.
  template <class Values>
  void add(const ChainPlan& plan, const Values& values) {
    if (plan.slots() >= most_slots - slots_) {
      throw DeviceError("a frame has too many quant-codes for `ans` on a GPU", Setting::frame_size);
    }
    const std::size_t first_list = lists_.size();
    for (const SlotList& list : plan.lists) {
      FrameList added = values(list);
      added.first = slots_ + static_cast<std::uint32_t>(list.first);
      added.count = static_cast<std::uint32_t>(list.count);
      added.kind = list.kind;
      lists_.push_back(added);
    }
    add_segments(plan, first_list);
    slots_ += static_cast<std::uint32_t>(plan.slots());
  }

  std::uint32_t slots() const { return slots_; }
  std::size_t segments() const { return segments_.size(); }
  std::size_t lists() const { return lists_.size(); }

  /// Valid after running `list`.
  FrameSlots on_device(DeviceContext& gpu, CopyList& list) const {
    return {upload(gpu, lists_.data(), lists_.size(), list),
            upload(gpu, segments_.data(), segments_.size(), list),
            static_cast<std::uint32_t>(lists_.size()), static_cast<std::uint32_t>(segments_.size()),
            slots_};
  }

 private:
  static constexpr std::uint64_t most_slots = (std::uint64_t{1} << 32) - slots_of_segment;

  void add_segments(const ChainPlan& plan, std::size_t list) {
    for (std::uint64_t i = 0; i < plan.segments(); ++i) {
      const ChainSegment segment = segment_of(plan, i);
      const std::uint32_t first = slots_ + static_cast<std::uint32_t>(segment.first);
      while (lists_[list].first + lists_[list].count <= first) ++list;
      segments_.push_back({first, segment.slots, static_cast<std::uint32_t>(list)});
    }
  }

  std::vector<FrameList> lists_;
  std::vector<FrameSegment> segments_;
  std::uint32_t slots_ = 0;
};

__device__ inline std::uint32_t warp_number() {
  return (blockIdx.x * blockDim.x + threadIdx.x) / 32;
}

/// Warp-wide prefix sums of four counts per lane, below 2^11, in the order of slots 32 apart.
struct FourSums {
  std::uint32_t before[4];
  std::uint32_t total;

  __device__ explicit FourSums(const std::uint32_t (&counts)[4]) {
    std::uint64_t own = 0;
#pragma unroll
    for (int k = 0; k < 4; ++k) own |= std::uint64_t{counts[k]} << (16 * k);
    std::uint64_t sum = sum_to_lane(own);
    const std::uint64_t all = __shfl_sync(~0U, sum, 31);
    sum -= own;
    total = 0;
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      before[k] = total + (static_cast<std::uint32_t>(sum >> (16 * k)) & 0xFFFFU);
      total += static_cast<std::uint32_t>(all >> (16 * k)) & 0xFFFFU;
    }
  }
};

}  // namespace cuszi::gpu

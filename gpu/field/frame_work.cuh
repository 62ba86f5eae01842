#pragma once

#include <functional>

#include "core/backend/backend.hpp"
#include "gpu/field/ranked_bits.cuh"
#include "gpu/field/sparse_list.cuh"
#include "gpu/field/stored_values.cuh"

namespace cuszi::gpu {

template <class T>
struct FrameInput {
  Extents3 extents;
  const T* values;
  RankedBits missing;  ///< no words without missing points
  std::uint64_t missing_points;
  double min;
  double max;
  Dims dims{};                                ///< not squeezed; for the host
  RestoreRules<T> rules = {};                 ///< that restored values could break
  const T* originals = nullptr;               ///< original values, if `values` are logarithms
  const LocalBounds* local = nullptr;         ///< of blocks, for `cells`; in host memory
  StoredValues<const std::byte> stored = {};  ///< read by `tiles` if there are no `values`
};

template <class T>
struct FrameOutput {
  Extents3 extents;
  T* values;
  RankedBits missing;
  std::uint64_t missing_points;
  double min;
  double max;
  Dims dims{};  ///< not squeezed; for the host
  const TransformTarget* transform = nullptr;
  Extents3 whole{};          ///< extents of the frame, if only points at `stride` are restored
  std::uint64_t stride = 1;  ///< along axes of extent above 1
  const LocalBounds* local = nullptr;   ///< of blocks of the frame, for `cells`; in host memory
  StoredValues<std::byte> stored = {};  ///< written by `tiles` if there are no `values`
};

/// `histogram` is of the codes, on the device.
struct Predicted {
  std::span<const std::uint64_t> histogram;
  Bytes anchors;
  Bytes outliers;
  Bytes patches;
  PassCounts counts;
};

struct StartedPrediction {
  std::span<const std::uint64_t> histogram;  ///< of the codes, on the device
  std::function<Predicted()> finish;         ///< call after the next sync()
};

struct ExceptionLists {
  SparseView outliers;
  SparseView patches;
};

using OwnCoded = CodedPass;

inline void add_section(SectionId id, Bytes bytes, Sections& out) {
  if (!bytes.empty()) out.add(id, bytes);
}

struct ExceptionSets {
  RankedBits outliers;
  RankedBits patches;
  PassCounts* counts;

  __device__ void add_outlier(std::uint64_t point) const { add(outliers, counts->outliers, point); }
  __device__ void add_patch(std::uint64_t point) const { add(patches, counts->patches, point); }

 private:
  __device__ static void add(const RankedBits& set, std::uint64_t& count, std::uint64_t point) {
    set.set(point);
    atomicAdd(reinterpret_cast<unsigned long long*>(&count), 1ULL);
  }
};

template <class F>
void with_flag(bool flag, const F& f) {
  if (flag) {
    f(std::true_type{});
  } else {
    f(std::false_type{});
  }
}

inline ExceptionSets make_exceptions(DeviceContext& gpu, std::uint64_t points, bool has_patches) {
  const std::uint64_t blocks = ceil_div(points, RankedBits::block_points);
  const std::uint64_t words = blocks * RankedBits::block_words;
  constexpr std::uint64_t count_words = sizeof(PassCounts) / sizeof(std::uint64_t);
  auto* const cleared = gpu.take_zeroed<std::uint64_t>((has_patches ? 2 : 1) * words + count_words);
  const auto make = [&](std::uint64_t* set) {
    return RankedBits{set, gpu.take<std::uint16_t>(words), gpu.take<std::uint64_t>(blocks + 1),
                      blocks};
  };
  std::uint64_t* const sets = cleared + count_words;
  return {make(sets), has_patches ? make(sets + words) : RankedBits{},
          reinterpret_cast<PassCounts*>(cleared)};
}

}  // namespace cuszi::gpu

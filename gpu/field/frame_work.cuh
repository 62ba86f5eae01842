#pragma once

#include <functional>

#include "core/backend/backend.hpp"
#include "gpu/field/ranked_bits.cuh"
#include "gpu/field/sparse_list.cuh"

namespace cuszi::gpu {

/// A frame to compress, on the device.
template <class T>
struct FrameInput {
  Extents3 extents;
  const T* values;
  RankedBits missing;  ///< no words if no point is missing
  std::uint64_t missing_points;
  double min;
  double max;
  Dims dims{};                   ///< as the frame has them; for the host
  RestoreRules<T> rules = {};    ///< that a restored value could break
  const T* originals = nullptr;  ///< the values themselves where `values` are their logarithms
};

/// A frame to restore, on the device.
template <class T>
struct FrameOutput {
  Extents3 extents;
  T* values;
  RankedBits missing;
  std::uint64_t missing_points;
  double min;
  double max;
  Dims dims{};  ///< as the frame has them; for the host
  const TransformTarget* transform = nullptr;
  Extents3 whole{};          ///< extents of the frame, of which these are the points at a stride
  std::uint64_t stride = 1;  ///< along axes longer than 1
};

/// What a predictor makes of a pass beside the quant-codes: their histogram, on the device, its
/// sections, and how many points are outliers or patches.
struct Predicted {
  std::span<const std::uint64_t> histogram;
  Bytes anchors;
  Bytes outliers;
  Bytes patches;
  PassCounts counts;
};

/// A prediction that the device has begun.
struct StartedPrediction {
  std::span<const std::uint64_t> histogram;  ///< of the codes, on the device
  std::function<Predicted()> finish;         ///< after the next sync()
};

/// The outliers and patches of a frame, as kernels read them.
struct ExceptionLists {
  SparseView outliers;
  SparseView patches;
};

/// The sections that a predictor with its own coder makes of a pass.
using OwnCoded = CodedPass;

/// Adds a section unless it is empty.
inline void add_section(SectionId id, Bytes bytes, Sections& out) {
  if (!bytes.empty()) out.add(id, bytes);
}

/// The sets of outliers and patches that a kernel fills while it makes quant-codes, and their
/// sizes.
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

/// Calls f with a compile-time bool.
template <class F>
void with_flag(bool flag, const F& f) {
  if (flag) {
    f(std::true_type{});
  } else {
    f(std::false_type{});
  }
}

}  // namespace cuszi::gpu

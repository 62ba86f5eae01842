#pragma once

#include <span>
#include <vector>

#include "core/base/unmovable.hpp"
#include "gpu/field/frame_work.cuh"
#include "gpu/multilevel/device_class.cuh"
#include "gpu/multilevel/local_quantizers.cuh"
#include "gpu/runtime/context.hpp"

namespace cuszi::gpu {

/// Arrays of all levels, and the passes from coarse to fine in either direction (compare
/// cpu_ref/multilevel).
template <class T>
class LevelFrame : Unmovable {
 public:
  /// `finest` holds all points of the frame. `min` and `max` are its range.
  LevelFrame(DeviceContext& gpu, FrameMemory& memory, const MultilevelParams& params, double min,
             double max, T* finest);

  int passes() const { return static_cast<int>(plan_.passes.size()); }
  const FramePlan<T>& plan() const { return plan_; }
  const Pass& pass(int number) const { return plan_.passes[static_cast<std::size_t>(number)]; }
  const PassView<T>& view(int number) const { return views_[static_cast<std::size_t>(number)]; }
  /// Points of earlier passes.
  std::uint64_t start(int number) const { return starts_[static_cast<std::size_t>(number)]; }
  std::uint64_t points() const { return starts_.back(); }

  /// Call before each pass; copies coarser values at the first pass of a level.
  void enter(int number);
  MutableBytes finest_values() const {
    return {reinterpret_cast<std::byte*>(arrays_.front().values), points() * sizeof(T)};
  }
  /// Restores the order of rows.
  void leave();

  bool follows_coarse_lattice(int number) const {
    return number > 0 && static_cast<std::size_t>(number) == plan_.coarse_passes;
  }
  /// Buffer for coarse values by code position, which are hashed; null for level 1, or if that is
  /// absent.
  T* listed(int number) const {
    const bool is_coarse = static_cast<std::size_t>(number) < plan_.coarse_passes;
    return listed_ != nullptr && is_coarse ? listed_ + start(number) : nullptr;
  }
  Bytes coarse_values() const;

 private:
  const LevelArray<T>& array(int level) const {
    return arrays_[static_cast<std::size_t>(level - lattice_.finest)];
  }
  void make_arrays(FrameMemory& memory, T* finest);
  void make_views(const MultilevelParams& params);

  DeviceContext& gpu_;
  Lattice lattice_;
  FramePlan<T> plan_;
  std::vector<LevelArray<T>> arrays_;  ///< finest first
  std::span<DeviceClass<T>> classes_;  ///< page-locked
  std::vector<PassView<T>> views_;
  std::vector<std::uint64_t> starts_;
  T* listed_ = nullptr;
};

template <class T>
struct QuantiseTask {
  const T* original;
  RankedBits missing;  ///< points of the frame; no words if none are missing
  RestoreRules<T> rules;
  Quantizer<T> quantizer;
  QuantCode* codes;     ///< by code position
  RankedBits outliers;  ///< code positions
  std::uint64_t* outlier_count;
  std::int64_t* error_sum;  ///< in error_in_units()
  double error_units_per_one;
  T* listed = nullptr;                     ///< see LevelFrame
  const std::uint8_t* contexts = nullptr;  ///< by code position, with dead zones
  const T* zones = nullptr;                ///< dead zones by context, in steps
  LocalQuantizers<T> local = {};
};

template <class T>
void quantise_pass(DeviceContext& gpu, const PassView<T>& pass, const QuantiseTask<T>& task);

/// Original values of outliers by code position. Waits.
template <class T>
Bytes list_outliers(DeviceContext& gpu, const PassView<T>& pass, const T* original,
                    const RankedBits& outliers, std::uint64_t count);

template <class T>
struct RestoreTask {
  RankedBits missing;
  Quantizer<T> quantizer;
  const QuantCode* codes;  ///< by code position
  SparseView outliers;
  std::uint32_t* flaws;
  T* listed = nullptr;  ///< see LevelFrame
  LocalQuantizers<T> local = {};
};

template <class T>
void restore_pass(DeviceContext& gpu, const PassView<T>& pass, const RestoreTask<T>& task);

/// Separates the contexts of points with their own bounds; `bounds` are those of the frame's
/// points.
template <class T>
void split_contexts(DeviceContext& gpu, const PassView<T>& pass, const std::uint8_t* bounds,
                    std::size_t others, std::uint8_t* contexts);

/// By code position.
template <class T>
void find_missing_positions(DeviceContext& gpu, const PassView<T>& pass, const RankedBits& missing,
                            std::uint8_t* is_missing);

}  // namespace cuszi::gpu

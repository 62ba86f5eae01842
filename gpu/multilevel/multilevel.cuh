#pragma once

#include <span>
#include <vector>

#include "gpu/field/frame_work.cuh"
#include "gpu/multilevel/device_class.cuh"
#include "gpu/multilevel/local_quantizers.cuh"
#include "gpu/runtime/context.hpp"

namespace cuszi::gpu {

/// The arrays of all levels of a frame and its passes, on their way from coarse to fine in either
/// direction (compare cpu_ref/multilevel).
template <class T>
class LevelFrame {
 public:
  /// `finest` has room for all points of the frame. `min` and `max` are its range.
  LevelFrame(DeviceContext& gpu, FrameMemory& memory, const MultilevelParams& params, double min,
             double max, T* finest);
  LevelFrame(const LevelFrame&) = delete;
  LevelFrame& operator=(const LevelFrame&) = delete;

  int passes() const { return static_cast<int>(plan_.passes.size()); }
  const FramePlan<T>& plan() const { return plan_; }
  const Pass& pass(int number) const { return plan_.passes[static_cast<std::size_t>(number)]; }
  const PassView<T>& view(int number) const { return views_[static_cast<std::size_t>(number)]; }
  /// How many points come before those of a pass.
  std::uint64_t start(int number) const { return starts_[static_cast<std::size_t>(number)]; }
  std::uint64_t points() const { return starts_.back(); }

  /// To be called before a pass is predicted: if it is the first of its level, the values of the
  /// coarser ones are brought there.
  void enter(int number);
  /// The memory of the finest level's values.
  MutableBytes finest_values() const {
    return {reinterpret_cast<std::byte*>(arrays_.front().values), points() * sizeof(T)};
  }
  /// Puts the rows of the finest level's array in order.
  void leave();

  /// Whether the pass is the first of level 1 and others come before it.
  bool follows_coarse_lattice(int number) const {
    return number > 0 && static_cast<std::size_t>(number) == plan_.coarse_passes;
  }
  /// Room for the values of a pass above level 1 by code position, whose hash archives have; none
  /// for those of level 1, or if there is no level 1.
  T* listed(int number) const {
    const bool is_coarse = static_cast<std::size_t>(number) < plan_.coarse_passes;
    return listed_ != nullptr && is_coarse ? listed_ + start(number) : nullptr;
  }
  /// The values of all these passes.
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
  std::vector<LevelArray<T>> arrays_;  ///< the finest first
  std::span<DeviceClass<T>> classes_;  ///< page-locked
  std::vector<PassView<T>> views_;
  std::vector<std::uint64_t> starts_;
  T* listed_ = nullptr;
};

/// What quantising a pass takes and gives beside the pass itself.
template <class T>
struct QuantiseTask {
  const T* original;
  RankedBits missing;  ///< points of the frame; no words if there are none
  RestoreRules<T> rules;
  Quantizer<T> quantizer;
  QuantCode* codes;     ///< by code position
  RankedBits outliers;  ///< code positions
  std::uint64_t* outlier_count;
  std::int64_t* error_sum;  ///< of error_in_units()
  double error_units_per_one;
  T* listed = nullptr;  ///< see LevelFrame
  const std::uint8_t* contexts =
      nullptr;               ///< by code position, if errors in a zone are coded as none
  const T* zones = nullptr;  ///< in steps, of each context
  LocalQuantizers<T> local = {};
};

/// Predicts, quantises and restores the points of a pass.
template <class T>
void quantise_pass(DeviceContext& gpu, const PassView<T>& pass, const QuantiseTask<T>& task);

/// The list of a pass's outliers: their original values by code position. Waits.
template <class T>
Bytes list_outliers(DeviceContext& gpu, const PassView<T>& pass, const T* original,
                    const RankedBits& outliers, std::uint64_t count);

/// What restoring a pass takes beside the pass itself.
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

/// Restores the points of a pass from their codes.
template <class T>
void restore_pass(DeviceContext& gpu, const PassView<T>& pass, const RestoreTask<T>& task);

/// Gives the points of a pass that have bounds of their own, by `bounds` of the frame's points, the
/// contexts behind the others'.
template <class T>
void split_contexts(DeviceContext& gpu, const PassView<T>& pass, const std::uint8_t* bounds,
                    std::size_t others, std::uint8_t* contexts);

/// For each code position of a pass whether its point is missing.
template <class T>
void find_missing_positions(DeviceContext& gpu, const PassView<T>& pass, const RankedBits& missing,
                            std::uint8_t* is_missing);

}  // namespace cuszi::gpu

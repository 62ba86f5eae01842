#pragma once

#include <vector>

#include "gpu/multilevel/multilevel.cuh"

namespace cuszi::gpu {

/// The code positions of passes whose points are missing and stand in no stream (compare
/// cpu_ref/field/gaps).
class Gaps {
 public:
  /// No gaps.
  Gaps() = default;
  /// Finds the gaps of a frame's passes; there are none if no point is missing. The host waits
  /// once.
  template <class T>
  Gaps(DeviceContext& gpu, const LevelFrame<T>& frame, const RankedBits& missing);

  bool any() const { return !starts_.empty(); }
  /// How many codes of passes before one stand in streams, and of the pass itself.
  std::uint64_t start(int pass) const { return starts_[static_cast<std::size_t>(pass)]; }
  std::uint64_t count(int pass) const { return start(pass + 1) - start(pass); }

  /// Moves what stands at the other code positions of these passes together; both arrays are of all
  /// passes.
  template <class V>
  void close(DeviceContext& gpu, PassRange passes, const V* by_code_position, V* closed) const;
  /// Moves entries that close() has moved together back to their code positions; those of missing
  /// points are not touched.
  template <class V>
  void open(DeviceContext& gpu, PassRange passes, const V* closed, V* by_code_position) const;

 private:
  std::uint64_t code_position(int pass) const { return begins_[static_cast<std::size_t>(pass)]; }

  RankedBits missing_;                 ///< by code position in all passes
  std::vector<std::uint64_t> begins_;  ///< code position of each pass
  std::vector<std::uint64_t> starts_;  ///< the same without gaps
};

}  // namespace cuszi::gpu

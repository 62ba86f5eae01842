#pragma once

#include <vector>

#include "gpu/multilevel/multilevel.cuh"

namespace cuszi::gpu {

/// Code positions of missing points, which have no codes (compare cpu_ref/field/gaps).
class Gaps {
 public:
  Gaps() = default;
  /// Waits once if points are missing.
  template <class T>
  Gaps(DeviceContext& gpu, const LevelFrame<T>& frame, const RankedBits& missing);

  bool any() const { return !starts_.empty(); }
  /// Number of codes before a pass, and in it.
  std::uint64_t start(int pass) const { return starts_[static_cast<std::size_t>(pass)]; }
  std::uint64_t count(int pass) const { return start(pass + 1) - start(pass); }

  /// Compacts the entries of the passes; both arrays span all passes.
  template <class V>
  void close(DeviceContext& gpu, PassRange passes, const V* by_code_position, V* closed) const;
  /// Inverts close(); entries of missing points are left alone.
  template <class V>
  void open(DeviceContext& gpu, PassRange passes, const V* closed, V* by_code_position) const;

 private:
  std::uint64_t code_position(int pass) const { return begins_[static_cast<std::size_t>(pass)]; }

  RankedBits missing_;                 ///< by code position
  std::vector<std::uint64_t> begins_;  ///< code positions of passes
  std::vector<std::uint64_t> starts_;  ///< without gaps
};

}  // namespace cuszi::gpu

#pragma once

#include <algorithm>
#include <bit>
#include <span>
#include <vector>

#include "core/backend/backend.hpp"
#include "core/field/sparse_list.hpp"
#include "cpu_ref/base/workspace.hpp"

namespace cuszi::cpu {

template <class T>
struct FrameInput {
  Extents3 extents;
  std::span<const T> values;
  const Mask& mask;
  double min;
  double max;
  Dims dims{};                 ///< not squeezed
  RestoreRules<T> rules = {};  ///< that restored values could break
  /// Original values, if `values` are logarithms.
  std::span<const T> originals = {};
  const LocalBounds* local = nullptr;  ///< of blocks, for `cells`
};

template <class T>
struct FrameOutput {
  Extents3 extents;
  std::span<T> values;
  const Mask& mask;
  double min;
  double max;
  Dims dims{};  ///< not squeezed
  const TransformTarget* transform = nullptr;
  Extents3 whole{};          ///< extents of the frame, if only points at `stride` are restored
  std::uint64_t stride = 1;  ///< along axes of extent above 1
  const LocalBounds* local = nullptr;  ///< of blocks of the frame, for `cells`
};

template <class T>
struct Predicted {
  std::span<QuantCode> codes;
  std::vector<T> anchors;
  std::vector<SparseEntry> outliers;
  std::vector<SparseEntry> patches;
};

struct OwnCoded {
  std::vector<OwnedSection> sections;
  PassCounts counts;
  std::optional<PredictorParams> final_params = {};  ///< see CodedPass
};

template <class T>
std::span<const T> as_values(Bytes bytes) {
  return {reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T)};
}

template <class T>
std::span<T> as_values(MutableBytes bytes) {
  return {reinterpret_cast<T*>(bytes.data()), bytes.size() / sizeof(T)};
}

template <class T>
SparseEntry exact_value(std::uint64_t point, T value) {
  return {point, std::bit_cast<BitsOf<T>>(value)};
}

template <class T>
T value_of(std::uint64_t bits) {
  return std::bit_cast<T>(static_cast<BitsOf<T>>(bits));
}

/// Appends a thread's entries; sort_entries() later sorts all by point.
inline void append_entries(std::vector<SparseEntry>& all, const std::vector<SparseEntry>& some) {
  all.insert(all.end(), some.begin(), some.end());
}

inline void sort_entries(std::vector<SparseEntry>& entries) {
  std::sort(entries.begin(), entries.end(),
            [](const SparseEntry& a, const SparseEntry& b) { return a.point < b.point; });
}

}  // namespace cuszi::cpu

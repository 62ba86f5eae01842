#pragma once

#include <algorithm>
#include <bit>
#include <span>
#include <vector>

#include "core/backend/backend.hpp"
#include "core/field/sparse_list.hpp"
#include "cpu_ref/base/workspace.hpp"

namespace cuszi::cpu {

/// A frame to compress, as predictors see it.
template <class T>
struct FrameInput {
  Extents3 extents;
  std::span<const T> values;
  const Mask& mask;
  double min;
  double max;
  Dims dims{};                 ///< as the frame has them
  RestoreRules<T> rules = {};  ///< that a restored value could break
  /// The values themselves where `values` are their logarithms.
  std::span<const T> originals = {};
};

/// A frame to restore, as predictors see it.
template <class T>
struct FrameOutput {
  Extents3 extents;
  std::span<T> values;
  const Mask& mask;
  double min;
  double max;
  Dims dims{};  ///< as the frame has them
  const TransformTarget* transform = nullptr;
  Extents3 whole{};          ///< extents of the frame, of which these are the points at a stride
  std::uint64_t stride = 1;  ///< along axes longer than 1
};

/// What a predictor makes of a pass: a quant-code per point, and what the codes cannot say.
template <class T>
struct Predicted {
  std::span<QuantCode> codes;
  std::vector<T> anchors;
  std::vector<SparseEntry> outliers;
  std::vector<SparseEntry> patches;
};

/// What a predictor that codes itself makes of a pass.
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

/// Appends the entries that one thread has found, in no defined order; sort_entries() sorts all by
/// point, as archives hold them.
inline void append_entries(std::vector<SparseEntry>& all, const std::vector<SparseEntry>& some) {
  all.insert(all.end(), some.begin(), some.end());
}

inline void sort_entries(std::vector<SparseEntry>& entries) {
  std::sort(entries.begin(), entries.end(),
            [](const SparseEntry& a, const SparseEntry& b) { return a.point < b.point; });
}

}  // namespace cuszi::cpu

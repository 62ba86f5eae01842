#pragma once

#include <functional>
#include <optional>

#include "codec/field/field_name.hpp"
#include "core/field/mask.hpp"

namespace cuszi {

/// Reads values from index `first`, in native byte order.
using ReadValues = std::function<void(std::uint64_t first, MutableBytes out)>;

struct OtherDims {
  Dims dims;        ///< same extents, other order
  double gain = 0;  ///< ratio of neighbours' differences
};

/// Samples for dims in the wrong order: neighbours along an axis differ at least twice as much as
/// in another order. Nullopt below 16384 `values`.
std::optional<OtherDims> smoother_dims(const FieldLayout& layout, std::uint64_t values,
                                       const FillValues& fills, const ReadValues& read);

/// Samples for the wrong byte order: a third of the values exceed 1e18 (f32) or 1e60 (f64) or are
/// below their reciprocals, few with swapped bytes. Returns the largest.
std::optional<double> implausible_value(const FieldLayout& layout, std::uint64_t values,
                                        const ReadValues& read);

}  // namespace cuszi

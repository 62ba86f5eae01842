#pragma once

#include <functional>
#include <optional>

#include "codec/field/field_name.hpp"
#include "core/field/mask.hpp"

namespace cuszi {

/// Fills memory with a field's values from the one of this number on, in the machine's byte order.
using ReadValues = std::function<void(std::uint64_t first, MutableBytes out)>;

/// Other dims that a field seems to have.
struct OtherDims {
  Dims dims;        ///< the same extents in another order
  double gain = 0;  ///< how many times smaller the differences between neighbours are
};

/// Looks at a small sample for dims in the wrong order: neighbours along some axis differ at least
/// twice as much as they would in another order, in which a row more or less is worse. `values` is
/// how many can be read; fields of less than 16384 are not judged.
std::optional<OtherDims> smoother_dims(const FieldLayout& layout, std::uint64_t values,
                                       const FillValues& fills, const ReadValues& read);

/// Looks at a small sample for the wrong byte order: a third of the values are beyond all measure
/// (f32: 1e18, f64: 1e60, or their reciprocals), and none to speak of in the other order. Returns
/// the largest of the sample.
std::optional<double> strange_value(const FieldLayout& layout, std::uint64_t values,
                                    const ReadValues& read);

}  // namespace cuszi

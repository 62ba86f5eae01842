#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/transform/transform.hpp"

namespace cuszi::cpu {

/// Writes transformed values to `out`, NaN for exact ones. Returns the signs as bits.
template <class T>
std::vector<std::uint64_t> transform_values(const TransformChoice& choice, const ValueBound& bound,
                                            const FillValues& fills, const RestoreRules<T>& rules,
                                            std::span<const T> values, std::span<T> out);

/// In place.
template <class T>
void restore_values(const TransformTarget& target, std::span<T> values);

}  // namespace cuszi::cpu

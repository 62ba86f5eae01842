#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "core/base/dims.hpp"
#include "core/base/dtype.hpp"

namespace cuszi::test {

/// What a made field is like.
enum class FieldKind {
  smooth,    ///< a few long waves
  rough,     ///< waves under noise
  sparse,    ///< zero but for a few points
  constant,  ///< one value
  missing,   ///< waves with NaN and infinities in regions and alone
  filled,    ///< waves with regions of 1e20
  wide,      ///< every binade of the type, both signs, denormals, -0
  ramp,      ///< linear along each axis
  steps,     ///< waves cut to a few levels
  slices,    ///< waves that change from one slice to the next
};

struct FieldKindName {
  FieldKind kind;
  std::string_view name;
};

inline constexpr std::array<FieldKindName, 10> field_kinds{{{FieldKind::smooth, "smooth"},
                                                            {FieldKind::rough, "rough"},
                                                            {FieldKind::sparse, "sparse"},
                                                            {FieldKind::constant, "constant"},
                                                            {FieldKind::missing, "missing"},
                                                            {FieldKind::filled, "filled"},
                                                            {FieldKind::wide, "wide"},
                                                            {FieldKind::ramp, "ramp"},
                                                            {FieldKind::steps, "steps"},
                                                            {FieldKind::slices, "slices"}}};

/// The fill value of FieldKind::filled.
inline constexpr double filled_value = 1e20;

/// The values of a field. They follow from the arguments alone, bit for bit on every machine: only
/// exact or correctly rounded arithmetic makes them.
template <class T>
std::vector<T> make_values(FieldKind kind, const Dims& dims, std::uint64_t seed);

/// The values that make_values() returns for `dtype`, as bytes in the machine's order. Of other
/// types than f32 and f64, its doubles converted; of integers, those out of range are 0.
std::vector<std::byte> make_field(FieldKind kind, const Dims& dims, DType dtype,
                                  std::uint64_t seed);

}  // namespace cuszi::test

#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "core/base/dtype.hpp"
#include "core/base/units.hpp"
#include "core/field/bound.hpp"
#include "core/field/restore_rules.hpp"

namespace cuszi::test {

/// The first point of `restored` that breaks a promise (a missing value that is not bit for bit the
/// same, or one further from the original than `bound` allows, outside of the original's range or
/// on another side of an isovalue), if any. `bounds`, where there are some, hold for each point as
/// well; 0 is for the same bits.
std::optional<std::uint64_t> first_broken_promise(DType dtype, Bytes original, Bytes restored,
                                                  const ValueRules& rules, const ValueBound& bound,
                                                  std::span<const double> bounds = {},
                                                  bool is_amended = false);

}  // namespace cuszi::test

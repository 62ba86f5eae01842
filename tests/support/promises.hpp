#pragma once

#include <cstdint>
#include <optional>

#include "core/base/dtype.hpp"
#include "core/base/units.hpp"
#include "core/field/mask.hpp"

namespace cuszi::test {

/// The first point of `restored` that breaks a promise (a missing value that is not bit for bit the
/// same, or one further from the original than `bound` or outside of the original's range), if any.
std::optional<std::uint64_t> first_broken_promise(DType dtype, Bytes original, Bytes restored,
                                                  const FillValues& fills, double bound);

}  // namespace cuszi::test

#pragma once

#include <cstdint>

#include "core/base/bytes.hpp"
#include "core/base/dtype.hpp"
#include "core/field/config.hpp"
#include "core/field/sample.hpp"

namespace cuszi {

/// The smallest power of two, at least 512, that leaves at most 2 sampled errors outside. `step` is
/// the quantiser's.
std::uint32_t choose_radius(const PredictorConfig& config, const ErrorOctaves& errors, double step);

/// Throw ArchiveError.
std::uint32_t read_radius(ByteReader& in);
double read_half_step(ByteReader& in, DType dtype);

}  // namespace cuszi

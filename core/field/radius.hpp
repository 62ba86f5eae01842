#pragma once

#include <cstdint>

#include "core/base/bytes.hpp"
#include "core/base/dtype.hpp"
#include "core/field/config.hpp"
#include "core/field/sample.hpp"

namespace cuszi {

/// The smallest power of two from 512 on whose codes leave out next to nothing of the sampled
/// errors, unless the user has chosen. `step` is the quantiser's.
std::uint32_t choose_radius(const PredictorConfig& config, const ErrorOctaves& errors, double step);

/// What every predictor's parameters in an archive hold; both throw ArchiveError.
std::uint32_t read_radius(ByteReader& in);
double read_half_step(ByteReader& in, DType dtype);

}  // namespace cuszi

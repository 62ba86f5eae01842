#pragma once

#include <span>

#include "core/backend/backend.hpp"

namespace cuszi::cpu {

/// Range, missing points and samples of a frame (see EncodeSession::scan).
template <class T>
FieldScan scan_frame(const Extents3& extents, std::span<const T> values, const FillValues& fills,
                     const PredictorParams& draft);

/// The largest magnitude in a sample of the values, of those that are not missing.
template <class T>
double sampled_magnitude(std::span<const T> values, const MissingTest<T>& missing);
template <class T>
MagnitudeRange sampled_magnitudes(std::span<const T> values, const MissingTest<T>& missing);

/// Whether any of `values` has the bits `bits`, those of a fill value or of a zero.
template <class T>
std::uint64_t count_bits(std::span<const T> values, BitsOf<T> bits);

/// The mask of a frame with `missing` missing points, which come back as `originals`.
template <class T>
Mask build_mask(std::span<const T> values, std::span<const T> originals, const FillValues& fills,
                std::uint64_t missing);

}  // namespace cuszi::cpu

#pragma once

#include <span>

#include "core/backend/backend.hpp"

namespace cuszi::cpu {

/// See EncodeSession::scan().
template <class T>
FieldScan scan_frame(const Extents3& extents, std::span<const T> values, const FillValues& fills,
                     const PredictorParams& draft);

/// Over sampled valid values.
template <class T>
double sampled_magnitude(std::span<const T> values, const MissingTest<T>& missing);
template <class T>
MagnitudeRange sampled_magnitudes(std::span<const T> values, const MissingTest<T>& missing);

/// Counts the values of these bits, for fill values and zeros.
template <class T>
std::uint64_t count_bits(std::span<const T> values, BitsOf<T> bits);

/// `missing` must be the number of missing points; they are restored as `originals`.
template <class T>
Mask build_mask(std::span<const T> values, std::span<const T> originals, const FillValues& fills,
                std::uint64_t missing);

}  // namespace cuszi::cpu

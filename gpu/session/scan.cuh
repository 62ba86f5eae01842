#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "core/backend/backend.hpp"
#include "core/backend/frame_batch.hpp"
#include "gpu/field/ranked_bits.cuh"
#include "gpu/field/stored_values.cuh"

namespace cuszi::gpu {

/// Range, missing points and samples of a frame on the device (see EncodeSession::scan): one pass
/// over the values, or for `tiles` without these over the stored ones, one wait of the host, which
/// calls `meanwhile` before.
template <class T>
FieldScan scan_frame(DeviceContext& gpu, const Extents3& extents, const T* values,
                     const StoredValues<const std::byte>& stored, const FillValues& fills,
                     const PredictorParams& draft, const std::function<void()>& meanwhile);

/// The range of the finite points of a sample.
struct SampledRange {
  double min = 0;
  double max = 0;
  double magnitude = 0;  ///< see FieldScan::sampled
};
/// Looks at a sample of a frame's values, without these of the stored ones, one wait of the host.
template <class T>
SampledRange sample_range(DeviceContext& gpu, const T* values,
                          const StoredValues<const std::byte>& stored, std::uint64_t points);

/// EncodeSession::sampled_magnitudes(), one wait of the host.
template <class T>
MagnitudeRange sample_magnitudes(DeviceContext& gpu, const T* values, std::uint64_t points,
                                 const FillValues& fills);

/// FrameBatch::scan() of frames whose values are of type T. The host waits once.
template <class T>
std::vector<std::optional<BatchRange>> scan_batch(DeviceContext& gpu,
                                                  std::span<const BatchFrame> frames);
/// FrameBatch::sample() of frames whose values are of type T. The host waits once.
template <class T>
std::vector<std::optional<BatchRange>> sample_batch(DeviceContext& gpu,
                                                    std::span<const BatchFrame> frames);
/// FrameBatch::draw() of frames whose values are of type T, or values_at() if `at`, on the device,
/// has the points of all frames. The host waits once.
template <class T>
std::vector<std::span<const double>> draw_batch(DeviceContext& gpu,
                                                std::span<const BatchFrame> frames,
                                                std::span<const std::uint64_t> counts,
                                                const std::uint64_t* at = nullptr);

/// The missing points of a frame, ranked, and their values in raster order.
template <class T>
struct MissingPoints {
  RankedBits bits;
  T* values = nullptr;
};
/// Finds the `missing` points of a frame of `points` points: those whose values are fill values.
/// They come back as `originals`.
template <class T>
MissingPoints<T> find_missing(DeviceContext& gpu, const T* values, const T* originals,
                              std::uint64_t points, const FillValues& fills, std::uint64_t missing);

}  // namespace cuszi::gpu

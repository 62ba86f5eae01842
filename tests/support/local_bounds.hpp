#pragma once

#include <optional>
#include <string>
#include <vector>

#include "test_data/fields.hpp"
#include "test_data/random.hpp"
#include "tests/support/frame_codec.hpp"

namespace cuszi::test {

/// A part of a field of these dims with any bound, mostly below `bound`, or 0.
BoundRegion random_region(const Dims& dims, double bound, Random& random);

/// Bounds around `bound`: falling, in runs or as noise; one may be 0.
std::vector<float> random_bounds(std::uint64_t count, double bound, Random& random);

/// What is asked for each point of a field of these dims, infinite where nothing is; empty where
/// that is all.
std::vector<double> bounds_of_points(const BoundsByPlace& places, const Dims& dims);

/// A field, a bound, and bounds of its points.
struct BoundedField {
  std::uint64_t seed = 0;
  FrameShape shape;
  std::vector<std::byte> values;
  double bound = 0;
  PredictorId predictor = PredictorId::multilevel;
  std::vector<float> bounds;         ///< of each point
  std::vector<BoundRegion> regions;  ///< that hold instead

  /// To compress it; it points to `bounds`.
  FrameTask task() const;
  /// The first point whose error is over the smaller of its bounds, or that is missing and has not
  /// its bits, if there is one.
  std::optional<std::uint64_t> first_over_its_bound(Bytes restored) const;
  std::string to_string() const;
};

/// Any field with any bounds: smooth ones, steps, noise, some of 0, some above the field's.
BoundedField random_bounded_field(std::uint64_t seed, std::optional<Dims> dims = {});

/// Whether any pass has a section of this kind.
bool has_section(const FrameHeader& header, SectionId id);

}  // namespace cuszi::test

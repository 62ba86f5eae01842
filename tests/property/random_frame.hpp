#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "test_data/fields.hpp"
#include "test_data/random.hpp"
#include "tests/support/frame_codec.hpp"
#include "tests/support/sanitized.hpp"

namespace cuszi::test {

/// Where values are missing, besides what the field's kind says.
enum class Holes { none, few, most, all_but_one, all };

/// A field and a way to compress it.
struct RandomFrame {
  FieldKind kind = FieldKind::smooth;
  std::uint64_t seed = 0;
  Holes holes = Holes::none;
  bool spikes = false;              ///< a few values are far from the rest
  std::optional<double> only = {};  ///< the field's only value, instead of what its kind says
  bool signed_zeros = false;        ///< some zeros are -0
  double offset = 0;                ///< added to all values after these were multiplied
  double amplitude = 1;
  std::shared_ptr<const std::vector<float>> bounds = {};  ///< that task.places points to
  FrameTask task;

  std::vector<std::byte> values() const;
  std::string to_string() const;
};

/// Any field of `min_points` to `max_points` points (at least twice as many) with any parameters
/// that the tool accepts.
RandomFrame random_frame(Random& random, std::uint64_t min_points, std::uint64_t max_points);

/// A random_frame() whose predictor is `cells`.
RandomFrame random_cells_frame(Random& random, std::uint64_t min_points, std::uint64_t max_points);

/// A random_frame() of any type.
RandomFrame random_frame_of_any_type(Random& random, std::uint64_t min_points,
                                     std::uint64_t max_points);

/// A field, mostly f64, of `min_points` to `max_points` points that varies around an offset, under
/// any preset and a bound of 1 to 2^-50 of its values.
RandomFrame random_offset_frame(Random& random, std::uint64_t min_points, std::uint64_t max_points);

/// A field of `min_points` to `max_points` points that has one value but for holes and the signs of
/// zeros, with any parameters that the tool accepts.
RandomFrame random_constant_frame(Random& random, std::uint64_t min_points,
                                  std::uint64_t max_points);

}  // namespace cuszi::test

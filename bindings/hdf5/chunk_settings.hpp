#pragma once

#include <array>
#include <optional>
#include <span>

#include "cuszi/cuszi.h"

namespace cuszi::hdf5 {

/// How the chunks of a dataset are compressed, as it stands in the dataset's filter parameters.
///
/// | numbers | what |
/// | --- | --- |
/// | 0 | 1, the version of this list |
/// | 1, 2 | the absolute bound, a double: its lower and its upper half |
/// | 3 | the preset (cuszi_preset) |
/// | 4 | 1 for f64, else 0; plus 2 for big-endian |
/// | 5 | rank |
/// | 6 ... 13 | the chunk's extents, slowest first, their lower and upper halves |
/// | 14 | 1 if there is a fill value |
/// | 15, 16 | the fill value, a double |
///
/// The user gives the first three or four, or six with a fill value, a double, as 4 and 5; the
/// others follow from the dataset, whose own fill value comes first.
struct ChunkSettings {
  static constexpr std::size_t count = 17;
  static constexpr std::size_t least_asked = 3;
  static constexpr std::size_t asked_with_fill = 6;
  using Numbers = std::array<unsigned, count>;

  double bound = 0;
  unsigned preset = CUSZI_PRESET_RATIO;
  cuszi_field field{};
  bool big_endian = false;
  std::optional<double> fill;

  /// What the user asks for; none of a version that is not known.
  static std::optional<ChunkSettings> asked(std::span<const unsigned> numbers);
  /// All of it; none if it is not complete.
  static std::optional<ChunkSettings> read(std::span<const unsigned> numbers);

  Numbers write() const;

  cuszi_options options() const;
};

}  // namespace cuszi::hdf5

#pragma once

#include <span>
#include <vector>

#include "cuszi/cuszi.h"

namespace cuszi::hdf5 {

/// Settings of a dataset's chunks, stored as the dataset's filter parameters. Doubles and extents
/// take two numbers, lower half first.
///
///     0         version of this list: 1
///     1, 2      bound, a double
///     3         preset (cuszi_preset), plus 256 if strict, plus the mode: 0 absolute,
///               512 CUSZI_PWREL, 1024 CUSZI_ABS_OR_PWREL, 2048 CUSZI_ABS_AND_PWREL
///     4         0 for f32, 1 for f64, else 4 times the cuszi_dtype; plus 2 for big-endian
///     5         rank
///     6 to 13   chunk extents, slowest first
///     14        number of fill values, plus 256 times the number of isovalues
///     from 15   fill values, doubles, two zeros if none; then isovalues, doubles
///     last two  share of each value, a double, in modes of two bounds
///
/// Users give the first three or four numbers, then the share if the mode has one, then at most one
/// fill value, or the whole list; the dataset gives the rest and adds its own fill values. Other
/// lengths are refused. A strict filter is mandatory and turns warnings into errors, because
/// filters cannot warn.
struct ChunkSettings {
  static constexpr std::size_t least_asked = 3;
  static constexpr std::size_t least_complete = 17;
  static constexpr std::size_t most = 15 + 2 * CUSZI_MAX_FILLS + 2 * CUSZI_MAX_ISOVALUES + 2;
  using Numbers = std::vector<unsigned>;

  double bound = 0;
  int mode = CUSZI_ABS;  ///< or CUSZI_PWREL, CUSZI_ABS_OR_PWREL, CUSZI_ABS_AND_PWREL
  double share = 0;      ///< in modes of two bounds
  unsigned preset = CUSZI_PRESET_RATIO;
  bool strict = false;
  cuszi_field field{};
  bool big_endian = false;
  std::vector<double> fills;
  std::vector<double> isovalues;

  /// Parses a user's list. Throws std::invalid_argument for another version, length or mode.
  static ChunkSettings asked(std::span<const unsigned> numbers);
  /// Parses a complete list. Throws as asked().
  static ChunkSettings read(std::span<const unsigned> numbers);

  bool has_share() const { return mode == CUSZI_ABS_OR_PWREL || mode == CUSZI_ABS_AND_PWREL; }
  Numbers write() const;

  /// Ignores duplicates; false if there are too many.
  bool add_fill(double value);

  /// Borrows `fills` of this object.
  cuszi_options options() const;
};

}  // namespace cuszi::hdf5

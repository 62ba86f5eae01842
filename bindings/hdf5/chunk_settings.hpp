#pragma once

#include <span>
#include <vector>

#include "cuszi/cuszi.h"

namespace cuszi::hdf5 {

/// How the chunks of a dataset are compressed, as it stands in the dataset's filter parameters.
///
/// | numbers | what |
/// | --- | --- |
/// | 0 | 1, the version of this list |
/// | 1, 2 | the bound, a double: its lower and its upper half |
/// | 3 | the preset (cuszi_preset); plus 256 to be strict; plus 512 if the bound is a share of each
/// value, else it is absolute; plus 1024 if there is a share, too, and the larger of both holds;
/// plus 2048 if the smaller does |
/// | 4 | 1 for f64, else 0; plus 2 for big-endian |
/// | 5 | rank |
/// | 6 ... 13 | the chunk's extents, slowest first, their lower and upper halves |
/// | 14 | how many fill values there are, at most CUSZI_MAX_FILLS; plus 256 times how many
/// isovalues, at most CUSZI_MAX_ISOVALUES |
/// | 15, 16 ... | each fill value, a double; two zeros if there is none |
/// | then | each isovalue, a double |
/// | the last two | the share of each value beside the bound, if there is one |
///
/// The user gives the first three or four, then the share, a double, if there is one, then a fill
/// value, if there is one; the others follow from the dataset. Fill values that the user gives, so
/// or in the whole list, are added to the dataset's own. A list of another length is refused. A
/// filter cannot warn: where it is strict, what cuszi_last_warning() would tell of a chunk is an
/// error, and the filter is mandatory.
struct ChunkSettings {
  static constexpr std::size_t least_asked = 3;
  static constexpr std::size_t least_complete = 17;
  static constexpr std::size_t most = 15 + 2 * CUSZI_MAX_FILLS + 2 * CUSZI_MAX_ISOVALUES + 2;
  using Numbers = std::vector<unsigned>;

  double bound = 0;
  int mode = CUSZI_ABS;  ///< or CUSZI_PWREL, CUSZI_ABS_OR_PWREL, CUSZI_ABS_AND_PWREL
  double share = 0;      ///< of each value, of the last two
  unsigned preset = CUSZI_PRESET_RATIO;
  bool strict = false;
  cuszi_field field{};
  bool big_endian = false;
  std::vector<double> fills;
  std::vector<double> isovalues;

  /// The settings that the user gives, in a complete list or not. Throws std::invalid_argument for
  /// a list of another version, of another length, or of two modes.
  static ChunkSettings asked(std::span<const unsigned> numbers);
  /// The settings in a complete list of numbers. Throws as asked() does.
  static ChunkSettings read(std::span<const unsigned> numbers);

  bool has_share() const { return mode == CUSZI_ABS_OR_PWREL || mode == CUSZI_ABS_AND_PWREL; }
  Numbers write() const;

  /// Adds a fill value unless it is there. Returns false if there is no room for it.
  bool add_fill(double value);

  /// Options of the C API for these settings. They point to the fill values of this object.
  cuszi_options options() const;
};

}  // namespace cuszi::hdf5

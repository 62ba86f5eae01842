#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "core/base/dims.hpp"
#include "core/base/units.hpp"
#include "core/field/restore_rules.hpp"

namespace cuszi {

/// Meaning of a bound; numbers in archives.
enum class ErrorMode : std::uint8_t {
  absolute = 0,                ///< in the field's unit
  relative = 1,                ///< relative to the range of the valid points
  pointwise = 2,               ///< relative to each value
  absolute_or_pointwise = 3,   ///< the larger of absolute and pointwise
  absolute_and_pointwise = 4,  ///< the smaller of both
};

constexpr bool has_two_bounds(ErrorMode mode) { return mode > ErrorMode::pointwise; }

/// Predictors, in the order of PredictorParams; numbers in archives.
enum class PredictorId : std::uint8_t {
  lorenzo = 0,
  interp = 1,
  multilevel = 2,
  tiles = 3,
  zfp = 4,
  cells = 5
};

/// Whether a predictor keeps to bounds of blocks.
constexpr bool takes_local_bounds(PredictorId id) {
  return id == PredictorId::multilevel || id == PredictorId::cells;
}

/// Cubic splines of cuSZ-i (SC'24, V-B); numbers in archives.
enum class Cubic : std::uint8_t { not_a_knot = 0, natural = 1 };

/// Roles of axes in `multilevel`; numbers in archives.
enum class AxisRole : std::uint8_t {
  lattice = 0,      ///< refined level by level
  independent = 1,  ///< each index is a field of its own
  layered = 2,      ///< slices in B-pyramid order, also predicted from the enclosing ones
};

/// Kind of side-channel index (Noordsij 2019, chapter 4); numbers in archives.
enum class IndexKind : std::uint8_t {
  none = 0,
  offset = 1,  ///< first bit of every chunk
  length = 2,  ///< bits of every chunk
  hybrid = 3,  ///< an offset per partition, lengths within
};

enum class HuffmanWidth : std::uint8_t { automatic, u32, u64 };

struct InterpConfig {
  std::optional<Extents3> tile;
  std::optional<std::uint32_t> anchor;
  std::optional<double> alpha;
  std::optional<Cubic> cubic;
  std::optional<std::array<std::uint8_t, 3>> order;  ///< axes, 0 = z, first interpolated first
};

/// Amount of trials: none, or those that matter.
enum class Effort : std::uint8_t { fast, normal };

/// One axis (0 the slowest, before squeezing); the others are lattice axes.
struct AxisChoice {
  AxisRole role = AxisRole::lattice;
  int axis = 0;
};

/// Roles of four axes; those padded in front count as lattice axes.
struct AxisRoles {
  bool merged = false;  ///< the two slowest of four axes are one
  std::array<AxisRole, 4> roles{};
};

struct MultilevelConfig {
  std::optional<AxisChoice> axes;
  std::optional<AxisRoles> roles;  ///< from an earlier trial, instead of `axes`
  std::optional<int> reach;        ///< 3, 5 or 7
  std::optional<double> alpha;
  std::optional<double> beta;
  Effort effort = Effort::normal;
  double bound_over_half_step = 1;  ///< above 1: leaves tolerance for a dead zone
};

struct ZfpMode {
  enum class Kind : std::uint8_t {
    accuracy,   ///< bit planes by the bound
    precision,  ///< fixed number of bit planes
    rate,       ///< fixed number of bits per value
    reversible
  };
  Kind kind = Kind::accuracy;
  double amount = 0;  ///< bit planes, or bits per value
};

struct ZfpConfig {
  ZfpMode mode;
  std::optional<std::uint32_t> chunk;  ///< blocks per index chunk; default by size of the index
};

struct PredictorConfig {
  PredictorId id = PredictorId::interp;
  bool automatic = false;               ///< lorenzo instead of multilevel if a trial prefers it
  std::optional<std::uint32_t> radius;  ///< half the number of quant-codes; default from a sample
  InterpConfig interp;
  MultilevelConfig multilevel;
  ZfpConfig zfp;

  bool is_reversible() const {
    return id == PredictorId::zfp && zfp.mode.kind == ZfpMode::Kind::reversible;
  }
};

/// Encoder settings without effect on archives.
struct HuffmanTuning {
  HuffmanWidth width = HuffmanWidth::automatic;
  std::optional<int> merge;  ///< log2 of the codewords that a GPU thread merges in registers, 0..4
};

struct HuffmanConfig : HuffmanTuning {
  std::uint32_t chunk = 1024;  ///< symbols; a power of two
};

struct IndexConfig {
  IndexKind kind = IndexKind::hybrid;
  std::uint32_t partition = 32;  ///< chunks or segments per offset (hybrid)
};

/// Entropy coders, in the order of CoderParams; numbers in archives.
enum class CoderId : std::uint8_t { huffman = 0, ans = 1, none = 2 };

/// A second lossless pass over sections.
enum class Lossless : std::uint8_t { none, bitcomp };

/// All that decides an archive's bytes besides field, bound and fill values.
struct FrameConfig {
  PredictorConfig predictor;
  CoderId coder = CoderId::huffman;
  HuffmanConfig huffman;
  IndexConfig index;
  IsoValues isovalues;
  Lossless lossless = Lossless::none;
};

}  // namespace cuszi

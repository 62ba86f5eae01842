#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "core/base/dims.hpp"
#include "core/base/units.hpp"
#include "core/field/restore_rules.hpp"

namespace cuszi {

/// How a bound is given; the numbers stand in archives.
enum class ErrorMode : std::uint8_t {
  absolute = 0,   ///< in the field's own unit
  relative = 1,   ///< as a share of the value range over the points that are not missing
  pointwise = 2,  ///< as a share of each value
  absolute_or_pointwise = 3,   ///< the larger of an absolute bound and a share of each value
  absolute_and_pointwise = 4,  ///< the smaller of them
};

/// Whether a mode has a share of each value besides an absolute bound.
constexpr bool has_two_bounds(ErrorMode mode) { return mode > ErrorMode::pointwise; }

/// The predictors, in the order of PredictorParams; the numbers stand in archives.
enum class PredictorId : std::uint8_t {
  lorenzo = 0,
  interp = 1,
  multilevel = 2,
  tiles = 3,
  zfp = 4,
  cells = 5
};

/// The cubic splines of cuSZ-i (SC'24, V-B); the numbers stand in archives.
enum class Cubic : std::uint8_t { not_a_knot = 0, natural = 1 };

/// What an axis of a field is to `multilevel`; the numbers stand in archives.
enum class AxisRole : std::uint8_t {
  lattice = 0,      ///< space: refined level by level
  independent = 1,  ///< kept whole: every index is a field of its own
  layered = 2,      ///< slices in the order of a B-pyramid, predicted from the enclosing ones too
};

/// How the side-channel index tells where chunks start (Noordsij 2019, chapter 4); the numbers
/// stand in archives.
enum class IndexKind : std::uint8_t {
  none = 0,    ///< no index: sequential decoding
  offset = 1,  ///< the first bit of every chunk
  length = 2,  ///< the bits of every chunk
  hybrid = 3,  ///< one offset per partition, lengths within
};

/// The machine word in which the encoder keeps a codeword and its length.
enum class HuffmanWidth : std::uint8_t { automatic, u32, u64 };

/// What the user may force of `interp`; the rest is the encoder's choice.
struct InterpConfig {
  std::optional<Extents3> tile;
  std::optional<std::uint32_t> anchor;
  std::optional<double> alpha;
  std::optional<Cubic> cubic;
  std::optional<std::array<std::uint8_t, 3>> order;  ///< axes, 0 = z, first interpolated first
};

/// How many trials the encoder makes: none, or those that matter.
enum class Effort : std::uint8_t { fast, normal };

/// An axis of the field's dims as they are given, 0 the slowest, and what it is; the others are
/// lattice axes.
struct AxisChoice {
  AxisRole role = AxisRole::lattice;
  int axis = 0;
};

/// The roles of all axes, the slower ones of fewer than four lattice axes of extent 1.
struct AxisRoles {
  bool merged = false;  ///< the two slowest of four axes count as one
  std::array<AxisRole, 4> roles{};
};

/// What the user may force of `multilevel`; the rest is the encoder's choice.
struct MultilevelConfig {
  std::optional<AxisChoice> axes;
  std::optional<AxisRoles> roles;  ///< instead of `axes`, as an earlier trial has found them
  std::optional<int> reach;        ///< 3, 5 or 7
  std::optional<double> alpha;
  std::optional<double> beta;
  Effort effort = Effort::normal;
  double bound_over_half_step =
      1;  ///< the bound over the half step: more than 1 is room for zones without error
};

/// What zfp keeps of its blocks (zfp's compression modes).
struct ZfpMode {
  enum class Kind : std::uint8_t {
    accuracy,   ///< the bit planes that the bound needs
    precision,  ///< a fixed number of bit planes
    rate,       ///< a fixed number of bits per value
    reversible  ///< all: values come back bit for bit
  };
  Kind kind = Kind::accuracy;
  double amount = 0;  ///< bit planes, or bits per value
};

struct ZfpConfig {
  ZfpMode mode;
  std::optional<std::uint32_t> chunk;  ///< blocks per chunk of the index; else what makes it small
};

struct PredictorConfig {
  PredictorId id = PredictorId::interp;
  bool automatic = false;  ///< lorenzo instead of multilevel where a trial finds it better
  std::optional<std::uint32_t> radius;  ///< half the number of quant-codes; chosen from a sample
  InterpConfig interp;
  MultilevelConfig multilevel;
  ZfpConfig zfp;

  bool is_reversible() const {
    return id == PredictorId::zfp && zfp.mode.kind == ZfpMode::Kind::reversible;
  }
};

/// How an encoder works, on which no archive depends.
struct HuffmanTuning {
  HuffmanWidth width = HuffmanWidth::automatic;
  std::optional<int>
      merge;  ///< log2 of the codewords that a GPU's thread merges in registers, 0..4
};

struct HuffmanConfig : HuffmanTuning {
  std::uint32_t chunk = 1024;  ///< symbols per chunk, a power of two
};

/// The side-channel index of a coder's stream.
struct IndexConfig {
  IndexKind kind = IndexKind::hybrid;
  std::uint32_t partition = 32;  ///< chunks, or segments, per offset of the hybrid index
};

/// The entropy coders, in the order of CoderParams; the numbers stand in archives. `none` is for
/// predictors that code themselves.
enum class CoderId : std::uint8_t { huffman = 0, ans = 1, none = 2 };

/// A second lossless pass over the sections of a frame.
enum class Lossless : std::uint8_t { none, bitcomp };

/// Everything that decides an archive's bytes besides the field, its bound and its fill values.
struct FrameConfig {
  PredictorConfig predictor;
  CoderId coder = CoderId::huffman;
  bool automatic_coder = false;  ///< Huffman instead of ANS where a trial finds it better
  HuffmanConfig huffman;
  IndexConfig index;  ///< of any coder
  IsoValues isovalues;
  Lossless lossless = Lossless::none;
};

}  // namespace cuszi

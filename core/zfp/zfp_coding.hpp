#pragma once

#include <string_view>
#include <vector>

#include "core/base/bytes.hpp"
#include "core/base/dims.hpp"
#include "core/base/dtype.hpp"
#include "core/field/bound.hpp"
#include "core/field/config.hpp"
#include "core/field/sample.hpp"
#include "core/zfp/zfp.hpp"

namespace cuszi {

/// A frame as a zfp stream (core/zfp/zfp_codec.hpp) with a side-channel index: chunks of blocks can
/// be decoded at once. zfp's tolerance is the largest power of two within the bound; what its
/// fixed-point arithmetic breaks is patched, and so is what other modes leave beyond a bound.
struct ZfpCoding {
  static constexpr PredictorId id = PredictorId::zfp;
  static constexpr std::string_view name = "zfp";
  static constexpr bool has_own_coder = true;
  static constexpr std::uint32_t open_chunk = 0;  ///< to be settled when the stream is known

  int rank = 1;  ///< of blocks; follows from the dims
  ZfpParams zfp;
  IndexKind index = IndexKind::hybrid;
  std::uint32_t chunk = open_chunk;  ///< blocks per chunk
  std::uint32_t partition = 32;

  static ZfpCoding draft(const FrameConfig& config, const Dims& dims);
  void choose(const PredictorConfig& config, const FieldScan& scan, double bound, DType dtype);

  /// One pass: every point at once.
  std::vector<int> level_of_pass() const { return {0}; }
  bool is_usable(DType /*dtype*/) const { return true; }

  /// These parameters with the number of blocks per chunk chosen, unless it is known: the fewest,
  /// up to 256, for which the index takes at most a hundredth of a stream of `bits` bits and
  /// `blocks` blocks.
  ZfpCoding with_chosen_chunk(BitCount bits, std::uint64_t blocks) const;
  /// A fixed rate needs no index.
  IndexKind index_kind() const { return zfp.has_fixed_rate() ? IndexKind::none : index; }
  /// Whether restored values must be looked at: not if all come back bit for bit, or if there is
  /// neither a bound nor rules that they could break.
  bool needs_check(double bound, bool has_rules) const {
    return !zfp.is_reversible() && (bound != no_bound || has_rules);
  }
  /// Throws ArchiveError if a stream of `blocks` blocks cannot have `bytes` bytes.
  void check_stream(ByteCount bytes, std::uint64_t blocks) const;

  void write(ByteWriter& out) const;
  /// Throws ArchiveError.
  static ZfpCoding read(ByteReader& in, const Dims& dims, DType dtype);

  friend bool operator==(const ZfpCoding&, const ZfpCoding&) = default;
};

/// The zfp parameters of a mode, for blocks of `rank` dimensions. `bound` is the error bound of
/// mode accuracy.
ZfpParams zfp_params(const ZfpMode& mode, double bound, int rank, DType dtype);

/// The extents that a frame of these dims is cut into blocks by: those that are not 1.
inline Dims zfp_dims(const Dims& dims) { return dims.squeezed(); }

}  // namespace cuszi

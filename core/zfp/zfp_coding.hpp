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

/// A zfp stream (zfp_codec.hpp) with an index for parallel decoding. The tolerance is the largest
/// power of two within the bound; values left beyond the bound are patched.
struct ZfpCoding {
  static constexpr PredictorId id = PredictorId::zfp;
  static constexpr std::string_view name = "zfp";
  static constexpr bool has_own_coder = true;
  static constexpr std::uint32_t open_chunk = 0;  ///< chosen by with_chosen_chunk()

  int rank = 1;  ///< from the dims
  ZfpParams zfp;
  IndexKind index = IndexKind::hybrid;
  std::uint32_t chunk = open_chunk;  ///< blocks
  std::uint32_t partition = 32;

  static ZfpCoding draft(const FrameConfig& config, const Dims& dims);
  void choose(const PredictorConfig& config, const FieldScan& scan, double bound, DType dtype);

  std::vector<int> level_of_pass() const { return {0}; }
  bool is_usable(DType /*dtype*/) const { return true; }

  /// The fewest blocks per chunk, up to 256, whose index takes at most 1 % of a stream of `bits`
  /// bits.
  ZfpCoding with_chosen_chunk(BitCount bits, std::uint64_t blocks) const;
  /// Fixed-rate streams need no index.
  IndexKind index_kind() const { return zfp.has_fixed_rate() ? IndexKind::none : index; }
  /// False if lossless, or without bound and rules.
  bool needs_check(double bound, bool has_rules) const {
    return !zfp.is_reversible() && (bound != no_bound || has_rules);
  }
  /// Throws ArchiveError if `blocks` blocks cannot have `bytes` bytes.
  void check_stream(ByteCount bytes, std::uint64_t blocks) const;

  void write(ByteWriter& out) const;
  /// Throws ArchiveError.
  static ZfpCoding read(ByteReader& in, const Dims& dims, DType dtype);

  friend bool operator==(const ZfpCoding&, const ZfpCoding&) = default;
};

/// `bound` is for mode accuracy.
ZfpParams zfp_params(const ZfpMode& mode, double bound, int rank, DType dtype);

inline Dims zfp_dims(const Dims& dims) { return dims.squeezed(); }

}  // namespace cuszi

#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/archive/frame.hpp"
#include "core/archive/predictor.hpp"
#include "core/backend/frame_slot.hpp"
#include "core/base/unmovable.hpp"
#include "core/coders/coder.hpp"
#include "core/field/config.hpp"
#include "core/field/frame_shape.hpp"
#include "core/field/local_bounds.hpp"
#include "core/field/mask.hpp"
#include "core/field/sample.hpp"
#include "core/field/selection.hpp"
#include "core/field/stored_type.hpp"
#include "core/lossless/predicted.hpp"
#include "core/transform/transform.hpp"
#include "core/tuning/trial_part.hpp"

namespace cuszi {

struct ClassErrors;

struct Method {
  PredictorParams predictor;
  CoderId coder;
};

/// The tolerance for restored values.
struct Tolerance {
  double bound = 0;
  double bound_over_half_step = 1;  ///< see bound_over_half_step_of()
};

/// All that determines the sections of a frame, besides its values.
struct FrameCoding {
  PredictorParams predictor;
  Tolerance tolerance;
  CoderParams coder;
  HuffmanTuning tuning;
  std::shared_ptr<const LocalBounds> local = {};  ///< smaller ones than the frame's

  /// Whether codes depend on contexts: each pass must then fit contexts before the next is
  /// predicted.
  bool predicts_by_contexts() const { return tolerance.bound_over_half_step > 1; }
};

struct PassCounts {
  std::uint64_t outliers = 0;
  std::uint64_t patches = 0;
};

struct CodedPass {
  Sections sections;
  PassCounts counts;
  std::optional<PredictorParams> final_params = {};  ///< if decided by encoding
};

/// Units per error bound. Errors are summed as integers, so their order does not matter.
inline constexpr double error_units = 65536;

/// Limited to finite doubles.
inline double error_units_per_one(double bound) {
  return std::min(error_units / bound, std::numeric_limits<double>::max());
}

CUSZI_HD inline std::int64_t error_in_units(double original, double restored,
                                            double units_per_one) {
  return nearest_integer((restored - original) * units_per_one);
}

/// The passes of a frame from values to sections: predict, then fit contexts, in order; encode all
/// passes at the end. No sizes are needed before finish().
class PassEncoder : public Interface {
 public:
  /// Also finds anchors, outliers and patches.
  virtual void predict(PassRange passes) = 0;
  /// Sum of error_in_units() over predicted points that are not missing. 0 for predictors whose
  /// bias cannot be corrected.
  virtual std::int64_t error_sum() { return 0; }
  /// No effect without contexts.
  virtual void fit_contexts(PassRange passes) = 0;
  /// Upper limit for the sections, once all passes are predicted; values are then no longer read.
  /// nullopt if unknown before encoding.
  virtual std::optional<ByteCount> most_bytes() const { return std::nullopt; }
  /// Codes of a level may be stored in the sections of its first pass.
  virtual void encode() = 0;
  /// Valid as long as the session, and until another encoder is made.
  virtual std::vector<CodedPass> finish() = 0;
};

/// Measures what core/choices/trials compares.
class TrialSession : public Interface {
 public:
  /// Sampled errors (core/tuning/sampled_cost) of the frame for each candidate, by class.
  virtual std::vector<std::vector<ClassErrors>> sampled_errors(
      std::span<const MultilevelParams> candidates) = 0;
  /// Estimated bytes of the part for each coding, with fits to the part.
  virtual std::vector<std::uint64_t> costs(std::span<const FrameCoding> candidates) = 0;
  /// Number of codings that take about the time of one; above 1, likely candidates are coded ahead.
  virtual std::size_t side_by_side() const { return 1; }
  /// Calls each(i) for all i below `count` on the backend's threads, in any order.
  virtual void for_each(std::size_t count, const std::function<void(std::size_t)>& each) {
    for (std::size_t i = 0; i < count; ++i) each(i);
  }
};

struct CodedLogs {
  CodedPass pass;
  FieldScan own;   ///< range of the values
  double min = 0;  ///< of the logarithms
  double max = 0;
};

/// Whether tiles store points that logarithms do not represent; else the mask has them.
inline bool are_kept_in_tiles(const PredictorParams& draft, const TransformParams& transform,
                              std::uint64_t kept, std::uint64_t points) {
  return std::holds_alternative<TilesParams>(draft) &&
         std::holds_alternative<LogTransform>(transform) && kept <= most_kept_in_tiles(points);
}

/// Whether a frame that is not scanned can be coded in the first pass over its values.
inline bool may_be_unscanned(const PredictorParams& draft, const ValueRules& rules) {
  return std::holds_alternative<TilesParams>(draft) && !rules.any();
}

/// A frame being encoded, its values as work values, which the backend converts from the stored
/// ones when they are needed. Bytes may lie in the backend's memory or the host's. One thread; a
/// backend has one session at a time.
class EncodeSession : public Interface {
 public:
  explicit EncodeSession(FrameSlot& slot) : frame_(slot) {}
  /// Range, missing points, and sampled prediction errors. Reads the whole frame at the first call,
  /// unless an earlier session did.
  virtual const FieldScan& scan() = 0;
  /// In host memory.
  virtual FrameMask mask() = 0;
  /// By raster index; includes missing values.
  virtual std::vector<double> values_at(std::span<const std::uint64_t> points) = 0;
  /// Sorted values of sampled points that are not missing.
  virtual std::vector<double> sampled_values() = 0;
  /// What the sampled values tell `cells`.
  virtual CellsSample sample_of_cells() { return cells_sample(sampled_values()); }
  /// Range of sampled magnitudes, without a scan.
  virtual MagnitudeRange sampled_magnitudes() = 0;
  /// Includes missing points. Compares the low bits of `bits`.
  virtual std::uint64_t count_bits(std::uint64_t bits) = 0;
  /// The distinct stored values, of a type of up to 16 bits.
  virtual DistinctValues distinct_values() = 0;

  /// Replaces the values by transformed ones; errors within choice.bound keep to `bound`. Points
  /// that the transform cannot represent count as missing, with original values in mask(), unless
  /// few enough for tiles (most_kept_in_tiles()).
  virtual void transform(const TransformChoice& choice, const ValueBound& bound) = 0;
  /// Bit i % 64 of word i / 64: point i counts as missing, with its value in mask(). The scanned
  /// range remains.
  virtual void keep_points(std::span<const std::uint64_t> points) = 0;
  /// Codes the signs of transformed points, as core/signs/signs.hpp says: one section, valid as
  /// long as the session.
  virtual Bytes encode_signs() = 0;

  /// The session must outlive them. Throws DeviceError if unsupported.
  virtual std::unique_ptr<TrialSession> trials(const TrialPart& part) = 0;
  /// Fits parameters to the values; no effect for predictors without such.
  virtual void fit(PredictorParams& /*params*/) {}

  /// For predictors with quant-codes. The session must outlive it.
  virtual std::unique_ptr<PassEncoder> passes(const FrameCoding& coding) = 0;
  /// For predictors that code themselves. Valid as long as the session.
  virtual std::vector<CodedPass> encode_values(const FrameCoding& coding) = 0;

  /// Largest sampled magnitude, as FieldScan or sample_of_cells() has it, if encode_unscanned() may
  /// succeed before a scan: `tiles` and `cells` without fill values.
  virtual std::optional<double> sampled_magnitude() { return std::nullopt; }
  /// encode_values() in the first pass over the values; scan() then has their range. Nothing if
  /// points are missing or the backend needs the range first.
  virtual std::vector<CodedPass> encode_unscanned(const PredictorParams& /*params*/,
                                                  double /*bound*/) {
    return {};
  }
  /// transform() and encode_values() in the first pass over the values. nullopt if points are
  /// missing, too many are not representable, or it is unsupported. scan() is unaffected.
  virtual std::optional<CodedLogs> encode_logs_unscanned(const PredictorParams& /*params*/,
                                                         const TransformChoice& /*choice*/,
                                                         const ValueBound& /*bound*/) {
    return std::nullopt;
  }
  /// Without loss, the stored values of a type that has_tile_words(). May scan, too. nullopt if
  /// that takes more bytes than the values.
  virtual std::optional<CodedPass> encode_words() { return std::nullopt; }
  /// encode_predicted() of `values`, which are those of the frame in their stored type, or near
  /// them. Valid as long as the result and the session.
  virtual PredictedValues encode_lossless(Bytes values, const FrameShape& stored,
                                          std::uint64_t step) {
    return share_sections(encode_predicted(values, stored, one_by_one, step));
  }
  /// Packs sections that get smaller by a second lossless pass. Throws DeviceError if there is
  /// none.
  virtual void pack(Sections& sections) = 0;
  /// Frees copies of the values, which are no longer read.
  virtual void drop_values() {}

 private:
  FrameInSlot frame_;
};

}  // namespace cuszi

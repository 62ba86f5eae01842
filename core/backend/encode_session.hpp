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
#include "core/coders/coder.hpp"
#include "core/field/config.hpp"
#include "core/field/local_bounds.hpp"
#include "core/field/mask.hpp"
#include "core/field/sample.hpp"
#include "core/field/selection.hpp"
#include "core/transform/transform.hpp"
#include "core/tuning/trial_part.hpp"

namespace cuszi {

struct ClassErrors;

/// The predictor with its parameters, and the coder, of a frame.
struct Method {
  PredictorParams predictor;
  CoderId coder;
};

/// The absolute error that restored values may have, and how it is used.
struct ErrorRoom {
  double bound = 0;
  double bound_over_half_step = 1;  ///< see bound_over_half_step_of()
};

/// All that decides a coded frame's sections besides its values.
struct FrameCoding {
  PredictorParams predictor;
  ErrorRoom room;
  CoderParams coder;
  HuffmanTuning tuning;
  std::shared_ptr<const LocalBounds> local = {};  ///< for `multilevel`: smaller ones than `room`'s

  /// Whether a pass's quant-codes depend on its contexts, so that the encoder has to fit those of
  /// a pass before it goes on.
  bool predicts_by_contexts() const { return room.bound_over_half_step > 1; }
};

/// Points of a pass that its quant-codes could not express.
struct PassCounts {
  std::uint64_t outliers = 0;
  std::uint64_t patches = 0;
};

/// The result of coding a pass.
struct CodedPass {
  Sections sections;
  PassCounts counts;
  std::optional<PredictorParams> final_params = {};  ///< parameters that were left open until then
};

/// Number of error units in an error bound. Errors of restored values are summed as integers in
/// these units, so that a sum does not depend on the order of its terms.
inline constexpr double error_units = 65536;

/// Number of error units in an absolute error of 1. Limited to the largest finite double, which is
/// less than the exact number where the bound is next to 0.
inline double error_units_per_one(double bound) {
  return std::min(error_units / bound, std::numeric_limits<double>::max());
}

CUSZI_HD inline std::int64_t error_in_units(double original, double restored,
                                            double units_per_one) {
  return nearest_integer((restored - original) * units_per_one);
}

/// The passes of a frame on their way from values to sections. Each pass is predicted, then gets
/// its contexts, in their order; how many passes a call has is the caller's choice. At last all are
/// encoded: a backend may work on all of them side by side, and need not know any size before
/// finish().
class PassEncoder {
 public:
  PassEncoder() = default;
  PassEncoder(const PassEncoder&) = delete;
  PassEncoder& operator=(const PassEncoder&) = delete;
  virtual ~PassEncoder() = default;

  /// Predicts and quantises the points of these passes: their quant-codes, and what the codes
  /// cannot say (anchors, outliers, patches).
  virtual void predict(PassRange passes) = 0;
  /// The sum of error_in_units() over the points predicted so far that are not missing. 0 for
  /// predictors that could not do anything about it.
  virtual std::int64_t error_sum() { return 0; }
  /// Chooses how the contexts of these passes follow from what earlier passes restored, and
  /// prepares them. Without effect for predictors that have none.
  virtual void fit_contexts(PassRange passes) = 0;
  /// What the sections of all passes take at most, once all have been predicted: from then on no
  /// value of the frame is read. Nothing if that cannot be told before they are encoded.
  virtual std::optional<ByteCount> most_bytes() const { return std::nullopt; }
  /// Entropy-codes the quant-codes of all passes. Those of a level of the payload may stand
  /// together, in the sections of its first pass.
  virtual void encode() = 0;
  /// The sections of all passes, which stay valid as long as the session, if no other encoder is
  /// made.
  virtual std::vector<CodedPass> finish() = 0;
};

/// Measures what choices would cost; core/choices/trials decides.
class TrialSession {
 public:
  TrialSession() = default;
  TrialSession(const TrialSession&) = delete;
  TrialSession& operator=(const TrialSession&) = delete;
  virtual ~TrialSession() = default;

  /// What samples of the whole frame's classes tell (core/tuning/sampled_cost), for each of these
  /// parameters, whose lattices are the frame's, by class. All classes of all candidates may be
  /// looked at side by side.
  virtual std::vector<std::vector<ClassErrors>> sampled_errors(
      std::span<const MultilevelParams> candidates) = 0;
  /// The bytes that each of these codings takes in the part of the frame; a backend may try them
  /// side by side. `multilevel` is fitted to that part.
  virtual std::vector<std::uint64_t> costs(std::span<const FrameCoding> candidates) = 0;
  /// How many codings take about the time of one. Where it is more than one, those that may be
  /// asked for next are tried along.
  virtual std::size_t side_by_side() const { return 1; }
  /// Calls each(i) for all i below `count`, in any order: what a backend's threads may share.
  virtual void for_each(std::size_t count, const std::function<void(std::size_t)>& each) {
    for (std::size_t i = 0; i < count; ++i) each(i);
  }
};

/// A frame coded by its logarithms, and what has been seen of it.
struct CodedLogs {
  CodedPass pass;
  FieldScan own;   ///< range of the values
  double min = 0;  ///< of the logarithms
  double max = 0;
};

/// A frame that a backend has in work: it answers questions about it, then codes it. What is
/// computed stands in core, the order of the steps in core/pipeline; a backend decides who computes
/// it, when. One thread; a backend has one session at a time.
///
/// Spans of bytes lie in the backend's memory or in the host's, wherever not said otherwise.
class EncodeSession {
 public:
  explicit EncodeSession(FrameSlot& slot) : frame_(slot) {}
  EncodeSession(const EncodeSession&) = delete;
  EncodeSession& operator=(const EncodeSession&) = delete;
  virtual ~EncodeSession() = default;

  /// Range, missing points, and samples of prediction errors for the predictor whose geometry was
  /// given. Reads the whole frame when it is first asked for, if no earlier session has.
  virtual const FieldScan& scan() = 0;
  /// The missing points, in host memory.
  virtual FrameMask mask() = 0;
  /// The values at `points`, indices in raster order, missing ones included.
  virtual std::vector<double> values_at(std::span<const std::uint64_t> points) = 0;
  /// The values of sample_size() of the frame's points, drawn by sampled_point(), but for those
  /// that are missing, in ascending order.
  virtual std::vector<double> sampled_values() = 0;
  /// The least and the largest magnitude of sampled values of the frame itself, without a scan.
  virtual MagnitudeRange sampled_magnitudes() = 0;
  /// How many points, missing or not, have the value whose bits are the lowest of `bits`.
  virtual std::uint64_t count_bits(std::uint64_t bits) = 0;

  /// From now on the frame's values are transformed ones, for all that asks and codes them: under
  /// choice.bound, errors keep to `bound`. Points that the transform keeps count as missing, and
  /// mask() has their own values; but few of them (most_kept_in_tiles()) are left to tiles.
  virtual void transform(const TransformChoice& choice, const ValueBound& bound) = 0;
  /// From now on these points, bit i % 64 of word i / 64, count as missing, and mask() has their
  /// values. The range stays as it was scanned.
  virtual void keep_points(std::span<const std::uint64_t> points) = 0;
  /// Which of the transformed points are negative, in host memory.
  virtual PointBits signs() = 0;

  /// Starts trials in a part of the frame. Not longer than the session. Throws DeviceError where
  /// there are none.
  virtual std::unique_ptr<TrialSession> trials(const TrialPart& part) = 0;
  /// Fits the parameters that follow from the frame's values. Without effect for predictors that
  /// have none.
  virtual void fit(PredictorParams& /*params*/) {}

  /// Starts to code the frame by a predictor that makes quant-codes. Not longer than the session.
  virtual std::unique_ptr<PassEncoder> passes(const FrameCoding& coding) = 0;
  /// Codes the passes of the frame by a predictor that codes itself. Sections stay valid as long as
  /// the session.
  virtual std::vector<CodedPass> encode_values(const PredictorParams& params, double bound) = 0;

  /// The largest magnitude in a sample of the values (FieldScan::sampled), if encode_unscanned()
  /// can be tried: for `tiles`, without fill values, as long as there is no scan. Nothing
  /// elsewhere.
  virtual std::optional<double> sampled_magnitude() { return std::nullopt; }
  /// Codes the frame as encode_values() does, but while it is read for the first time; scan() tells
  /// the range that was found then. Nothing if a point is missing, or if the backend has to know
  /// the range first.
  virtual std::optional<CodedPass> encode_unscanned(const PredictorParams& /*params*/,
                                                    double /*bound*/) {
    return std::nullopt;
  }
  /// Codes a frame by its logarithms as encode_values() does after transform(), but while it is
  /// read for the first time. Nothing if points are missing or more are kept than tiles may have,
  /// or where a backend does not. What scan() tells stays as it was.
  virtual std::optional<CodedLogs> encode_logs_unscanned(const PredictorParams& /*params*/,
                                                         const TransformChoice& /*choice*/,
                                                         const ValueBound& /*bound*/) {
    return std::nullopt;
  }
  /// Packs by a second lossless pass those sections that get smaller by it. Throws DeviceError
  /// where that pass cannot be made.
  virtual void pack(Sections& sections) = 0;

 private:
  FrameInSlot frame_;
};

}  // namespace cuszi

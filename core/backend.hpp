#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/coder.hpp"
#include "core/config.hpp"
#include "core/frame.hpp"
#include "core/mask.hpp"
#include "core/predictor.hpp"
#include "core/sample.hpp"
#include "core/transfer.hpp"

namespace cuszi {

/// What a frame's values are: their type and their extents.
struct FrameShape {
  DType dtype = DType::f32;
  Dims dims;

  std::uint64_t points() const { return dims.count(); }
  ByteCount bytes() const { return points() * size_of(dtype); }
  Extents3 extents() const { return dims.as_3d(); }
};

/// How a frame is coded.
struct Method {
  PredictorParams predictor;
  CoderId coder;
};

/// Points of a pass that its quant-codes could not express.
struct PassCounts {
  std::uint64_t outliers = 0;
  std::uint64_t patches = 0;
};

/// The steps of a frame's way from values to sections and back. A backend decides who computes what
/// and when; what is computed stands in core, the order of the steps in core/pipeline. It keeps the
/// frame in work, and the memory it used for it, inside: one frame at a time, one thread.
///
/// Spans of bytes lie in the backend's memory or in the host's, wherever not said otherwise.
/// Sections that a step adds stay valid until the next load() or begin().
class Backend {
 public:
  Backend() = default;
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;
  virtual ~Backend() = default;

  /// "cpu", or the device's name.
  virtual std::string name() const = 0;

  /// The way to memory of its own; none if it works in the host's.
  virtual Transfer* transfer() { return nullptr; }

  /// Waits until all that was begun is done, so that a step's time can be told.
  virtual void settle() noexcept {}

  // Compression, in the order of calls.

  /// Looks at a frame: range, missing points, samples of prediction errors for a predictor whose
  /// geometry is that of `draft`. `values` must stay valid until the last step.
  virtual FieldScan load(const FrameShape& shape, Bytes values, const FillValues& fills,
                         const PredictorParams& draft) = 0;
  /// The missing points of the loaded frame, in host memory.
  virtual Mask mask() const = 0;
  /// The values of the loaded frame at these points.
  virtual std::vector<double> values_at(std::span<const std::uint64_t> points) = 0;
  /// Whether any point of the loaded frame, missing or not, has these bits: a value's, in the
  /// lowest bytes.
  virtual bool holds(std::uint64_t bits) = 0;
  /// Makes the choices that need more than one look at the frame: fits and trials.
  virtual void refine(Method& /*method*/, const FrameConfig& /*config*/, double /*bound*/) {}
  /// Predicts and quantises the pass's points; keeps their quant-codes, adds what the codes cannot
  /// say: anchors, outliers, patches.
  virtual PassCounts predict_quantise(const PredictorParams& params, double bound, int pass,
                                      Sections& out) = 0;
  /// Chooses how the pass's contexts follow from what earlier passes restored, and prepares them.
  /// Without effect for predictors of one pass.
  virtual void fit_contexts(const PredictorParams& /*params*/, int /*pass*/, Sections& /*out*/) {}
  /// Entropy-codes the pass's quant-codes.
  virtual void encode(const CoderParams& params, const HuffmanTuning& tuning, int pass,
                      Sections& out) = 0;
  /// Packs by a second lossless pass those sections that get smaller by it. Throws DeviceError
  /// where that pass cannot be made.
  virtual void pack(Sections& sections) = 0;
  /// Copies sections one after the other to `out`, of exactly their size.
  virtual void gather(const Sections& sections, MutableBytes out) = 0;

  // Both ways.

  /// The block_hash of `bytes`.
  virtual std::uint64_t hash(Bytes bytes) = 0;
  /// Copies `from` to `to`, of the same size; complete on return.
  virtual void copy(Bytes from, MutableBytes to) = 0;

  // Decompression, in the order of calls.

  /// `bytes` in the backend's memory: themselves or a copy, valid until the next load() or the next
  /// call.
  virtual Bytes resident(Bytes bytes) = 0;
  /// The inverse of pack(); what it unpacks is valid as long as what resident() returned. Throws
  /// ArchiveError, or DeviceError where that pass cannot be undone.
  virtual void unpack(Sections& sections) = 0;
  /// Starts a frame, coded or constant, whose values are to appear in `out`.
  virtual void begin(const FrameShape& shape, const FrameHeader& header, const Mask& mask,
                     MutableBytes out) = 0;
  /// Prepares the pass's contexts again. Throws ArchiveError.
  virtual void contexts(const PredictorParams& /*params*/, int /*pass*/,
                        const Sections& /*sections*/) {}
  /// Decodes the pass's quant-codes. Throws ArchiveError.
  virtual void decode(const CoderParams& params, int pass, const Sections& sections) = 0;
  /// Restores the pass's points from their quant-codes and sections. Throws ArchiveError.
  virtual void reconstruct(const PredictorParams& params, int pass, const Sections& sections) = 0;
  /// Gives all points these bits, in place of the steps before: a value's, in the lowest bytes.
  virtual void fill(std::uint64_t bits) = 0;
  /// Puts the missing values back; `out` is complete on return.
  virtual void finish() = 0;
};

}  // namespace cuszi

#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/archive/frame.hpp"
#include "core/archive/predictor.hpp"
#include "core/backend/frame_slot.hpp"
#include "core/coders/coder.hpp"
#include "core/field/frame_shape.hpp"
#include "core/field/local_bounds.hpp"
#include "core/field/mask.hpp"
#include "core/transform/transform.hpp"

namespace cuszi {

/// The destination of a restored frame: all its points, or those of a preview.
struct FrameTarget {
  FrameShape shape;
  double min = 0;  ///< of the points that are not missing, as the predictor sees them
  double max = 0;
  const FrameMask& mask;                       ///< in host memory
  MutableBytes out;                            ///< in the backend's memory or the host's
  const TransformTarget* transform = nullptr;  ///< how they become values, if they are none
  const LocalBounds* local = nullptr;          ///< of the frame, smaller than its own
  Selection points = {};                       ///< of the frame, which these are
  std::uint64_t stride = 1;                    ///< of them along lattice axes
};

/// The passes of one level of the payload, whose codes are written together.
struct CodedLevel {
  std::span<const PassShape> shapes;
  std::span<const Sections> sections;  ///< of the same passes
};

/// Cuts the first passes of a frame into levels of the payload. `pass_levels` has the level of each
/// pass, `shapes` and `passes` have at least as many passes as are restored, which are whole
/// levels.
inline std::vector<CodedLevel> coded_levels(std::span<const int> pass_levels,
                                            std::span<const PassShape> shapes,
                                            std::span<const Sections> passes) {
  std::vector<CodedLevel> levels;
  for (const PassRange& level : passes_of_levels(pass_levels.first(passes.size()))) {
    levels.push_back({of_range(shapes, level), of_range(passes, level)});
  }
  return levels;
}

/// The passes of a frame on their way from sections to values. First the codes of all of them are
/// decoded; then each pass in turn gets its contexts, its codes by code position, and its values.
/// Every step throws ArchiveError.
class PassDecoder {
 public:
  PassDecoder() = default;
  PassDecoder(const PassDecoder&) = delete;
  PassDecoder& operator=(const PassDecoder&) = delete;
  virtual ~PassDecoder() = default;

  /// Entropy-decodes the quant-codes of all levels, also those of passes that will not be restored.
  virtual void decode(std::span<const CodedLevel> levels) = 0;
  /// Prepares the pass's contexts again. Without effect for predictors that have none.
  virtual void contexts(int pass, const Sections& sections) = 0;
  /// Moves the pass's codes, which are decoded table by table, to their code positions, which
  /// follow from the contexts.
  virtual void place(int pass) = 0;
  /// Restores the pass's points from their quant-codes and sections.
  virtual void reconstruct(int pass, const Sections& sections) = 0;
  /// Puts the missing values back; the target is complete on return.
  virtual void finish() = 0;
};

/// A frame's payload that a backend is to restore, in one of three ways. One thread; a backend has
/// one session at a time.
class DecodeSession {
 public:
  explicit DecodeSession(FrameSlot& slot) : frame_(slot) {}
  DecodeSession(const DecodeSession&) = delete;
  DecodeSession& operator=(const DecodeSession&) = delete;
  virtual ~DecodeSession() = default;

  /// The payload in the backend's memory: itself or a copy, valid as long as the session.
  virtual Bytes payload() const = 0;
  /// Replaces the sections that EncodeSession::pack() has packed by what they were before, valid as
  /// long as the session. Throws ArchiveError if they are damaged, DeviceError where the backend
  /// has no second lossless pass.
  virtual void unpack(Sections& sections) = 0;

  /// Starts to restore what PassEncoder has made. Target, parameters and sections must outlive the
  /// decoder.
  virtual std::unique_ptr<PassDecoder> passes(const FrameTarget& target,
                                              const PredictorParams& predictor,
                                              const CoderParams& coder) = 0;
  /// Restores the values of a frame that EncodeSession::encode_values() has coded, from the
  /// sections of the passes that its points need, and puts missing values back. Throws
  /// ArchiveError.
  virtual void decode_values(const FrameTarget& target, const PredictorParams& predictor,
                             std::span<const Sections> passes) = 0;
  /// Sets all points that are not missing to one value, whose bits are the lowest of `bits`.
  virtual void fill(const FrameTarget& target, std::uint64_t bits) = 0;

 private:
  FrameInSlot frame_;
};

}  // namespace cuszi

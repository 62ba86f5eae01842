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
#include "core/field/mask.hpp"

namespace cuszi {

/// What a frame is restored to: all its points, or those of a preview.
struct FrameTarget {
  FrameShape shape;
  double min = 0;  ///< of the points that are not missing
  double max = 0;
  const Mask& mask;  ///< in host memory
  MutableBytes out;  ///< in the backend's memory or the host's
};

/// The passes of one level of the payload: whatever decides how their codes are written.
struct CodedLevel {
  std::span<const PassShape> shapes;
  std::span<const Sections> sections;  ///< of the same passes
};

/// The first passes of a frame, whole levels, cut into them.
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
  /// The inverse of EncodeSession::pack(); what it unpacks is valid as long as the session. Throws
  /// ArchiveError, or DeviceError where that pass cannot be undone.
  virtual void unpack(Sections& sections) = 0;

  /// Starts to restore what PassEncoder has made. Target, parameters and sections must outlive the
  /// decoder.
  virtual std::unique_ptr<PassDecoder> passes(const FrameTarget& target,
                                              const PredictorParams& predictor,
                                              const CoderParams& coder) = 0;
  /// The inverse of EncodeSession::encode_values(), missing values included. Throws ArchiveError.
  virtual void decode_values(const FrameTarget& target, const PredictorParams& predictor,
                             const Sections& sections) = 0;
  /// Gives all points that are not missing these bits: a value's, in the lowest bytes.
  virtual void fill(const FrameTarget& target, std::uint64_t bits) = 0;

 private:
  FrameInSlot frame_;
};

}  // namespace cuszi

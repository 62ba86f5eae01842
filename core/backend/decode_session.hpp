#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/archive/frame.hpp"
#include "core/archive/predictor.hpp"
#include "core/backend/frame_slot.hpp"
#include "core/base/unmovable.hpp"
#include "core/coders/coder.hpp"
#include "core/field/frame_shape.hpp"
#include "core/field/local_bounds.hpp"
#include "core/field/mask.hpp"
#include "core/field/selection.hpp"
#include "core/lossless/predicted.hpp"
#include "core/transform/transform.hpp"

namespace cuszi {

/// Destination of a restored frame or preview. The backend converts work values to stored ones.
struct FrameTarget {
  FrameShape shape;  ///< of the stored type
  double min = 0;    ///< of points that are not missing, as the predictor sees them
  double max = 0;
  const FrameMask& mask;                       ///< of work values, in host memory
  MutableBytes out;                            ///< in the backend's memory or the host's
  const TransformTarget* transform = nullptr;  ///< null if points are values
  const LocalBounds* local = nullptr;
  Selection points = {};     ///< of the frame
  std::uint64_t stride = 1;  ///< along lattice axes
};

/// Passes of one level, whose codes are stored together.
struct CodedLevel {
  std::span<const PassShape> shapes;
  std::span<const Sections> sections;  ///< by pass
};

/// Levels of the first passes of a frame. `shapes` and `passes` hold at least the restored passes,
/// which form whole levels.
inline std::vector<CodedLevel> coded_levels(std::span<const int> pass_levels,
                                            std::span<const PassShape> shapes,
                                            std::span<const Sections> passes) {
  std::vector<CodedLevel> levels;
  for (const PassRange& level : passes_of_levels(pass_levels.first(passes.size()))) {
    levels.push_back({of_range(shapes, level), of_range(passes, level)});
  }
  return levels;
}

/// First all codes are decoded; then each pass gets its contexts, sorted codes, and values. All
/// functions throw ArchiveError.
class PassDecoder : public Interface {
 public:
  /// Includes passes that are not restored.
  virtual void decode(std::span<const CodedLevel> levels) = 0;
  /// No effect without contexts.
  virtual void contexts(int pass, const Sections& sections) = 0;
  /// Moves codes, which are decoded table by table, to the positions given by contexts.
  virtual void place(int pass) = 0;
  virtual void reconstruct(int pass, const Sections& sections) = 0;
  /// Restores missing values; complete on return.
  virtual void finish() = 0;
};

/// One thread; a backend has one session at a time.
class DecodeSession : public Interface {
 public:
  explicit DecodeSession(FrameSlot& slot) : frame_(slot) {}
  /// A view or copy, valid as long as the session.
  virtual Bytes payload() const = 0;
  /// Gives copies of the payload's first bytes on the host, valid as long as the session, so that
  /// they need not be copied again.
  virtual void learn_begin(Bytes /*begin*/) {}
  /// Replaces sections packed by EncodeSession::pack(), valid as long as the session. Throws
  /// ArchiveError for damage, DeviceError without a second lossless pass.
  virtual void unpack(Sections& sections) = 0;

  /// The signs of some points of a frame, from a section of EncodeSession::encode_signs(): bit i %
  /// 64 of word i / 64 is point i of these. In the backend's memory, valid as long as the session.
  /// May be complete, and damage found, only with the restored values. Throws ArchiveError.
  virtual std::span<const std::uint64_t> decode_signs(Bytes section, const Dims& dims,
                                                      const Selection& points) = 0;

  /// Arguments must outlive the decoder.
  virtual std::unique_ptr<PassDecoder> passes(const FrameTarget& target,
                                              const PredictorParams& predictor,
                                              const CoderParams& coder) = 0;
  /// Restores sections of EncodeSession::encode_values(), as far as points need them, and missing
  /// values. Throws ArchiveError.
  virtual void decode_values(const FrameTarget& target, const PredictorParams& predictor,
                             std::span<const Sections> passes) = 0;
  /// Restores stored values from sections of EncodeSession::encode_words(), to host or the
  /// backend's memory. Throws ArchiveError.
  virtual void decode_words(const FrameShape& stored, const Sections& sections,
                            MutableBytes out) = 0;
  /// decode_predicted(), of sections in the payload. Complete on return.
  virtual void decode_lossless(const WordSections<Bytes>& sections, const FrameShape& stored,
                               MutableBytes out) {
    decode_predicted(sections, stored, out, one_by_one);
  }
  /// Fills points that are not missing with the work value of these low bits.
  virtual void fill(const FrameTarget& target, std::uint64_t bits) = 0;

 private:
  FrameInSlot frame_;
};

}  // namespace cuszi

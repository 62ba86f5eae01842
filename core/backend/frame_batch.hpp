#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "core/backend/encode_session.hpp"
#include "core/backend/frame_slot.hpp"
#include "core/base/floating_point.hpp"
#include "core/base/unmovable.hpp"
#include "core/field/frame_shape.hpp"

namespace cuszi {

/// A frame of a batch, its values in the backend's memory.
struct BatchFrame {
  FrameShape shape;
  Bytes values;
};

/// The least and the largest of some values.
struct BatchRange {
  double min = 0;
  double max = 0;

  double magnitude() const { return std::max(std::fabs(min), std::fabs(max)); }
};

/// How a frame of a batch is to be coded: as `tiles` or `cells`.
struct BatchEncoding {
  BatchFrame frame;
  BatchRange range;  ///< of its sample; for `cells`, of all values
  PredictorParams params;
  double bound = 0;
};

/// A coded frame of a batch. Its sections lie in the backend's memory, as long as the batch.
struct BatchCoded {
  std::vector<CodedPass> passes;  ///< with a copy of the codebook, if there is one, on the host
  double min = 0;                 ///< of all values
  double max = 0;
};

/// A coded frame of a batch on its way back. All bytes lie in the backend's memory.
struct BatchDecoding {
  FrameShape shape;
  double min = 0;
  double max = 0;
  PredictorParams params;
  std::vector<Sections> passes;
  std::vector<Bytes> levels;  ///< for their hashes
  MutableBytes values;
};

/// What came of a frame of a batch.
struct BatchDecoded {
  bool is_done = false;               ///< its values are there, if the hashes are right
  std::vector<std::uint64_t> hashes;  ///< block_hash of each level
};

struct BatchCopy {
  Bytes from;
  MutableBytes to;  ///< of the same size
};

/// Many small frames that a backend has in work together, as `tiles` or `cells`: they share its
/// launches and waits. A frame that needs more than that is left out, without a reason, to be done
/// alone. One thread; a backend has one batch or session at a time.
class FrameBatch : public Interface {
 public:
  explicit FrameBatch(FrameSlot& slot) : frames_(slot) {}
  /// Calls each(i) for all i below `count`, in any order, by threads of the host.
  virtual void for_each(std::size_t count, const std::function<void(std::size_t)>& each) = 0;

  /// The ranges of the frames; nothing for a frame in which a point is missing (no number, or
  /// infinite).
  virtual std::vector<std::optional<BatchRange>> scan(std::span<const BatchFrame> frames) = 0;
  /// The ranges of the frames' samples (see FieldScan::sampled); nothing for a sample without
  /// numbers.
  virtual std::vector<std::optional<BatchRange>> sample(std::span<const BatchFrame> frames) = 0;
  /// counts[i] values of frame i, at sample_point(k, points) for k from 0 on; all of them in their
  /// order if it has no more. Valid as long as the batch.
  virtual std::vector<std::span<const double>> draw(std::span<const BatchFrame> frames,
                                                    std::span<const std::uint64_t> counts) = 0;
  /// The values of frames at these points, indices in raster order. Valid as long as the batch.
  virtual std::vector<std::span<const double>> values_at(
      std::span<const BatchFrame> frames, std::span<const std::vector<std::uint64_t>> points) = 0;
  /// EncodeSession::sample_of_cells() of each frame.
  virtual std::vector<CellsSample> samples_of_cells(std::span<const BatchFrame> frames) = 0;
  /// Codes the frames as EncodeSession::encode_unscanned() or encode_values() does; nothing where
  /// that has nothing, or would take long.
  virtual std::vector<std::optional<BatchCoded>> encode(std::span<const BatchEncoding> frames) = 0;
  /// Copies sections, which encode() has made, and returns the block_hash of each of the levels
  /// that they are copied to.
  virtual std::vector<std::uint64_t> place(std::span<const BatchCopy> sections,
                                           std::span<const Bytes> levels) = 0;

  /// Restores frames as DecodeSession::decode_values() does.
  virtual std::vector<BatchDecoded> decode(std::span<const BatchDecoding> frames) = 0;

  /// Copies of strings in the host's memory, made all at once. Valid as long as the batch; the
  /// strings may change right after.
  virtual std::vector<Bytes> bring(std::span<const Bytes> strings) = 0;
  /// Copies bytes from or to the host's memory, all at once; complete on return.
  virtual void upload(std::span<const BatchCopy> pieces) = 0;
  virtual void download(std::span<const BatchCopy> pieces) = 0;

 private:
  FrameInSlot frames_;
};

/// Results of which some are missing, without these, and the number of each.
template <class T>
struct Present {
  std::vector<T> values;
  std::vector<std::size_t> numbers;
};

/// What each(i) returns, an optional T, for all i below `count`, found by threads of the host.
template <class T, class Each>
Present<T> find_present(FrameBatch& batch, std::size_t count, const Each& each) {
  std::vector<std::optional<T>> all(count);
  batch.for_each(count, [&](std::size_t i) {
    const IeeeArithmetic arithmetic;
    all[i] = each(i);
  });
  Present<T> present;
  present.values.reserve(count);
  present.numbers.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    if (!all[i]) continue;
    present.values.push_back(*std::move(all[i]));
    present.numbers.push_back(i);
  }
  return present;
}

}  // namespace cuszi

#pragma once

#include "core/archive/frame.hpp"
#include "core/archive/frame_plan.hpp"
#include "core/field/frame_shape.hpp"
#include "core/field/selection.hpp"

namespace cuszi {

/// A box at every stride-th point along thinned axes, from the first levels of its frames.
class Preview {
 public:
  /// A stride of 1 and no box select the whole field. Throws UsageError if the box is outside it.
  Preview(const FieldCuts& plan, std::uint64_t stride, const Box& box = {});

  /// Thins along the first frame's lattice axes (all if it has none) of extent above 1 in some
  /// frame. Throws UsageError if no point is left.
  void choose_axes(const Dims& first_dims, const FrameHeader& first);

  Selection of_frame(std::uint64_t i) const;

  /// The selected points before frame `i`'s, which must have some.
  std::uint64_t points_before(std::uint64_t i) const;

  Dims dims() const { return of_field().dims(); }

  std::uint64_t stride() const { return stride_; }
  bool has_box() const { return box_ != Box{}; }

 private:
  Selection of_field() const;

  FieldCuts plan_;
  std::uint64_t stride_;
  Box box_;
  std::array<bool, Dims::max_rank> thinned_{};
};

struct FramePreview {
  Selection restored;        ///< of the frame
  Selection shown;           ///< of the restored points
  std::uint64_t stride = 1;  ///< along lattice axes
  std::size_t passes = 1;
  std::size_t levels = 1;

  /// `wanted` must have at least one point.
  static FramePreview of(const Dims& dims, const FrameHeader& header, const Selection& wanted);
};

/// Upper estimate of the host memory for restoring a frame, in bytes, its values included.
ByteCount restoring_bytes(const FrameShape& shape, const FrameHeader& header,
                          const FramePreview& preview);

}  // namespace cuszi

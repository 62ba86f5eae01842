#pragma once

#include "core/frame.hpp"
#include "core/frame_plan.hpp"
#include "core/selection.hpp"

namespace cuszi {

/// A field at every stride-th point of the axes that it is thinned along, the others whole: what
/// the first levels of each frame restore, without the rest.
class Preview {
 public:
  /// Of a field that is cut into frames by `plan`. A stride of 1 is the field itself.
  Preview(const FramePlan& plan, std::uint64_t stride) : plan_(plan), stride_(stride) {}

  /// Thins the field along the lattice axes of its first frame, all if that is not of `multilevel`,
  /// but for axes of which every frame has one index. Where other frames' axes have other roles,
  /// more of them has to be restored than is shown.
  void settle(const Dims& first_dims, const FrameHeader& first);

  /// The points of frame `i` that are shown.
  Selection of_frame(std::uint64_t i) const;

  Dims dims() const { return of_field().dims(); }

 private:
  Selection of_field() const;

  FramePlan plan_;
  std::uint64_t stride_;
  std::array<bool, Dims::max_rank> thinned_{};
};

/// How a frame is restored so far that some of its points are there.
struct FramePreview {
  Selection restored;        ///< of the frame
  Selection shown;           ///< of the restored points
  std::uint64_t stride = 1;  ///< of the restored points along lattice axes
  std::size_t passes = 1;    ///< that restore them
  std::size_t levels = 1;    ///< of the payload that have these passes

  /// Of a frame of these dims, for these of its points, at least one.
  static FramePreview of(const Dims& dims, const FrameHeader& header, const Selection& wanted);
};

}  // namespace cuszi

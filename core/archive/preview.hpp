#pragma once

#include "core/archive/frame.hpp"
#include "core/archive/frame_plan.hpp"
#include "core/field/frame_shape.hpp"
#include "core/field/selection.hpp"

namespace cuszi {

/// A box of a field, at every stride-th point of the axes that it is thinned along, the others
/// whole: what the first levels of the frames that meet the box restore, without the rest.
class Preview {
 public:
  /// Previews a field that is cut into frames by `plan`. A stride of 1 and no box show the whole
  /// field. Throws UsageError if the box does not lie in the field.
  Preview(const FieldCuts& plan, std::uint64_t stride, const Box& box = {});

  /// Thins the field along the lattice axes of its first frame, all if its passes do not refine a
  /// lattice, but for axes of which every frame has one index. Where other frames' axes have other
  /// roles, more of them has to be restored than is shown. Throws UsageError if the box has none of
  /// the points that are left.
  void choose_axes(const Dims& first_dims, const FrameHeader& first);

  /// The points of frame `i` that are shown.
  Selection of_frame(std::uint64_t i) const;

  /// How many of the shown points stand in front of frame `i`'s, which must have some.
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

/// Which levels of a frame a preview restores, and which points of the result it shows.
struct FramePreview {
  Selection restored;        ///< of the frame
  Selection shown;           ///< of the restored points
  std::uint64_t stride = 1;  ///< of the restored points along lattice axes
  std::size_t passes = 1;    ///< that restore them
  std::size_t levels = 1;    ///< of the payload that have these passes

  /// Finds what to restore of a frame of extents `dims` to show its points `wanted`, which are at
  /// least one.
  static FramePreview of(const Dims& dims, const FrameHeader& header, const Selection& wanted);
};

/// About the most memory of a host that it takes to restore a frame so far, its values included.
ByteCount restoring_bytes(const FrameShape& shape, const FrameHeader& header,
                          const FramePreview& preview);

}  // namespace cuszi

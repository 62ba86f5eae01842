#pragma once

#include <vector>

#include "app/picture/slices.hpp"
#include "codec/field/field_source.hpp"
#include "core/field/mask.hpp"

namespace cuszi::app {

/// The points of a slice that are shown, row by row from the top; NaN stands for all that is
/// missing.
struct Panel {
  std::uint64_t rows;
  std::uint64_t columns;
  std::vector<double> values;
};

/// Collects the points that are shown from the frames of a field.
class PointCollector {
 public:
  /// `plan` must outlive the collector. All points are missing until take().
  PointCollector(const SlicePlan& plan, const FieldCuts& cuts, DType dtype,
                 const FillValues& fills);

  /// Takes what is shown of the values of frame `i` that are selected, in raster order.
  void take(std::uint64_t i, const Selection& selection, Bytes values);

  /// One a slice, in their order.
  const std::vector<Panel>& panels() const { return panels_; }

 private:
  const SlicePlan& plan_;
  FieldCuts cuts_;
  DType dtype_;
  FillValues fills_;
  std::vector<Panel> panels_;
};

/// The values of the selected points of frame `i`, in raster order. Reads the planes that have
/// some, and no more. Throws InputError.
std::vector<std::byte> read_points(const FieldSource& field, std::uint64_t i,
                                   const Selection& selection);

}  // namespace cuszi::app

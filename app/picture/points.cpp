#include "app/picture/points.hpp"

#include <cstring>
#include <limits>
#include <span>

namespace cuszi::app {

namespace {

constexpr double missing_value = std::numeric_limits<double>::quiet_NaN();

/// Where points lie among the selected ones of a frame.
class Places {
 public:
  Places(const Selection& selection, const PerAxis<std::uint64_t>& origin)
      : selection_(selection), origin_(origin) {
    std::uint64_t stride = 1;
    for (int axis = selection.from.rank() - 1; axis >= 0; --axis) {
      strides_.at(static_cast<std::size_t>(axis)) = stride;
      stride *= selection.count(axis);
    }
  }

  /// How far an index of the field along an axis is from the first point; nothing if no selected
  /// point has it.
  std::optional<std::uint64_t> along(int axis, std::uint64_t index) const {
    const auto a = static_cast<std::size_t>(axis);
    const std::uint64_t first = origin_.at(a) + selection_.first.at(a);
    if (index < first || (index - first) % selection_.step.at(a) != 0) return std::nullopt;
    const std::uint64_t i = (index - first) / selection_.step.at(a);
    if (i >= selection_.count(axis)) return std::nullopt;
    return i * strides_.at(a);
  }

  int rank() const { return selection_.from.rank(); }

 private:
  const Selection& selection_;
  PerAxis<std::uint64_t> origin_;
  PerAxis<std::uint64_t> strides_{};
};

/// How far the point is whose index is 0 along the axes that a slice shows; nothing if the slice
/// does not meet the selected points.
std::optional<std::uint64_t> place_of(const Slice& slice, const Places& places) {
  std::uint64_t sum = 0;
  for (int axis = 0; axis < places.rank(); ++axis) {
    if (axis == slice.columns || slice.rows == axis) continue;
    const auto place = places.along(axis, slice.at.at(static_cast<std::size_t>(axis)));
    if (!place) return std::nullopt;
    sum += *place;
  }
  return sum;
}

template <class T>
double shown(Bytes values, std::uint64_t i, const MissingTest<T>& missing) {
  T value;
  std::memcpy(&value, values.subspan(i * sizeof(T)).data(), sizeof(T));
  return missing(value) ? missing_value : static_cast<double>(value);
}

/// With ones in front, of rank 4.
Selection padded(const Selection& selection) {
  Selection all;
  PerAxis<std::uint64_t> extents{1, 1, 1, 1};
  const auto more = static_cast<std::size_t>(Dims::max_rank - selection.from.rank());
  for (std::size_t axis = more; axis < extents.size(); ++axis) {
    extents[axis] = selection.from.extents()[axis - more];
    all.first[axis] = selection.first[axis - more];
    all.step[axis] = selection.step[axis - more];
    all.end[axis] = selection.end[axis - more];
  }
  all.from = Dims::make(extents).value();
  return all;
}

/// The selected points of each plane of the two fastest axes.
Selection in_plane(const Selection& all) {
  Selection plane;
  plane.from = Dims{all.from[2], all.from[3]};
  plane.first = {all.first[2], all.first[3]};
  plane.step = {all.step[2], all.step[3], 1, 1};
  plane.end = {all.end[2], all.end[3], Selection::no_end, Selection::no_end};
  return plane;
}

}  // namespace

PointCollector::PointCollector(const SlicePlan& plan, const FieldCuts& cuts, DType dtype,
                               const FillValues& fills)
    : plan_(plan), cuts_(cuts), dtype_(dtype), fills_(fills) {
  for (const Slice& slice : plan.slices) {
    const std::uint64_t rows = plan.rows(slice);
    const std::uint64_t columns = plan.columns(slice);
    panels_.push_back({rows, columns, std::vector<double>(rows * columns, missing_value)});
  }
}

void PointCollector::take(std::uint64_t i, const Selection& selection, Bytes values) {
  const Places places(selection, cuts_.origin(i));
  const auto take_slice = [&](const Slice& slice, Panel& panel, const auto& missing) {
    const auto base = place_of(slice, places);
    if (!base) return;
    const auto step = [&](int axis) { return plan_.step.at(static_cast<std::size_t>(axis)); };
    std::vector<std::optional<std::uint64_t>> along(panel.columns);
    for (std::uint64_t c = 0; c < panel.columns; ++c) {
      along[c] = places.along(slice.columns, c * step(slice.columns));
    }
    for (std::uint64_t r = 0; r < panel.rows; ++r) {
      const auto row = slice.rows ? places.along(*slice.rows, r * step(*slice.rows))
                                  : std::optional<std::uint64_t>(0);
      for (std::uint64_t c = 0; row && c < panel.columns; ++c) {
        if (!along[c]) continue;
        panel.values[r * panel.columns + c] = shown(values, *base + *row + *along[c], missing);
      }
    }
  };
  with_type_of(dtype_, [&](auto zero) {
    const MissingTest<decltype(zero)> missing(fills_);
    for (std::size_t s = 0; s < panels_.size(); ++s) {
      take_slice(plan_.slices[s], panels_[s], missing);
    }
  });
}

std::vector<std::byte> read_points(const FieldSource& field, std::uint64_t i,
                                   const Selection& selection) {
  const DType dtype = field.layout().dtype;
  const Selection all = padded(selection);
  const Selection plane = in_plane(all);
  std::vector<std::byte> values(selection.points() * size_of(dtype));
  std::vector<std::byte> read(plane.from.count() * size_of(dtype));
  MutableBytes left(values);
  for (std::uint64_t w = 0; w < all.count(0); ++w) {
    for (std::uint64_t z = 0; z < all.count(1); ++z) {
      const std::uint64_t index =
          (all.first[0] + w * all.step[0]) * all.from[1] + all.first[1] + z * all.step[1];
      field.read_part(i, index * read.size(), read);
      const ByteCount bytes = plane.points() * size_of(dtype);
      pick(plane, dtype, read, left.first(bytes));
      left = left.subspan(bytes);
    }
  }
  return values;
}

}  // namespace cuszi::app

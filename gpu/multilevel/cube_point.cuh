#pragma once

#include "core/multilevel/context.hpp"
#include "gpu/multilevel/device_class.cuh"

namespace cuszi::gpu {

// Prediction and features of classes of cubes (lattice axes z, y, x) and slices (z, x; perhaps with
// enclosing slices along a layered axis), with a geometry known at compile time. Arrays have at
// least `CubePolicy::least` points along each axis. Threads take `cube_points` consecutive points
// along z, which share neighbours.

inline constexpr int cube_points = RegionPolicy::points / RegionPolicy::threads;

/// `odd` is a mask of the axes z, y, x.
template <unsigned odd, bool slice, bool enclosed = false>
struct CubeClass {
  static constexpr bool is_slice = slice;
  static constexpr bool is_enclosed = enclosed;

  static constexpr bool is_odd(int axis) { return ((odd >> axis) & 1U) != 0; }
  static constexpr bool is_even(int axis) { return !is_odd(axis) && !(slice && axis == 1); }
  /// Number of odd axes if the axes of `moved` changed parity.
  static constexpr unsigned order_with(unsigned moved) {
    const unsigned axes = odd ^ moved;
    return (axes & 1U) + ((axes >> 1) & 1U) + ((axes >> 2) & 1U);
  }
  static constexpr unsigned order = order_with(0);
};

/// Consecutive classes of a pass share a launch; passes may lack the first or the last ones.
template <class... Classes>
struct CubeClasses {
  static constexpr unsigned count = sizeof...(Classes);

  /// Calls f(class, its number as a constant).
  template <class F>
  static __device__ void visit(unsigned number, const F& f) {
    visit(number, f, std::make_integer_sequence<unsigned, count>{});
  }

 private:
  template <class F, unsigned... numbers>
  static __device__ void visit(unsigned number, const F& f,
                               std::integer_sequence<unsigned, numbers...> /*all*/) {
    ((number == numbers ? f(Classes{}, std::integral_constant<unsigned, numbers>{}) : void()), ...);
  }
};

/// Classes of orders 1 and 2; `enclosed1` and `enclosed2` tell which orders have enclosing slices.
template <bool enclosed1, bool enclosed2>
using SliceClasses = CubeClasses<CubeClass<1, true, enclosed1>, CubeClass<4, true, enclosed1>,
                                 CubeClass<5, true, enclosed2>>;

/// Calls f(CubeClasses, number of the first class of the pass).
template <class T, class F>
void with_classes(const PassView<T>& pass, const F& f) {
  const PointClass& first = pass.host_classes[0].plan.points;
  const PointClass& last = pass.host_classes[pass.class_count - 1].plan.points;
  if (pass.geometry == Geometry::slice) {
    const unsigned number = first.order == 1 ? 0 : 2;
    if (last.enclosed) return f(SliceClasses<true, true>{}, number);
    if (first.enclosed) return f(SliceClasses<true, false>{}, number);
    return f(SliceClasses<false, false>{}, number);
  }
  using Order1 = CubeClasses<CubeClass<1, false>, CubeClass<2, false>, CubeClass<4, false>>;
  using Order2 = CubeClasses<CubeClass<3, false>, CubeClass<5, false>, CubeClass<6, false>>;
  switch (first.order) {
    case 1: return f(Order1{}, 0U);
    case 2: return f(Order2{}, 0U);
    default: return f(CubeClasses<CubeClass<7, false>>{}, 0U);
  }
}

/// Borders of the array near a region, where neighbours may be missing.
enum class Borders { none, rows, all };

/// A thread's first point, and the extents of the array.
struct CubePlace {
  std::int32_t z;
  std::int32_t y;
  std::int32_t x;
  std::int32_t depth;
  std::int32_t height;
  std::int32_t width;
};

/// Arrays of cubes have less than 2^32 bytes.
template <class Class, class V>
struct CubeReader {
  const V* array;
  std::uint32_t first;  ///< point
  std::uint32_t z_stride;
  std::uint32_t y_stride;
  std::uint32_t odd_half;  ///< offset in a row
  std::uint32_t to_low_slice;
  std::uint32_t to_high_slice;

  /// Readers of the enclosing slices.
  __device__ CubeReader in_low_slice() const { return moved_by(to_low_slice); }
  __device__ CubeReader in_high_slice() const { return moved_by(to_high_slice); }

  /// Relative to the first point.
  __device__ V at(int dz, int dy, int dx) const {
    std::uint32_t index = first + static_cast<std::uint32_t>(dz) * z_stride +
                          static_cast<std::uint32_t>(dy) * y_stride;
    if (dx % 2 == 0) {
      index += static_cast<std::uint32_t>(dx / 2);
    } else if (Class::is_odd(2)) {
      index += static_cast<std::uint32_t>((dx + 1) / 2) - odd_half;
    } else {
      index += static_cast<std::uint32_t>((dx - 1) / 2) + odd_half;
    }
    return array[index];
  }

 private:
  __device__ CubeReader moved_by(std::uint32_t points) const {
    CubeReader reader = *this;
    reader.first += points;
    return reader;
  }
};

/// `count` points from the k-th on, with their neighbours at 1 and 3 along odd axes.
template <class Class, Borders borders, int count, class T>
class CubePoints {
 public:
  using Reader = CubeReader<Class, T>;

  __device__ CubePoints(const Reader& reader, const CubePlace& place, int k)
      : reader_(reader), place_(place), k_(k) {
    CUSZI_UNROLL
    for (int i = 0; i < count; ++i) {
      CUSZI_UNROLL
      for (int a = 0; a < 3; ++a) {
        if (Class::is_odd(a)) lines_[i][a] = line_in(reader_, i, a);
      }
    }
  }

  __device__ void interpolate(int reach, const T* weights, T (&sums)[count]) const {
    for (T& sum : sums) sum = 0;
    add_pairs(reach, weights, sums);
    add_diagonals(weights, sums);
    add_sides(weights, sums);
    if (Class::is_enclosed) add_slices(weights, sums);
    CUSZI_UNROLL
    for (int i = 0; i < count; ++i) {
      if (is_at_edge(i)) sums[i] = edge_prediction(i);
    }
  }

  __device__ Slopes<T> slopes(int i) const {
    SlopeSums<T> sums;
    CUSZI_UNROLL
    for (int a = 0; a < 3; ++a) {
      if (!Class::is_odd(a)) continue;
      const Line& line = lines_[i][a];
      sums.add(line.low, line.high, line.far_low + line.far_high);
    }
    return sums.slopes();
  }

 private:
  /// Values along a line, with replacements outside the array.
  struct Line {
    T low;
    T high;
    T far_low;
    T far_high;
  };

  __device__ Line line_in(const Reader& reader, int i, int a) const {
    Line line{};
    line.low = along(reader, i, a, -1);
    line.high = along(reader, i, a, ahead(i, a));
    const bool has_low = is_inside(i, a, -3);
    const bool has_high = is_inside(i, a, 3);
    if (has_low) line.far_low = along(reader, i, a, -3);
    if (has_high) line.far_high = along(reader, i, a, 3);
    if (!has_low) line.far_low = 3 * (line.low - line.high) + line.far_high;
    if (!has_high) line.far_high = 3 * (line.high - line.low) + line.far_low;
    return line;
  }

  static constexpr bool checks(int axis) {
    return borders == Borders::all || (borders == Borders::rows && axis == 2);
  }

  __device__ bool is_inside(int i, int axis, int units) const {
    if (!checks(axis)) return true;
    const int at = axis == 0 ? place_.z + 2 * (k_ + i) : axis == 1 ? place_.y : place_.x;
    const int extent = axis == 0 ? place_.depth : axis == 1 ? place_.height : place_.width;
    return units < 0 ? at >= -units : at + units < extent;
  }

  __device__ T along(const Reader& reader, int i, int axis, int d) const {
    return reader.at(2 * (k_ + i) + (axis == 0 ? d : 0), axis == 1 ? d : 0, axis == 2 ? d : 0);
  }
  __device__ T across(int i, int a, int da, int b, int db) const {
    const int dz = (a == 0 ? da : 0) + (b == 0 ? db : 0);
    const int dy = (a == 1 ? da : 0) + (b == 1 ? db : 0);
    const int dx = (a == 2 ? da : 0) + (b == 2 ? db : 0);
    return reader_.at(2 * (k_ + i) + dz, dy, dx);
  }

  __device__ bool is_at_edge(int i) const {
    bool edge = false;
    for (int a = 0; a < 3; ++a) edge = edge || (Class::is_odd(a) && !is_inside(i, a, 1));
    return edge;
  }
  /// +1, or -1 at the edge, where the value is not used.
  __device__ int ahead(int i, int axis) const { return is_inside(i, axis, 1) ? 1 : -1; }

  __device__ T edge_prediction(int i) const {
    T inner = 0;
    T outer = 0;
    int inner_axes = 0;
    int outer_axes = 0;
    CUSZI_UNROLL
    for (int a = 0; a < 3; ++a) {
      if (!Class::is_odd(a)) continue;
      const Line& line = lines_[i][a];
      if (is_inside(i, a, 1)) {
        inner += spline_from(line.low + line.high, line.far_low + line.far_high);
        ++inner_axes;
      } else {
        outer += static_cast<T>(1.5) * line.low - static_cast<T>(0.5) * line.far_low;
        ++outer_axes;
      }
    }
    return inner_axes != 0 ? inner / static_cast<float>(inner_axes)
                           : outer / static_cast<float>(outer_axes);
  }

  __device__ void add_pairs(int reach, const T*& weights, T (&sums)[count]) const {
    CUSZI_UNROLL
    for (int a = 0; a < 3; ++a) {
      if (!Class::is_odd(a)) continue;
      const T weight = *weights++;
      for (int i = 0; i < count; ++i) sums[i] += weight * (lines_[i][a].low + lines_[i][a].high);
    }
    CUSZI_UNROLL
    for (int a = 0; a < 3; ++a) {
      if (!Class::is_odd(a)) continue;
      const T weight = *weights++;
      for (int i = 0; i < count; ++i) {
        sums[i] += weight * (lines_[i][a].far_low + lines_[i][a].far_high);
      }
    }
    if (reach >= 5) add_far_pairs(reach, weights, sums);
  }

  __device__ void add_far_pairs(int reach, const T*& weights, T (&sums)[count]) const {
    T low5[count][3];
    T high5[count][3];
    CUSZI_UNROLL
    for (int a = 0; a < 3; ++a) {
      if (!Class::is_odd(a)) continue;
      const T weight = *weights++;
      for (int i = 0; i < count; ++i) {
        const Line& line = lines_[i][a];
        low5[i][a] = is_inside(i, a, -5) ? along(reader_, i, a, -5)
                                         : 3 * (line.far_low - line.low) + line.high;
        high5[i][a] = is_inside(i, a, 5) ? along(reader_, i, a, 5)
                                         : 3 * (line.far_high - line.high) + line.low;
        sums[i] += weight * (low5[i][a] + high5[i][a]);
      }
    }
    if (reach < 7) return;
    CUSZI_UNROLL
    for (int a = 0; a < 3; ++a) {
      if (!Class::is_odd(a)) continue;
      const T weight = *weights++;
      for (int i = 0; i < count; ++i) {
        const Line& line = lines_[i][a];
        const T low7 = is_inside(i, a, -7) ? along(reader_, i, a, -7)
                                           : 3 * (low5[i][a] - line.far_low) + line.low;
        const T high7 = is_inside(i, a, 7) ? along(reader_, i, a, 7)
                                           : 3 * (high5[i][a] - line.far_high) + line.high;
        sums[i] += weight * (low7 + high7);
      }
    }
  }

  __device__ void add_diagonals(const T*& weights, T (&sums)[count]) const {
    CUSZI_UNROLL
    for (int a = 0; a < 3; ++a) {
      CUSZI_UNROLL
      for (int b = a + 1; b < 3; ++b) {
        if (!Class::is_odd(a) || !Class::is_odd(b)) continue;
        const T weight = *weights++;
        for (int i = 0; i < count; ++i) {
          T group = across(i, a, -1, b, -1) + across(i, a, -1, b, ahead(i, b));
          group += across(i, a, ahead(i, a), b, -1) + across(i, a, ahead(i, a), b, ahead(i, b));
          sums[i] += weight * group;
        }
      }
    }
    if (Class::order == 3) add_corners(weights, sums);
  }

  __device__ void add_corners(const T*& weights, T (&sums)[count]) const {
    const T weight = *weights++;
    CUSZI_UNROLL
    for (int i = 0; i < count; ++i) {
      const auto at = [&](int dz, int dy, int dx) { return reader_.at(2 * (k_ + i) + dz, dy, dx); };
      const int z = ahead(i, 0);
      const int y = ahead(i, 1);
      const int x = ahead(i, 2);
      T corners = at(-1, -1, -1) + at(-1, -1, x);
      corners += at(-1, y, -1) + at(-1, y, x);
      corners += at(z, -1, -1) + at(z, -1, x);
      corners += at(z, y, -1) + at(z, y, x);
      sums[i] += weight * corners;
    }
  }

  __device__ void add_sides(const T*& weights, T (&sums)[count]) const {
    CUSZI_UNROLL
    for (int a = 0; a < 3; ++a) {
      CUSZI_UNROLL
      for (int b = 0; b < 3; ++b) {
        if (!Class::is_odd(a) || !Class::is_even(b)) continue;
        const T weight = *weights++;
        for (int i = 0; i < count; ++i) {
          const int before = is_inside(i, b, -2) ? -2 : 2;
          const int behind = is_inside(i, b, 2) ? 2 : -2;
          T group = across(i, a, -1, b, before) + across(i, a, -1, b, behind);
          group += across(i, a, ahead(i, a), b, before) + across(i, a, ahead(i, a), b, behind);
          sums[i] += weight * group;
        }
      }
    }
  }

  __device__ void add_slices(const T*& weights, T (&sums)[count]) const {
    const Reader low = reader_.in_low_slice();
    const Reader high = reader_.in_high_slice();
    const T same_weight = *weights++;
    const T near_weight = *weights++;
    const T far_weight = *weights++;
    CUSZI_UNROLL
    for (int i = 0; i < count; ++i) {
      const int dz = 2 * (k_ + i);
      sums[i] += same_weight * (low.at(dz, 0, 0) + high.at(dz, 0, 0));
      T near = 0;
      T far = 0;
      CUSZI_UNROLL
      for (int a = 0; a < 3; ++a) {
        if (!Class::is_odd(a)) continue;
        const Line below = line_in(low, i, a);
        const Line above = line_in(high, i, a);
        near += below.low + below.high;
        near += above.low + above.high;
        far += below.far_low + below.far_high;
        far += above.far_low + above.far_high;
      }
      sums[i] += near_weight * near;
      sums[i] += far_weight * far;
    }
  }

  const Reader& reader_;
  const CubePlace& place_;
  int k_;
  Line lines_[count][3] = {};
};

/// Sums of magnitudes around the k-th point, by feature.
template <class Class, Borders borders>
class CubeMagnitudes {
 public:
  using Reader = CubeReader<Class, std::uint8_t>;

  __device__ CubeMagnitudes(const Reader& reader, const CubePlace& place, int k)
      : reader_(reader), k_(k) {
    low_[0] = !checks(0) || place.z + 2 * k >= 1 ? -1 : 1;
    low_[1] = !checks(1) || place.y >= 1 ? -1 : 1;
    low_[2] = !checks(2) || place.x >= 1 ? -1 : 1;
    high_[0] = !checks(0) || place.z + 2 * k + 1 < place.depth ? 1 : -1;
    high_[1] = !checks(1) || place.y + 1 < place.height ? 1 : -1;
    high_[2] = !checks(2) || place.x + 1 < place.width ? 1 : -1;
  }

  /// Adds all neighbours at distance 1 that are coded earlier.
  __device__ void add_to(Features& f) const {
    CUSZI_UNROLL
    for (unsigned moved = 1; moved < 8; ++moved) {
      if (Class::is_slice && ((moved >> 1) & 1U) != 0) continue;
      const unsigned order = Class::order_with(moved);
      if (order >= Class::order) continue;
      const bool moves_once = (moved & (moved - 1)) == 0;
      const unsigned feature = order == 0 ? parent : moves_once ? direct : diagonal;
      f[feature] += sum_of(moved);
    }
    if (Class::is_enclosed) {
      f[same_point] += reader_.in_low_slice().at(2 * k_, 0, 0);
      f[same_point] += reader_.in_high_slice().at(2 * k_, 0, 0);
    }
  }

 private:
  static constexpr bool checks(int axis) {
    return borders == Borders::all || (borders == Borders::rows && axis == 2);
  }

  /// Over the neighbours at 1 along the axes of `moved`.
  __device__ std::int32_t sum_of(unsigned moved) const {
    std::int32_t sum = 0;
    CUSZI_UNROLL
    for (unsigned side = 0; side < 8; ++side) {
      if ((side & ~moved) != 0) continue;
      int d[3];
      CUSZI_UNROLL
      for (unsigned a = 0; a < 3; ++a) {
        const bool moves = ((moved >> a) & 1U) != 0;
        d[a] = !moves ? 0 : ((side >> a) & 1U) != 0 ? high_[a] : low_[a];
      }
      sum += reader_.at(2 * k_ + d[0], d[1], d[2]);
    }
    return sum;
  }

  const Reader& reader_;
  int k_;
  int low_[3];
  int high_[3];
};

}  // namespace cuszi::gpu

#pragma once

#include "gpu/multilevel/device_class.cuh"

namespace cuszi::gpu {

// Large cubes, 16 bytes of a row at a time: less than half of the instructions of regions
// (cube_point.cuh). A thread has four vectors, one per plane of a tile across an odd axis; planes
// share neighbouring rows. Tiles at z and y faces have their own thread blocks, which work plane by
// plane. A launch has all classes of a pass.

template <class T>
struct alignas(16) Vec {
  static constexpr int size = 16 / sizeof(T);

  T of[size];

  __device__ friend Vec operator+(const Vec& a, const Vec& b) {
    Vec sum;
    CUSZI_UNROLL
    for (int i = 0; i < size; ++i) sum.of[i] = a.of[i] + b.of[i];
    return sum;
  }
};

/// One value per element of a Vec.
template <class Value, int size>
struct alignas(sizeof(Value) * size) Packed {
  Value of[size];
};

template <class V, class Value>
CUSZI_HD bool is_aligned_for(const Value* memory) {
  return reinterpret_cast<std::uintptr_t>(memory) % alignof(V) == 0;
}

template <class V, class Value>
__device__ V load(const Value* from) {
  return *reinterpret_cast<const V*>(from);
}
template <class V, class Value>
__device__ void store(const V& values, Value* to) {
  *reinterpret_cast<V*>(to) = values;
}

/// Odd axes of a class. `a` is z or y, `b` the other; z if both are odd.
enum class Family { x, a, ab, ax, abx };

CUSZI_HD constexpr bool has_a(Family family) { return family != Family::x; }
CUSZI_HD constexpr bool has_b(Family family) {
  return family == Family::ab || family == Family::abx;
}
CUSZI_HD constexpr bool has_x(Family family) { return family != Family::a && family != Family::ab; }

/// In order: z, y, x; zy, zx, yx; zyx.
CUSZI_HD constexpr Family family_of(int order, std::uint32_t number) {
  if (order == 1) return number < 2 ? Family::a : Family::x;
  if (order == 2) return number == 0 ? Family::ab : Family::ax;
  return Family::abx;
}

/// Inner tiles have all neighbours along z and y.
enum class Tiles { inner, faces };

/// Tiles along z or y; [begin, end) are inner.
struct TileAxis {
  std::uint32_t points;
  std::uint32_t all;
  std::uint32_t begin;
  std::uint32_t end;

  CUSZI_HD std::uint32_t inner() const { return end - begin; }
  CUSZI_HD std::uint32_t outer() const { return all - inner(); }
  CUSZI_HD std::uint32_t outer_tile(std::uint32_t i) const { return i < begin ? i : i + inner(); }
  CUSZI_HD std::uint32_t size_of(std::uint32_t tile) const {
    return points - 4 * tile < 4 ? points - 4 * tile : 4;
  }
};

template <class T>
struct VectorClass {
  T weights[Stencil::most_groups];
  T background;
  T snap;
  T slope_scale;
  T spread_scale;
  std::uint64_t start;  ///< in the pass
  std::uint32_t width;  ///< points per row
  std::uint32_t group;
  TileAxis z;
  TileAxis y;
  std::uint8_t z_odd;
  std::uint8_t y_odd;
  bool a_is_y;
  std::uint32_t first_at_faces;  ///< see VectorPass
  std::uint32_t first_in_slab;   ///< see VectorPass

  /// Per plane of x.
  CUSZI_HD std::uint32_t tiles_at_faces() const {
    return z.outer() * y.all + z.inner() * y.outer();
  }
};

/// Planes processed together.
template <Tiles tiles>
inline constexpr int planes_of = tiles == Tiles::inner ? 4 : 1;

/// Thread blocks (grid x; y goes along rows) take tiles at faces, class by class, then inner tiles,
/// slab by slab of equal z for all classes, which thus share rows in the cache.
template <class T>
struct VectorPass {
  static constexpr std::uint32_t most_classes = 3;

  LevelArray<T> array;
  int reach;
  std::uint32_t class_count;
  std::uint32_t blocks_at_faces;
  std::uint32_t blocks_of_slab;
  std::uint32_t slabs;
  VectorClass<T> classes[most_classes];
};

struct VectorBlock {
  std::uint32_t number;  ///< of the class
  Tiles tiles;
  std::uint32_t slab;   ///< of inner tiles
  std::uint32_t index;  ///< among the class's tiles at faces, or in the slab
};

template <class T>
__device__ VectorBlock vector_block(const VectorPass<T>& pass) {
  VectorBlock block{0, Tiles::faces, 0, blockIdx.x};
  if (blockIdx.x >= pass.blocks_at_faces) {
    const std::uint32_t inner = blockIdx.x - pass.blocks_at_faces;
    block.tiles = Tiles::inner;
    block.slab = inner / pass.blocks_of_slab;
    block.index = inner - block.slab * pass.blocks_of_slab;
  }
  const auto first = [&](std::uint32_t number) {
    const VectorClass<T>& c = pass.classes[number];
    return block.tiles == Tiles::faces ? c.first_at_faces : c.first_in_slab;
  };
  while (block.number + 1 < pass.class_count && block.index >= first(block.number + 1))
    ++block.number;
  block.index -= first(block.number);
  return block;
}

/// Needs has_vectors().
template <class T>
VectorPass<T> vector_pass(const PassView<T>& pass);

template <class T, Family family, Tiles tiles>
class VectorPlace {
 public:
  static constexpr int size = Vec<T>::size;

  __device__ VectorPlace(const VectorPass<T>& pass, const VectorBlock& block)
      : pass_(pass), own_(pass.classes[block.number]) {
    const unsigned warp = threadIdx.x / 32;
    const unsigned lane = threadIdx.x % 32;
    const auto [tile_z, tile_y, is_tile] = tile_of(block, warp / VectorPolicy::warps_x);
    const std::uint32_t across = lane / VectorPolicy::vectors_of_warp;
    x_ = ((blockIdx.y * VectorPolicy::warps_x + warp % VectorPolicy::warps_x) *
              VectorPolicy::vectors_of_warp +
          lane % VectorPolicy::vectors_of_warp) *
         size;
    const std::uint32_t depth = tiles == Tiles::inner ? 4 : own_.z.size_of(tile_z);
    const std::uint32_t height = tiles == Tiles::inner ? 4 : own_.y.size_of(tile_y);
    planes_ = a_is_y() ? height : depth;
    exists_ = is_tile && x_ < own_.width && across < (a_is_y() ? depth : height);
    z_ = 2 * (4 * tile_z + (a_is_y() ? across : 0)) + own_.z_odd;
    y_ = 2 * (4 * tile_y + (a_is_y() ? 0 : across)) + own_.y_odd;
    const LevelLayout& layout = pass.array.layout;
    const auto z_stride = static_cast<std::uint32_t>(layout.strides[1]);
    const auto y_stride = static_cast<std::uint32_t>(layout.strides[2]);
    first_ = z_ * z_stride + y_ * y_stride + x_;
    a_ = a_is_y() ? y_stride : z_stride;
    b_ = a_is_y() ? z_stride : y_stride;
    original_ =
        z_ * static_cast<std::uint32_t>(layout.original_strides[1]) +
        y_ * static_cast<std::uint32_t>(layout.original_strides[2]) +
        (2 * x_ + (has_x(family) ? 1 : 0)) * static_cast<std::uint32_t>(layout.original_strides[3]);
    const std::uint32_t of_plane = 4 * height;
    code_step_ = a_is_y() ? 4 : of_plane;
    code_ = own_.start + (4 * tile_z * own_.y.points + depth * 4 * tile_y) * own_.width +
            depth * height * (x_ & ~3U) + (a_is_y() ? of_plane : 4) * across + (x_ & 3U);
  }

  __device__ bool exists() const { return exists_; }
  __device__ const VectorClass<T>& of_class() const { return own_; }
  __device__ std::uint32_t x() const { return x_; }
  __device__ bool at_begin() const { return x_ == 0; }
  __device__ bool at_end() const { return x_ + size == own_.width; }

  __device__ std::uint32_t planes() const { return planes_; }
  /// If planes are processed one by one.
  __device__ void next_plane() {
    (a_is_y() ? y_ : z_) += 2;
    first_ += 2 * a_;
    original_ += 2 * original_a();
    code_ += code_step_;
  }

  __device__ bool is_inside_a(int d) const { return a_is_y() ? has_y(d) : has_z(d); }
  __device__ bool is_inside_b(int d) const { return a_is_y() ? has_z(d) : has_y(d); }

  /// Offset of the vector at these distances, in the half of even or odd x; mirrored at faces.
  __device__ std::uint32_t row(int da, int db, bool odd) const {
    if constexpr (tiles == Tiles::faces) {
      if (!is_inside_a(da)) da = -da;
      if (!is_inside_b(db)) db = -db;
    }
    return first_ + static_cast<std::uint32_t>(da) * a_ + static_cast<std::uint32_t>(db) * b_ +
           (odd ? pass_.array.layout.odd : 0);
  }
  /// Own vector of a plane.
  __device__ std::uint32_t own(int plane) const {
    return first_ + static_cast<std::uint32_t>(2 * plane) * a_ +
           (has_x(family) ? pass_.array.layout.odd : 0);
  }
  /// Offset in the frame of the first element; others follow at x_step().
  __device__ std::uint32_t original(int plane) const {
    return original_ + static_cast<std::uint32_t>(2 * plane) * original_a();
  }
  __device__ std::uint32_t x_step() const {
    return 2 * static_cast<std::uint32_t>(pass_.array.layout.original_strides[3]);
  }
  /// Code position of the first element.
  __device__ std::uint64_t code_position(int plane) const {
    return code_ + code_step_ * static_cast<unsigned>(plane);
  }

 private:
  struct Tile {
    std::uint32_t z;
    std::uint32_t y;
    bool exists;
  };

  __device__ Tile tile_of(const VectorBlock& block, unsigned warps) const {
    const std::uint32_t in_plane = block.index * VectorPolicy::warps_y + warps;
    if constexpr (tiles == Tiles::inner) {
      const std::uint32_t z = own_.z.begin + block.slab;
      const std::uint32_t y = own_.y.begin + in_plane;
      return {z, y, z < own_.z.end && y < own_.y.end};
    }
    const std::uint32_t whole = own_.z.outer() * own_.y.all;
    if (in_plane < whole) {
      return {own_.z.outer_tile(in_plane / own_.y.all), in_plane % own_.y.all, true};
    }
    const std::uint32_t rest = in_plane - whole;
    const std::uint32_t z = rest / own_.y.outer();
    return {own_.z.begin + z, own_.y.outer_tile(rest % own_.y.outer()), z < own_.z.inner()};
  }

  __device__ bool a_is_y() const {
    return (family == Family::a || family == Family::ax) && own_.a_is_y;
  }
  __device__ bool has_z(int d) const {
    return z_ + static_cast<std::uint32_t>(d) < pass_.array.layout.extents[1];
  }
  __device__ bool has_y(int d) const {
    return y_ + static_cast<std::uint32_t>(d) < pass_.array.layout.extents[2];
  }
  __device__ std::uint32_t original_a() const {
    return static_cast<std::uint32_t>(pass_.array.layout.original_strides[a_is_y() ? 2 : 1]);
  }

  const VectorPass<T>& pass_;
  const VectorClass<T>& own_;
  bool exists_;
  std::uint32_t planes_;
  std::uint32_t x_;
  std::uint32_t y_;
  std::uint32_t z_;
  std::uint32_t first_;
  std::uint32_t a_;
  std::uint32_t b_;
  std::uint32_t original_;
  std::uint32_t code_step_;
  std::uint64_t code_;
};

/// Calls work(VectorPlace) for planes_of planes at a time.
template <Family family, Tiles tiles, class T, class Work>
__device__ void for_planes(const VectorPass<T>& pass, const VectorBlock& block, const Work& work) {
  VectorPlace<T, family, tiles> place(pass, block);
  if (!place.exists()) return;
  if constexpr (tiles == Tiles::inner) {
    work(place);
  } else {
    CUSZI_NO_UNROLL
    for (std::uint32_t k = 0; k < place.planes(); ++k, place.next_plane()) work(place);
  }
}

/// Calls work(VectorPlace) for all of a thread's planes.
template <int order, class T, class Work>
__device__ void for_planes(const VectorPass<T>& pass, const Work& work) {
  constexpr Family first = family_of(order, 0);
  constexpr Family last = family_of(order, VectorPass<T>::most_classes - 1);
  const VectorBlock block = vector_block(pass);
  const bool is_first = first == last || family_of(order, block.number) == first;
  if (block.tiles == Tiles::inner) {
    is_first ? for_planes<first, Tiles::inner>(pass, block, work)
             : for_planes<last, Tiles::inner>(pass, block, work);
  } else {
    is_first ? for_planes<first, Tiles::faces>(pass, block, work)
             : for_planes<last, Tiles::faces>(pass, block, work);
  }
}

/// Values of even x around a vector of odd x, three more per side, extrapolated outside the row.
template <class T>
struct RowWindow {
  static constexpr int size = Vec<T>::size;
  static constexpr int more = 3;

  T values[size + 2 * more + 1];

  /// `i` is relative to the value before the vector's first point.
  __device__ T& operator[](int i) { return values[i + more]; }
  __device__ const T& operator[](int i) const { return values[i + more]; }

  RowWindow() = default;
  /// `row` points to the vector's own position, x of `width`.
  __device__ RowWindow(const T* row, std::uint32_t x, std::uint32_t width, const Vec<T>& own) {
    constexpr int first = -(more + size - 1) / size * size;
    CUSZI_UNROLL
    for (int v = first; v < size + more + 1; v += size) {
      const auto at = static_cast<std::int32_t>(x) + v;
      const bool there = v == 0 || (at >= 0 && at < static_cast<std::int32_t>(width));
      const Vec<T> part = v == 0 ? own : there ? load<Vec<T>>(row + v) : Vec<T>{};
      CUSZI_UNROLL
      for (int i = 0; i < size; ++i) {
        if (v + i >= -more && v + i <= size + more) (*this)[v + i] = part.of[i];
      }
    }
    if (x < more) make_up_before(x);
    if (x + size + more >= width) make_up_behind(x, width);
  }

 private:
  __device__ void make_up_before(std::uint32_t x) {
    CUSZI_UNROLL
    for (int i = -1; i >= -more; --i) {
      if (static_cast<std::int32_t>(x) + i >= 0) continue;
      (*this)[i] = after_three<T>((*this)[i + 1], (*this)[i + 2], (*this)[i + 3]);
    }
  }
  __device__ void make_up_behind(std::uint32_t x, std::uint32_t width) {
    CUSZI_UNROLL
    for (int i = size; i <= size + more; ++i) {
      if (x + static_cast<std::uint32_t>(i) < width) continue;
      (*this)[i] = after_three<T>((*this)[i - 1], (*this)[i - 2], (*this)[i - 3]);
    }
  }
};

/// Rows around a thread's vectors, with replacements outside the array.
template <class T, Family family, Tiles tiles>
class VectorRows {
 public:
  using V = Vec<T>;
  using Place = VectorPlace<T, family, tiles>;

  __device__ VectorRows(const T* values, const Place& place) : values_(values), place_(place) {}

  /// At most one distance exceeds 2.
  __device__ V at(int da, int db, bool odd) const {
    if constexpr (tiles == Tiles::faces) {
      if ((da > 2 || da < -2) && !place_.is_inside_a(da)) {
        return made_up(
            da, [&](int d) { return place_.is_inside_a(d); },
            [&](int d) { return in_array(d, db, odd); });
      }
      if ((db > 2 || db < -2) && !place_.is_inside_b(db)) {
        return made_up(
            db, [&](int d) { return place_.is_inside_b(d); },
            [&](int d) { return in_array(da, d, odd); });
      }
    }
    return in_array(da, db, odd);
  }

  /// Sums of the values at x - 2 and x + 2, mirrored, for points of even x.
  __device__ V beside(int da, int db, const V& own) const {
    const T* const row = values_ + place_.row(da, db, false);
    const T before = place_.at_begin() ? own.of[1] : row[-1];
    const T behind = place_.at_end() ? own.of[V::size - 2] : row[V::size];
    V sum;
    CUSZI_UNROLL
    for (int i = 0; i < V::size; ++i) {
      sum.of[i] = (i == 0 ? before : own.of[i - 1]) + (i == V::size - 1 ? behind : own.of[i + 1]);
    }
    return sum;
  }

  /// Even x around the vector.
  __device__ RowWindow<T> window(int da, const V& own) const {
    return {values_ + place_.row(da, 0, false), place_.x(), place_.of_class().width, own};
  }

  /// Even x after the vector; undefined at the end.
  __device__ T behind(int da, int db) const {
    return place_.at_end() ? T{0} : values_[place_.row(da, db, false) + V::size];
  }

 private:
  __device__ V in_array(int da, int db, bool odd) const {
    return load<V>(values_ + place_.row(da, db, odd));
  }

  /// far_value() along an axis with rows row(d).
  template <class IsInside, class Row>
  __device__ static V made_up(int units, const IsInside& is_inside, const Row& row) {
    const int side = units < 0 ? -1 : 1;
    const V near = row(side);
    const V opposite = row(-side);
    V before = opposite;
    V last = near;
    CUSZI_NO_UNROLL
    for (int distance = 3; distance <= side * units; distance += 2) {
      V next;
      if (is_inside(side * distance)) {
        next = row(side * distance);
      } else {
        const V first = distance == 3 ? row(-3 * side) : distance == 5 ? opposite : near;
        CUSZI_UNROLL
        for (int i = 0; i < V::size; ++i) {
          next.of[i] = after_three<T>(last.of[i], before.of[i], first.of[i]);
        }
      }
      before = last;
      last = next;
    }
    return last;
  }

  const T* values_;
  const Place& place_;
};

/// Sums of both neighbours along x of points of odd x.
template <class T>
__device__ Vec<T> pairs(const Vec<T>& even, T behind) {
  Vec<T> sum;
  CUSZI_UNROLL
  for (int i = 0; i < Vec<T>::size; ++i) {
    sum.of[i] = even.of[i] + (i + 1 < Vec<T>::size ? even.of[i + 1] : behind);
  }
  return sum;
}

}  // namespace cuszi::gpu

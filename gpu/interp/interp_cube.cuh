#pragma once

#include "gpu/field/frame_work.cuh"
#include "gpu/interp/interp_cube_stage.cuh"
#include "gpu/interp/interp_frame.cuh"

namespace cuszi::gpu {

/// For the default 3-D tile without missing points: compile-time geometry, and a thread loads a
/// column's known points once. The closed box is in shared memory, in rows along x.
template <class T, int long_turn>
class InterpCube {
 public:
  static constexpr ByteCount bytes =
      cube_rows * (cube_row_points * sizeof(T) + cube_row_codes * sizeof(QuantCode));

  static constexpr CUSZI_HD Extents3 tile() {
    return {cube_side, cube_side, cube_count * cube_side};
  }
  static bool matches(const InterpFrame<T>& frame) {
    constexpr unsigned most_blocks = 65535;
    return frame.params.tile == tile() && frame.params.anchor == cube_side &&
           frame.missing.words == nullptr && frame.params.order[long_turn] == 2 &&
           grid(frame).y <= most_blocks && grid(frame).z <= most_blocks;
  }
  static dim3 grid(const InterpFrame<T>& frame) {
    return {frame.tiles_x, frame.tiles_y, frame.tiles / frame.tiles_x / frame.tiles_y};
  }

  const InterpFrame<T>& frame;

  __device__ explicit InterpCube(const InterpFrame<T>& f)
      : frame(f),
        box_(tile_box(tile(), f.extents, {blockIdx.z, blockIdx.y, blockIdx.x})),
        first_(point_at(box_.first, f.extents)),
        a_axis_(f.params.order[long_turn == 0 ? 1 : 0]),
        a_stride_(a_axis_ == 0 ? f.extents[1] * f.extents[2] : f.extents[2]),
        b_stride_(a_axis_ == 0 ? f.extents[2] : f.extents[1] * f.extents[2]),
        size_(by_place(box_.box)),
        own_(by_place(box_.own)) {}

  __device__ bool is_whole() const { return size_.a == 9 && size_.b == 9 && size_.x == 33; }
  __device__ bool is_inside(const InterpCubePlace& p) const { return p.is_below(size_); }
  __device__ bool is_own(const InterpCubePlace& p) const { return p.is_below(own_); }
  /// Pairs along x are aligned in the frame.
  __device__ bool has_even_rows() const { return frame.extents[2] % 2 == 0; }

  __device__ static T* value(const InterpCubePlace& p) {
    return reinterpret_cast<T*>(shared_memory) + p.row() * cube_row_points + p.x;
  }
  __device__ static QuantCode* code(const InterpCubePlace& p) {
    constexpr ByteCount values = cube_rows * cube_row_points * sizeof(T);
    return reinterpret_cast<QuantCode*>(shared_memory + values) + p.row() * cube_row_codes + p.x;
  }
  __device__ std::uint64_t point(const InterpCubePlace& p) const {
    return first_ + p.a * a_stride_ + p.b * b_stride_ + p.x;
  }
  __device__ Cubic cubic(CubeAxis axis) const {
    return frame.params.cubic[axis == CubeAxis::x   ? 2
                              : axis == CubeAxis::a ? a_axis_
                                                    : 1 - a_axis_];
  }

  /// Every `pace`-th point of the tile's own rows; a group of threads per row.
  template <unsigned pace, class Each>
  __device__ static void for_each_own_place(const Each& each) {
    constexpr unsigned width = 32 / pace;
    const std::uint32_t row = threadIdx.x / width;
    const std::uint32_t x = threadIdx.x % width * pace;
#pragma unroll
    for (std::uint32_t a = 0; a < 8; ++a) {
#pragma unroll
      for (std::uint32_t b = 0; b < 8; b += InterpPolicy::threads / width)
        each(InterpCubePlace{a, b + row, x});
    }
  }
  /// Every `pace`-th point of the closed box, without its far face along x.
  template <unsigned pace, class Each>
  __device__ static void for_each_place(const Each& each) {
    for_each_own_place<pace>(each);
    constexpr unsigned width = 32 / pace;
    const std::uint32_t row = threadIdx.x / width;
    const std::uint32_t x = threadIdx.x % width * pace;
#pragma unroll
    for (std::uint32_t a = 0; a < 8; a += InterpPolicy::threads / width)
      each(InterpCubePlace{a + row, 8, x});
#pragma unroll
    for (std::uint32_t b = 0; b < 9; b += InterpPolicy::threads / width) {
      if (b + row < 9) each(InterpCubePlace{8, b + row, x});
    }
  }
  template <class Each>
  __device__ static void for_each_far_place(const Each& each) {
    if (threadIdx.x < cube_rows)
      each(InterpCubePlace{threadIdx.x / 9, threadIdx.x % 9, cube_count * cube_side});
  }

  /// Calls each(position in the frame's anchor grid, position in the box).
  template <class Each>
  __device__ void for_each_anchor(const Each& each) const {
    const InterpCubePlace p{threadIdx.x / 10 * cube_side, threadIdx.x / 5 % 2 * cube_side,
                            threadIdx.x % 5 * cube_side};
    if (!is_inside(p)) return;
    Extents3 at{p.a, p.b, p.x};
    if (a_axis_ != 0) at = {p.b, p.a, p.x};
    for (unsigned axis = 0; axis < 3; ++axis) at[axis] = (at[axis] + box_.first[axis]) / cube_side;
    each(point_at(at, frame.anchor_grid), p);
  }

 private:
  __device__ InterpCubePlace by_place(const Extents32& size) const {
    return a_axis_ == 0 ? InterpCubePlace{size[0], size[1], size[2]}
                        : InterpCubePlace{size[1], size[0], size[2]};
  }

  TileBox box_;
  std::uint64_t first_;
  unsigned a_axis_;  ///< z or y
  std::uint64_t a_stride_;
  std::uint64_t b_stride_;
  InterpCubePlace size_;
  InterpCubePlace own_;
};

template <class T, class Cube, class Stage, bool whole>
class CubeColumn {
 public:
  static constexpr int points = Stage::points;

  __device__ CubeColumn(const Cube& cube, std::uint32_t i)
      : cube_(cube),
        first_(Stage::column(i)),
        values_(Cube::value(first_)),
        codes_(Cube::code(first_)) {}

  __device__ bool is_there() const { return whole || cube_.is_inside(first_); }

  __device__ InterpCubePlace place(int k) const {
    return Stage::along(first_, distance(2 * k + 1));
  }
  __device__ bool has(int k) const { return whole || cube_.is_inside(place(k)); }
  __device__ T& value(int k) const { return values_[distance(2 * k + 1) * Stage::value_stride]; }
  __device__ QuantCode& code(int k) const {
    return codes_[distance(2 * k + 1) * Stage::code_stride];
  }

  /// Known points outside the box are loaded from inside, with weight 0.
  __device__ void predict_points(T (&prediction)[points]) const {
    T known[points + 3];
#pragma unroll
    for (int j = -1; j < points + 2; ++j)
      known[j + 1] = values_[knows(j) ? distance(2 * j) * Stage::value_stride : 0];
    const Cubic cubic = cube_.cubic(Stage::axis);
#pragma unroll
    for (int k = 0; k < points; ++k) {
      const auto spline = spline_for<T>(cubic, {knows(k - 1), knows(k + 1), knows(k + 2)});
      prediction[k] = predict(spline, known[k], known[k + 1], known[k + 2], known[k + 3]);
    }
  }

 private:
  static constexpr int distance(int spacings) { return spacings * int{Stage::spacing}; }

  /// Along x, known points of neighbouring cubes exist too.
  __device__ bool knows(int j) const {
    constexpr bool along_x = Stage::axis == CubeAxis::x;
    if (j < 0) return along_x && first_.x != 0;
    if (j > points && !along_x) return false;
    if (!whole) return cube_.is_inside(Stage::along(first_, distance(2 * j)));
    return j <= points || first_.x != (cube_count - 1) * cube_side;
  }

  const Cube& cube_;
  InterpCubePlace first_;
  T* values_;
  QuantCode* codes_;
};

/// work(quantizer, column, predictions), by levels and turns.
template <class T, int long_turn, bool whole>
class InterpCubeStages {
 public:
  using Cube = InterpCube<T, long_turn>;

  template <class Work>
  static __device__ void run(const Cube& cube, const Work& work) {
    run_level<3>(cube, work);
    run_level<2>(cube, work);
    run_level<1>(cube, work);
  }

 private:
  template <int level, class Work>
  static __device__ void run_level(const Cube& cube, const Work& work) {
    run_stage<InterpCubeStage<level, 0, long_turn>>(cube, work);
    run_stage<InterpCubeStage<level, 1, long_turn>>(cube, work);
    run_stage<InterpCubeStage<level, 2, long_turn>>(cube, work);
  }

  template <class Stage, class Work>
  static __device__ void run_stage(const Cube& cube, const Work& work) {
#pragma unroll 1
    for (std::uint32_t i = threadIdx.x; i < Stage::columns; i += InterpPolicy::threads) {
      const CubeColumn<T, Cube, Stage, whole> column(cube, i);
      if (!column.is_there()) continue;
      T prediction[Stage::points];
      column.predict_points(prediction);
      work(cube.frame.quantizers[Stage::level - 1], column, prediction);
    }
    __syncthreads();
  }
};

}  // namespace cuszi::gpu

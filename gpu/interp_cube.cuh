#pragma once

#include "gpu/frame_work.cuh"
#include "gpu/interp_frame.cuh"

namespace cuszi::gpu {

/// The tile that the encoder chooses in three dimensions, of a frame without missing points: the
/// same work as for any tile, but all of its geometry is known to the compiler. The closed box lies
/// in shared memory with its axes in the order of their turns; only the turn of the long axis, x,
/// is a template parameter.
template <class T, int long_turn>
class InterpCube {
 public:
  static constexpr Extents3 tile{8, 8, 32};
  static constexpr int levels = 3;
  static constexpr std::uint32_t anchor = 8;

  static bool matches(const InterpFrame<T>& frame) {
    return frame.params.tile == tile && frame.params.anchor == anchor &&
           frame.missing.words == nullptr && frame.params.order[long_turn] == 2;
  }

  static constexpr std::uint32_t points = 9 * 9 * 33;
  static constexpr std::uint32_t spline_count = 9 + 9 + 33;
  static constexpr ByteCount bytes =
      spline_count * sizeof(Spline<T>) + points * (sizeof(T) + sizeof(QuantCode));

  T* values;
  QuantCode* codes;
  TileBox box;

  __device__ explicit InterpCube(const InterpFrame<T>& f)
      : values(reinterpret_cast<T*>(shared_memory + spline_count * sizeof(Spline<T>))),
        codes(reinterpret_cast<QuantCode*>(values + points)),
        box(f.tile(blockIdx.x)),
        frame_(f),
        y_turn_(f.params.order[first_short] == 1 ? first_short : second_short),
        z_turn_(y_turn_ == first_short ? second_short : first_short),
        size_{size_at(0), size_at(1), size_at(2)},
        plane_(f.extents[1] * f.extents[2]),
        first_point_(point_at(box.first, f.extents)) {}

  /// One spline per turn and coordinate: a coordinate tells its level.
  __device__ void make_splines() const {
    if (threadIdx.x >= spline_count) return;
    const unsigned turn = threadIdx.x < first_spline(1) ? 0 : threadIdx.x < first_spline(2) ? 1 : 2;
    const std::uint32_t at = threadIdx.x - first_spline(turn);
    const std::uint32_t spacing = at & (0 - at);
    if (at == 0 || spacing >= anchor) return;
    const unsigned axis = turn == long_turn ? 2 : turn == y_turn_ ? 1 : 0;
    const std::uint32_t size = turn == 0 ? size_[0] : turn == 1 ? size_[1] : size_[2];
    splines()[threadIdx.x] = spline_for<T>(frame_.params.cubic[axis], at, spacing, size);
  }

  /// Calls each(point in the frame, offset) for the box: a warp per row, then the far column.
  template <class Each>
  __device__ void for_each_box_point(const Each& each) const {
    for_each_row(box.box[0], box.box[1], [&](std::uint64_t point, std::uint32_t offset) {
      if (lane() < box.box[2]) each(point + lane(), offset + lane() * stride(long_turn));
    });
    const std::uint32_t z = threadIdx.x / 9;
    const std::uint32_t y = threadIdx.x % 9;
    if (box.box[2] == 33 && z < box.box[0] && y < box.box[1]) {
      each(first_point_ + z * plane_ + y * frame_.extents[2] + 32,
           row_offset(z, y) + 32 * stride(long_turn));
    }
  }

  template <class Each>
  __device__ void for_each_own_point(const Each& each) const {
    for_each_row(box.own[0], box.own[1], [&](std::uint64_t point, std::uint32_t offset) {
      if (lane() < box.own[2]) each(point + lane(), offset + lane() * stride(long_turn));
    });
  }

  /// Calls each(anchor in the frame's grid, offset) for the anchors of the box.
  template <class Each>
  __device__ void for_each_anchor(const Each& each) const {
    const std::uint32_t z = threadIdx.x / 10 * anchor;
    const std::uint32_t y = threadIdx.x / 5 % 2 * anchor;
    const std::uint32_t x = threadIdx.x % 5 * anchor;
    if (z >= box.box[0] || y >= box.box[1] || x >= box.box[2]) return;
    const Extents3 at{(box.first[0] + z) / anchor, (box.first[1] + y) / anchor,
                      (box.first[2] + x) / anchor};
    each(point_at(at, frame_.anchor_grid), row_offset(z, y) + x * stride(long_turn));
  }

  /// Predicts all points, level by level and turn by turn: result = point(quantizer, offset,
  /// prediction), then store(offset, result).
  template <class Point, class Store>
  __device__ void run_stages(const Point& point, const Store& store) const {
    const bool whole = box.box[0] == 9 && box.box[1] == 9 && box.box[2] == 33;
    if (whole)
      run_levels<true>(point, store);
    else
      run_levels<false>(point, store);
  }

 private:
  static constexpr int first_short = long_turn == 0 ? 1 : 0;
  static constexpr int second_short = long_turn == 2 ? 1 : 2;

  static constexpr std::uint32_t extent(int turn) { return turn == long_turn ? 33 : 9; }
  static constexpr std::uint32_t stride(int turn) {
    return turn == 2 ? 1 : turn == 1 ? extent(2) : extent(1) * extent(2);
  }
  static constexpr std::uint32_t first_spline(unsigned turn) {
    return turn == 0 ? 0 : turn == 1 ? extent(0) : extent(0) + extent(1);
  }

  static __device__ Spline<T>* splines() { return reinterpret_cast<Spline<T>*>(shared_memory); }
  static __device__ std::uint32_t lane() { return threadIdx.x % 32; }

  __device__ std::uint32_t size_at(int turn) const {
    return turn == long_turn ? box.box[2] : turn == y_turn_ ? box.box[1] : box.box[0];
  }
  __device__ std::uint32_t row_offset(std::uint32_t z, std::uint32_t y) const {
    constexpr std::uint32_t a = stride(first_short);
    constexpr std::uint32_t b = stride(second_short);
    return y_turn_ == first_short ? y * a + z * b : z * a + y * b;
  }
  template <class Row>
  __device__ void for_each_row(std::uint32_t zs, std::uint32_t ys, const Row& row) const {
    for (std::uint32_t z = 0; z < zs; ++z) {
      for (std::uint32_t y = (threadIdx.x / 32 - z) % (max_threads / 32); y < ys;
           y += max_threads / 32) {
        row(first_point_ + z * plane_ + y * frame_.extents[2], row_offset(z, y));
      }
    }
  }

  template <bool whole, class Point, class Store>
  __device__ void run_levels(const Point& point, const Store& store) const {
    run_level<3, whole>(point, store);
    run_level<2, whole>(point, store);
    run_level<1, whole>(point, store);
  }
  template <int level, bool whole, class Point, class Store>
  __device__ void run_level(const Point& point, const Store& store) const {
    run_stage<level, 0, whole>(point, store);
    run_stage<level, 1, whole>(point, store);
    run_stage<level, 2, whole>(point, store);
  }

  /// How many points the stage has along the axis of turn `t`; without the far face at level 1
  /// where no later prediction needs it (see InterpPlan).
  template <int level, int turn>
  static constexpr std::uint32_t count(int t) {
    constexpr std::uint32_t spacing = 1U << (level - 1);
    if (t == turn) return (extent(t) - 1) / (2 * spacing);
    if (t > turn) return (extent(t) - 1) / (2 * spacing) + 1;
    return level == 1 ? extent(t) - 1 : (extent(t) - 1) / spacing + 1;
  }

  /// Points of a stage do not depend on each other: a few are on their way at once. What a thread
  /// makes of a point that is not there is not stored: that is cheaper than a branch.
  template <int level, int turn, bool whole, class Point, class Store>
  __device__ void run_stage(const Point& point, const Store& store) const {
    constexpr std::uint32_t spacing = 1U << (level - 1);
    constexpr std::uint32_t n1 = count<level, turn>(1);
    constexpr std::uint32_t n2 = count<level, turn>(2);
    constexpr std::uint32_t total = count<level, turn>(0) * n1 * n2;
    constexpr std::uint32_t rounds = (total + max_threads - 1) / max_threads;
    constexpr std::uint32_t batch = rounds < 4 ? rounds : 4;
    constexpr auto distance = static_cast<std::ptrdiff_t>(stride(turn) * spacing);
    constexpr auto step = [](int t) { return t < turn ? spacing : 2 * spacing; };
    constexpr auto first = [](int t) { return t == turn ? spacing : 0; };
    const Quantizer<T>& quantizer = frame_.quantizers[level - 1];
    for (std::uint32_t start = threadIdx.x; start < total; start += batch * max_threads) {
      using Result = decltype(point(quantizer, 0U, T{}));
      std::uint32_t offset[batch];
      bool inside[batch];
      Result result[batch];
#pragma unroll
      for (std::uint32_t k = 0; k < batch; ++k) {
        const std::uint32_t own = start + k * max_threads;
        const std::uint32_t i = own < total ? own : start;
        const std::uint32_t at0 = first(0) + i / (n1 * n2) * step(0);
        const std::uint32_t at1 = first(1) + i / n2 % n1 * step(1);
        const std::uint32_t at2 = first(2) + i % n2 * step(2);
        const std::uint32_t at = turn == 0 ? at0 : turn == 1 ? at1 : at2;
        inside[k] = own < total && (whole || (at0 < size_[0] && at1 < size_[1] && at2 < size_[2]));
        offset[k] = at0 * stride(0) + at1 * stride(1) + at2;
        const Spline<T> spline = splines()[first_spline(turn) + at];
        result[k] =
            point(quantizer, offset[k], predict_on_line(spline, values + offset[k], distance));
      }
#pragma unroll
      for (std::uint32_t k = 0; k < batch; ++k) {
        if (inside[k]) store(offset[k], result[k]);
      }
    }
    __syncthreads();
  }

  const InterpFrame<T>& frame_;
  int y_turn_;
  int z_turn_;
  Extents32 size_;  ///< of the box, by turn
  std::uint64_t plane_;
  std::uint64_t first_point_;
};

template <class T, int long_turn>
__global__ void __launch_bounds__(max_threads)
    encode_cubes(const __grid_constant__ InterpFrame<T> frame, const T* values, QuantCode* codes,
                 Exceptions exceptions) {
  InterpCube<T, long_turn> cube(frame);
  const auto no_delta = static_cast<QuantCode>(frame.params.radius);
  cube.make_splines();
  cube.for_each_box_point(
      [&](std::uint64_t point, std::uint32_t offset) { cube.values[offset] = values[point]; });
  cube.for_each_anchor([&](std::uint64_t, std::uint32_t offset) { cube.codes[offset] = no_delta; });
  __syncthreads();
  cube.run_stages(
      [&](const Quantizer<T>& quantizer, std::uint32_t offset, T prediction) {
        return quantise(quantizer, cube.values[offset], prediction);
      },
      [&](std::uint32_t offset, const Quantised<T>& q) {
        cube.values[offset] = q.restored;
        cube.codes[offset] = q.code;
      });
  cube.for_each_own_point([&](std::uint64_t point, std::uint32_t offset) {
    const QuantCode code = cube.codes[offset];
    codes[point] = code;
    if (code == outlier_code) exceptions.add_outlier(point);
  });
}

template <class T, int long_turn>
__global__ void __launch_bounds__(max_threads)
    decode_cubes(const __grid_constant__ InterpFrame<T> frame, const QuantCode* codes,
                 SparseView outliers, T* values) {
  InterpCube<T, long_turn> cube(frame);
  cube.make_splines();
  cube.for_each_box_point([&](std::uint64_t point, std::uint32_t offset) {
    const QuantCode code = codes[point];
    cube.codes[offset] = code;
    if (code == outlier_code) cube.values[offset] = value_of<T>(outliers.find(point));
  });
  __syncthreads();
  cube.for_each_anchor([&](std::uint64_t anchor, std::uint32_t offset) {
    cube.values[offset] = frame.anchors[anchor];
  });
  __syncthreads();
  cube.run_stages(
      [&](const Quantizer<T>& quantizer, std::uint32_t offset, T prediction) {
        const QuantCode code = cube.codes[offset];
        const T exact = cube.values[offset];  // where the code is an outlier's
        const T restored = restore(quantizer, prediction, code);
        return code == outlier_code ? exact : restored;
      },
      [&](std::uint32_t offset, T restored) { cube.values[offset] = restored; });
  cube.for_each_own_point(
      [&](std::uint64_t point, std::uint32_t offset) { values[point] = cube.values[offset]; });
}

}  // namespace cuszi::gpu

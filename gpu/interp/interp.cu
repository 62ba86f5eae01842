#include <algorithm>

#include "gpu/field/frame_work.cuh"
#include "gpu/field/histogram.cuh"
#include "gpu/interp/interp.cuh"
#include "gpu/interp/interp_cube_decode.cuh"
#include "gpu/interp/interp_cube_encode.cuh"
#include "gpu/runtime/copies.hpp"
#include "gpu/runtime/launch.cuh"

namespace cuszi::gpu {

namespace {

struct Whole {  ///< no missing points
  static constexpr bool masked = false;
  static constexpr bool shared = true;
};
struct Masked {
  static constexpr bool masked = true;
  static constexpr bool shared = true;
};
struct Large {  ///< boxes exceed shared memory
  static constexpr bool masked = true;
  static constexpr bool shared = false;
};

/// A tile's closed box. Strides are those of a complete box, also at the frame's end.
template <class T, class Mode>
struct Box {
  const InterpFrame<T>& frame;
  TileBox tile;
  Spline<T>* splines;  ///< by axis and coordinate, which implies the level
  T* values;
  QuantCode* codes;
  std::uint8_t* missing;

  __device__ Box(const InterpFrame<T>& f, std::uint32_t i)
      : frame(f),
        tile(f.tile(i)),
        splines(reinterpret_cast<Spline<T>*>(Mode::shared ? shared_memory
                                                          : f.boxes + blockIdx.x * f.box_bytes)),
        values(reinterpret_cast<T*>(splines + f.plan.splines)),
        codes(reinterpret_cast<QuantCode*>(values + f.plan.box_points())),
        missing(reinterpret_cast<std::uint8_t*>(codes + f.plan.box_points())) {}

  static ByteCount bytes(const InterpPlan& plan) {
    return plan.splines * sizeof(Spline<T>) +
           plan.box_points() * (sizeof(T) + sizeof(QuantCode) + (Mode::masked ? 1 : 0));
  }

  __device__ std::uint32_t offset(std::uint32_t z, std::uint32_t y, std::uint32_t x) const {
    return (z * frame.plan.size[1] + y) * frame.plan.size[2] + x;
  }

  __device__ void make_splines() {
    for (std::uint32_t i = threadIdx.y * blockDim.x + threadIdx.x; i < frame.plan.splines;
         i += blockDim.x * blockDim.y) {
      const unsigned axis = i >= frame.plan.first_spline[0]   ? 0
                            : i >= frame.plan.first_spline[1] ? 1
                                                              : 2;
      const std::uint32_t size = axis == 0 ? tile.box[0] : axis == 1 ? tile.box[1] : tile.box[2];
      const std::uint32_t at = i - frame.plan.first_spline[axis];
      const std::uint32_t spacing = at & -at;
      if (at == 0 || spacing >= frame.params.anchor) continue;
      splines[i] = spline_for<T>(frame.params.cubic[axis], at, spacing, size);
    }
  }

  /// Calls each(point in the frame, offset in the box) for the first size[axis] points of each
  /// axis; a row of threads per row of points.
  template <class Each>
  __device__ void for_each_point(const Extents32& size, const Each& each) const {
    const std::uint32_t rows = frame.plan.size[1] * size[0];
    for (std::uint32_t row = threadIdx.y; row < rows; row += blockDim.y) {
      const std::uint32_t z = frame.row_to_z(row);
      const std::uint32_t y = row - z * frame.plan.size[1];
      if (y >= size[1]) continue;
      const std::uint64_t point =
          point_at({tile.first[0] + z, tile.first[1] + y, tile.first[2]}, frame.extents);
      const std::uint32_t first = row * frame.plan.size[2];
      for (std::uint32_t x = threadIdx.x; x < size[2]; x += blockDim.x) each(point + x, first + x);
    }
  }

  __device__ void mark_missing(std::uint64_t point, std::uint32_t o) {
    if constexpr (Mode::masked) {
      missing[o] = frame.missing.words != nullptr && frame.missing.test(point) ? 1 : 0;
    }
  }
  __device__ bool is_missing(std::uint32_t o) const {
    if constexpr (Mode::masked) return missing[o] != 0;
    return false;
  }

  /// Anchors have the code of no error.
  __device__ void put_anchors(QuantCode code) {
    for (std::uint32_t i = threadIdx.y * blockDim.x + threadIdx.x; i < frame.plan.anchors;
         i += blockDim.x * blockDim.y) {
      const std::uint32_t point = frame.plan.points[i];
      Extents32 at{};
      Extents3 anchor{};
      bool inside = true;
#pragma unroll
      for (unsigned axis = 0; axis < 3; ++axis) {
        at[axis] = frame.plan.coordinate(point, axis);
        anchor[axis] = (tile.first[axis] + at[axis]) / frame.params.anchor;
        inside = inside && at[axis] < tile.box[axis];
      }
      if (!inside) continue;
      const std::uint32_t o = offset(at[0], at[1], at[2]);
      values[o] = frame.anchors[point_at(anchor, frame.anchor_grid)];
      codes[o] = code;
    }
  }

  /// restored = point(quantizer, offset, prediction), by levels and axes.
  template <class Point>
  __device__ void run_stages(const Point& point) {
    const InterpPlan& plan = frame.plan;
    const unsigned threads = blockDim.x * blockDim.y;
    for (int s = 0; s < plan.stage_count; ++s) {
      const InterpPlan::Stage stage = plan.stages[s];
      const Quantizer<T>& quantizer = frame.quantizers[stage.level - 1];
      const Spline<T>* const of_axis = splines + plan.first_spline[stage.axis];
      for (std::uint32_t i = stage.begin + threadIdx.y * blockDim.x + threadIdx.x; i < stage.end;
           i += threads) {
        const std::uint32_t p = plan.points[i];
        const std::uint32_t z = plan.coordinate(p, 0);
        const std::uint32_t y = plan.coordinate(p, 1);
        const std::uint32_t x = plan.coordinate(p, 2);
        if (z >= tile.box[0] || y >= tile.box[1] || x >= tile.box[2]) continue;
        const std::uint32_t o = offset(z, y, x);
        const T prediction =
            predict_on_line<T>(of_axis[plan.coordinate(p, stage.axis)], values + o, stage.stride);
        values[o] = point(quantizer, o, prediction);
      }
      __syncthreads();
    }
  }
};

template <class T, class Mode>
__device__ void encode_tile(Box<T, Mode>& box, const T* values, QuantCode* codes,
                            const ExceptionSets& exceptions) {
  const auto no_delta = static_cast<QuantCode>(box.frame.params.radius);
  box.make_splines();
  box.for_each_point(box.tile.box, [&](std::uint64_t point, std::uint32_t offset) {
    box.values[offset] = values[point];
    box.mark_missing(point, offset);
  });
  __syncthreads();
  box.put_anchors(no_delta);
  __syncthreads();
  box.run_stages([&](const Quantizer<T>& quantizer, std::uint32_t offset, T prediction) {
    if (box.is_missing(offset)) {
      box.codes[offset] = no_delta;
      return prediction;
    }
    const Quantised<T> q = quantise(quantizer, box.frame.rules, box.values[offset], prediction);
    box.codes[offset] = q.code;
    return q.restored;
  });
  box.for_each_point(box.tile.own, [&](std::uint64_t point, std::uint32_t offset) {
    const QuantCode code = box.codes[offset];
    codes[point] = code;
    if (code == outlier_code) exceptions.add_outlier(point);
  });
}

template <class T, class Mode>
__global__ void __launch_bounds__(InterpPolicy::threads)
    encode_tiles(const __grid_constant__ InterpFrame<T> frame, const T* values, QuantCode* codes,
                 ExceptionSets exceptions) {
  for (std::uint32_t i = blockIdx.x; i < frame.tiles; i += gridDim.x) {
    Box<T, Mode> box(frame, i);
    encode_tile(box, values, codes, exceptions);
    __syncthreads();
  }
}

template <class T, class Mode>
__device__ void decode_tile(Box<T, Mode>& box, const QuantCode* codes, const SparseView& outliers,
                            T* values) {
  box.make_splines();
  box.for_each_point(box.tile.box, [&](std::uint64_t point, std::uint32_t offset) {
    const QuantCode code = codes[point];
    box.codes[offset] = code;
    box.mark_missing(point, offset);
    if (code == outlier_code) box.values[offset] = value_of<T>(outliers.find(point));
  });
  __syncthreads();
  box.put_anchors(static_cast<QuantCode>(box.frame.params.radius));
  __syncthreads();
  box.run_stages([&](const Quantizer<T>& quantizer, std::uint32_t offset, T prediction) {
    if (box.is_missing(offset)) return prediction;
    const QuantCode code = box.codes[offset];
    return code == outlier_code ? box.values[offset] : restore(quantizer, prediction, code);
  });
  box.for_each_point(box.tile.own, [&](std::uint64_t point, std::uint32_t offset) {
    values[point] = box.values[offset];
  });
}

template <class T, class Mode>
__global__ void __launch_bounds__(InterpPolicy::threads)
    decode_tiles(const __grid_constant__ InterpFrame<T> frame, const QuantCode* codes,
                 SparseView outliers, T* values) {
  for (std::uint32_t i = blockIdx.x; i < frame.tiles; i += gridDim.x) {
    Box<T, Mode> box(frame, i);
    decode_tile(box, codes, outliers, values);
    __syncthreads();
  }
}

/// The archive has only the valid anchors.
struct AnchorGrid {
  Extents3 extents;
  Extents3 grid;
  std::uint64_t stride;

  __device__ std::uint64_t point(std::uint64_t anchor) const {
    const Extents3 at = coordinates_of(anchor, grid);
    return point_at({at[0] * stride, at[1] * stride, at[2] * stride}, extents);
  }
};

__global__ void mark_missing_anchors(AnchorGrid anchors, RankedBits missing_points,
                                     RankedBits missing) {
  const std::uint64_t i = ItemPolicy::first();
  if (i < count_of(anchors.grid) && missing_points.test(anchors.point(i))) missing.set(i);
}

template <class T>
__global__ void read_anchors(AnchorGrid anchors, const T* values, RankedBits missing, T* all,
                             T* stored) {
  const std::uint64_t i = ItemPolicy::first();
  if (i >= count_of(anchors.grid)) return;
  const bool present = missing.words == nullptr || !missing.test(i);
  const T value = present ? values[anchors.point(i)] : T{0};
  all[i] = value;
  if (missing.words != nullptr && present) stored[i - missing.rank(i)] = value;
}

/// `stored` is unaligned.
template <class T>
__global__ void restore_anchors(std::uint64_t count, const std::byte* stored, RankedBits missing,
                                T* all) {
  const std::uint64_t i = ItemPolicy::first();
  if (i >= count || (missing.words != nullptr && missing.test(i))) return;
  const std::uint64_t rank = missing.words == nullptr ? i : i - missing.rank(i);
  all[i] = value_of<T>(get_bytes(stored + rank * sizeof(T), sizeof(T)));
}

/// One thread per row of anchors.
template <class T>
__global__ void complete_anchors(std::uint64_t rows, std::uint64_t row_anchors, RankedBits missing,
                                 std::uint8_t* flags, T middle, T* all) {
  const std::uint64_t row = ItemPolicy::first();
  if (row >= rows) return;
  const std::uint64_t first = row * row_anchors;
  for (std::uint64_t i = 0; i < row_anchors; ++i)
    flags[first + i] = missing.test(first + i) ? 1 : 0;
  fill_missing_anchors(all + first, flags + first, row_anchors, middle);
}

RankedBits missing_anchors(DeviceContext& gpu, const AnchorGrid& anchors,
                           const RankedBits& missing_points) {
  if (missing_points.words == nullptr) return {};
  const std::uint64_t count = count_of(anchors.grid);
  const RankedBits missing = make_bits(gpu, count);
  launch_items(gpu, "mark_missing_anchors", count, mark_missing_anchors, anchors, missing_points,
               missing);
  rank_bits(gpu, missing);
  return missing;
}

template <class T>
void complete(DeviceContext& gpu, const AnchorGrid& anchors, const RankedBits& missing, double min,
              double max, T* all) {
  if (missing.words == nullptr) return;
  const std::uint64_t count = count_of(anchors.grid);
  const std::uint64_t rows = anchors.grid[0] * anchors.grid[1];
  const T low = static_cast<T>(min);
  const T middle = low + (static_cast<T>(max) - low) * static_cast<T>(0.5);
  launch_items(gpu, "complete_anchors", rows, complete_anchors<T>, rows, anchors.grid[2], missing,
               gpu.take<std::uint8_t>(count), middle, all);
}

std::uint64_t present_anchors(DeviceContext& gpu, const AnchorGrid& anchors,
                              const RankedBits& missing) {
  const std::uint64_t count = count_of(anchors.grid);
  if (missing.words == nullptr) return count;
  const std::uint64_t& absent = *download(gpu, missing.rank_of_block + missing.blocks, 1);
  gpu.sync();
  return count - absent;
}

/// Without `plan`, which only tiles other than cubes need.
template <class T>
InterpFrame<T> interp_frame(const InterpParams& params, double bound, const Extents3& extents,
                            const RankedBits& missing, double min, double max, const T* anchors,
                            const RestoreRules<T>& rules = {}) {
  const Quantizer<T> none(1, 0, 0, 0, 1);
  InterpFrame<T> frame{params,
                       {},
                       extents,
                       missing,
                       0,
                       0,
                       0,
                       0,
                       nullptr,
                       0,
                       anchors,
                       anchor_grid(params, extents),
                       {none, none, none, none, none, none, none, none, none, none, none, none,
                        none, none, none, none},
                       rules};
  const Extents3 tiles = tile_grid(params, extents);
  frame.tiles_x = static_cast<std::uint32_t>(tiles[2]);
  frame.tiles_y = static_cast<std::uint32_t>(tiles[1]);
  frame.tiles = grid_of(count_of(tiles));
  for (int level = 1; level <= params.levels(); ++level) {
    const auto l = static_cast<std::size_t>(level - 1);
    frame.quantizers[l] = Quantizer<T>(params.half_step[l], bound, min, max, params.radius, rules);
  }
  return frame;
}

template <class T>
void add_plan(DeviceContext& gpu, InterpFrame<T>& frame) {
  frame.plan = make_plan(gpu, frame.params);
  const std::uint64_t height = frame.plan.size[1];
  const std::uint64_t whole = std::uint64_t{1} << 32;
  const bool exact = height > 1 && frame.plan.size[0] * height * height < whole;
  frame.height_inverse = exact ? static_cast<std::uint32_t>(whole / height + 1) : 0;
}

/// A row of threads per row of points.
template <class T, class Mode, class Kernel, class... Args>
void launch_tiles(DeviceContext& gpu, Kernel* kernel, InterpFrame<T> frame, const Args&... args) {
  const std::uint32_t blocks =
      Mode::shared ? frame.tiles : std::min(frame.tiles, InterpPolicy::most_large_blocks);
  const auto bytes = static_cast<unsigned>(Box<T, Mode>::bytes(frame.plan));
  if constexpr (Mode::shared) {
    raise_shared_limit(gpu.device(), kernel);
  } else {
    frame.box_bytes = ceil_div(bytes, 256) * 256;
    frame.boxes = gpu.take<std::byte>(blocks * frame.box_bytes);
  }
  unsigned row_threads = InterpPolicy::least_row_threads;
  while (row_threads < InterpPolicy::threads && row_threads < frame.params.tile[2])
    row_threads *= 2;
  kernel<<<blocks, dim3(row_threads, InterpPolicy::threads / row_threads), Mode::shared ? bytes : 0,
           gpu.stream()>>>(frame, args...);
}

/// Calls launch(turn of x) if the tiles are InterpCube's.
template <int long_turn, class T, class Launch>
bool try_cube(const InterpFrame<T>& frame, const Launch& launch) {
  if (!InterpCube<T, long_turn>::matches(frame)) return false;
  launch(std::integral_constant<int, long_turn>{});
  return true;
}
template <class T, class Launch>
bool with_cube(const InterpFrame<T>& frame, const Launch& launch) {
  return try_cube<0>(frame, launch) || try_cube<1>(frame, launch) || try_cube<2>(frame, launch);
}

/// Calls launch(mode) for other tiles.
template <class T, class Launch>
void with_mode(const Device& device, const InterpFrame<T>& frame, const Launch& launch) {
  if (Box<T, Masked>::bytes(frame.plan) > device.shared_bytes)
    launch(Large{});
  else if (frame.missing.words != nullptr)
    launch(Masked{});
  else
    launch(Whole{});
}

}  // namespace

template <class T>
StartedPrediction start_prediction(DeviceContext& gpu, const InterpParams& params, double bound,
                                   const FrameInput<T>& frame, QuantCode* codes) {
  const AnchorGrid anchors{frame.extents, anchor_grid(params, frame.extents), params.anchor};
  const std::uint64_t anchor_count = count_of(anchors.grid);
  const RankedBits missing = missing_anchors(gpu, anchors, frame.missing);
  T* const all = gpu.take<T>(anchor_count);
  T* const stored = missing.words == nullptr ? all : gpu.take<T>(anchor_count);
  launch_items(gpu, "read_anchors", anchor_count, read_anchors<T>, anchors, frame.values, missing,
               all, stored);
  complete(gpu, anchors, missing, frame.min, frame.max, all);

  const std::uint64_t points = count_of(frame.extents);
  const ExceptionSets exceptions = make_exceptions(gpu, points, false);
  auto interp = interp_frame<T>(params, bound, frame.extents, frame.missing, frame.min, frame.max,
                                all, frame.rules);
  const bool cubes = with_cube(interp, [&](auto turn) {
    using Cube = InterpCube<T, turn.value>;
    encode_cubes<T, turn.value>
        <<<Cube::grid(interp), InterpPolicy::threads, Cube::bytes, gpu.stream()>>>(
            interp, frame.values, codes, exceptions);
  });
  if (!cubes) {
    add_plan(gpu, interp);
    with_mode(gpu.device(), interp, [&](auto mode) {
      using Mode = decltype(mode);
      launch_tiles<T, Mode>(gpu, encode_tiles<T, Mode>, interp, frame.values, codes, exceptions);
    });
  }
  check_launch("encode_tiles");
  const auto histogram = count_symbols(gpu, codes, points, 2 * params.radius);
  const PassCounts* const counts = download(gpu, exceptions.counts, 1);
  const std::uint64_t present = present_anchors(gpu, anchors, missing);
  return {histogram, [=, &gpu, values = frame.values] {
            Predicted result;
            result.histogram = histogram;
            result.counts = *counts;
            result.anchors = {reinterpret_cast<const std::byte*>(stored), present * sizeof(T)};
            result.outliers =
                encode_sparse(gpu, exceptions.outliers, counts->outliers, BitsAt<T>{values});
            return result;
          }};
}

template <class T>
void reconstruct(DeviceContext& gpu, const InterpParams& params, const QuantCode* codes,
                 const Sections& sections, const ExceptionLists& exceptions,
                 const FrameOutput<T>& frame) {
  const AnchorGrid anchors{frame.extents, anchor_grid(params, frame.extents), params.anchor};
  const std::uint64_t anchor_count = count_of(anchors.grid);
  const RankedBits missing = missing_anchors(gpu, anchors, frame.missing);
  const Bytes stored = sections.find(SectionId::anchors);
  const ByteCount expected = present_anchors(gpu, anchors, missing) * sizeof(T);
  if (stored.size() < expected) throw ArchiveError("the anchors are truncated");
  if (stored.size() > expected) throw ArchiveError("the anchors hold unknown bytes at their end");
  T* const all = gpu.take<T>(anchor_count);
  launch_items(gpu, "restore_anchors", anchor_count, restore_anchors<T>, anchor_count,
               stored.data(), missing, all);
  complete(gpu, anchors, missing, frame.min, frame.max, all);

  constexpr double no_bound = 0;
  const SparseView& outliers = exceptions.outliers;
  auto interp =
      interp_frame<T>(params, no_bound, frame.extents, frame.missing, frame.min, frame.max, all);
  const bool cubes = with_cube(interp, [&](auto turn) {
    using Cube = InterpCube<T, turn.value>;
    decode_cubes<T, turn.value>
        <<<Cube::grid(interp), InterpPolicy::threads, Cube::bytes, gpu.stream()>>>(
            interp, codes, outliers, frame.values);
  });
  if (!cubes) {
    add_plan(gpu, interp);
    with_mode(gpu.device(), interp, [&](auto mode) {
      using Mode = decltype(mode);
      launch_tiles<T, Mode>(gpu, decode_tiles<T, Mode>, interp, codes, outliers, frame.values);
    });
  }
  check_launch("decode_tiles");
}

template StartedPrediction start_prediction(DeviceContext&, const InterpParams&, double,
                                            const FrameInput<float>&, QuantCode*);
template StartedPrediction start_prediction(DeviceContext&, const InterpParams&, double,
                                            const FrameInput<double>&, QuantCode*);
template void reconstruct(DeviceContext&, const InterpParams&, const QuantCode*, const Sections&,
                          const ExceptionLists&, const FrameOutput<float>&);
template void reconstruct(DeviceContext&, const InterpParams&, const QuantCode*, const Sections&,
                          const ExceptionLists&, const FrameOutput<double>&);

}  // namespace cuszi::gpu

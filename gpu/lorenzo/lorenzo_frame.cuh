#pragma once

#include "core/lorenzo/lorenzo_rounding.hpp"
#include "gpu/field/frame_work.cuh"
#include "gpu/runtime/launch.cuh"

namespace cuszi::gpu {

struct LorenzoPolicy {
  static constexpr unsigned warps = 4;  ///< each with one or several tiles
  static constexpr unsigned threads = 32 * warps;
  static constexpr std::uint64_t most_warp_points = 8192;
  /// Warps take several tiles only if multiprocessors have more warps than this.
  static constexpr unsigned warps_of_multiprocessor = 32;
  static constexpr unsigned any_chunk_threads = 256;
};

template <class T>
struct LorenzoFrame {
  Extents3 extents;
  Extents3 chunk;
  double step;
  double inverse_step;
  double bound;
  T certain;
  double certain_fraction;  ///< see certain_fraction() in core
  RuleZone<T> zone;         ///< values that rules may affect
  T min;
  T max;
  std::int32_t radius;
  RankedBits missing;
  RestoreRules<T> rules;

  LorenzoFrame(const LorenzoParams& params, double absolute_bound, const Extents3& e, double low,
               double high, const RankedBits& missing_points,
               const RestoreRules<T>& rules_of_frame = {})
      : extents(e),
        chunk(params.chunk),
        step(2 * params.half_step),
        inverse_step(1 / step),
        bound(absolute_bound),
        certain(certainly_within<T>(absolute_bound)),
        certain_fraction(cuszi::certain_fraction<T>(step, absolute_bound, low, high)),
        zone(rules_of_frame.zone(absolute_bound)),
        min(static_cast<T>(low)),
        max(static_cast<T>(high)),
        radius(static_cast<std::int32_t>(params.radius)),
        missing(missing_points),
        rules(rules_of_frame) {}

  /// Integers of all values, and sums of eight.
  bool fits_32_bits() const {
    const double largest =
        std::max(std::fabs(static_cast<double>(min)), std::fabs(static_cast<double>(max)));
    return largest * inverse_step < most_certain_integer;
  }
};

/// Rows of 32 runs along x, each of one or more chunks; in 1-D, consecutive parts of one chunk.
template <int Slices, int Rows, int Width, int Run = 1>
struct ChunkShape {
  static constexpr int slices = Slices;
  static constexpr int run = Run;  ///< points of a lane in a row
  static constexpr bool is_line = Width > 32 * run;
  static constexpr int rows = is_line ? Width / (32 * run) : Rows;
  static constexpr int width = is_line ? 32 : Width / run;  ///< lanes of a chunk in a row
  static constexpr std::uint64_t warp_width = is_line ? Width : 32 * run;

  static bool matches(const Extents3& chunk) {
    return chunk == Extents3{Slices, is_line ? 1 : Rows, Width};
  }
};

/// Returns false for shapes that no encoder makes.
template <int run, class F>
bool with_shape(const Extents3& chunk, const F& f) {
  using Cubes = ChunkShape<8, 8, 8, run>;
  using Squares = ChunkShape<1, 16, 16, run>;
  using Lines = ChunkShape<1, 1, 256, run>;
  if (Cubes::matches(chunk))
    f(Cubes{});
  else if (Squares::matches(chunk))
    f(Squares{});
  else if (Lines::matches(chunk))
    f(Lines{});
  else
    return false;
  return true;
}

/// Warps' tiles of a frame. Throws DeviceError if 32 bits cannot count them.
template <class Shape>
std::uint64_t warp_tiles(const Extents3& extents) {
  const std::uint64_t rows = Shape::is_line ? 1 : Shape::rows;
  const std::uint64_t tiles = ceil_div(extents[2], Shape::warp_width) * ceil_div(extents[1], rows) *
                              ceil_div(extents[0], Shape::slices);
  constexpr std::uint64_t most_tiles = std::uint64_t{1} << 31;
  if (tiles > most_tiles) grid_of(tiles);
  return tiles;
}

template <class Shape>
struct Lane {
  Extents3 first;
  unsigned lane = threadIdx.x % 32;
  bool inside;      ///< the warp has points
  int rows_inside;  ///< unless rows are parts of a line
  int run_inside;   ///< points in the first row

  __device__ Lane(const Extents3& extents, std::uint32_t warp) {
    const std::uint64_t rows = Shape::is_line ? 1 : Shape::rows;
    const auto tiles_x =
        static_cast<std::uint32_t>((extents[2] + Shape::warp_width - 1) / Shape::warp_width);
    const auto tiles_y = static_cast<std::uint32_t>((extents[1] + rows - 1) / rows);
    const std::uint32_t line = warp / tiles_x;
    first = {std::uint64_t{line / tiles_y} * Shape::slices, line % tiles_y * rows,
             warp % tiles_x * Shape::warp_width};
    inside = first[0] < extents[0];
    const std::uint64_t left = inside ? extents[1] - first[1] : 0;
    rows_inside = left < Shape::rows ? static_cast<int>(left) : Shape::rows;
    run_inside = inside_run(x(0), extents);
  }
  /// One tile per warp.
  __device__ explicit Lane(const Extents3& extents)
      : Lane(extents, blockIdx.x * LorenzoPolicy::warps + threadIdx.x / 32) {}

  __device__ std::uint64_t x(int row) const {
    return first[2] + (Shape::is_line ? static_cast<unsigned>(row) * 32 * Shape::run : 0) +
           lane * Shape::run;
  }
  __device__ std::uint64_t y(int row) const {
    return first[1] + (Shape::is_line ? 0 : static_cast<unsigned>(row));
  }
  __device__ static std::uint64_t row_stride(const Extents3& extents) {
    return Shape::is_line ? 32 * Shape::run : extents[2];
  }
  __device__ int points_inside(int row, const Extents3& extents) const {
    if constexpr (!Shape::is_line) return row < rows_inside ? run_inside : 0;
    return inside_run(x(row), extents);
  }

 private:
  __device__ static int inside_run(std::uint64_t x, const Extents3& extents) {
    if (x >= extents[2]) return 0;
    const std::uint64_t left = extents[2] - x;
    return left < Shape::run ? static_cast<int>(left) : Shape::run;
  }
};

template <class T>
__device__ std::int64_t delta_at(const LorenzoFrame<T>& frame, const SparseView& outliers,
                                 QuantCode code, std::uint64_t point) {
  return code != outlier_code ? delta_of_code(code, frame.radius) : unzigzag(outliers.find(point));
}

}  // namespace cuszi::gpu

#include <numeric>

#include "gpu/cells/values.cuh"
#include "gpu/runtime/launch.cuh"

namespace cuszi::gpu {

namespace {

/// Where a point is among those at a stride; outside if it is none of them.
struct StridedPoints {
  std::uint64_t whole[axis_count];
  std::uint64_t stride;
  std::uint64_t extents[axis_count];

  static constexpr std::uint64_t outside = ~std::uint64_t{0};

  __device__ std::uint64_t place_of(std::uint64_t point) const {
    if (stride == 1) return point;
    const std::uint64_t row = point / whole[2];
    const std::uint64_t at[axis_count] = {row / whole[1], row % whole[1], point % whole[2]};
    std::uint64_t place = 0;
    for (int axis = 0; axis < axis_count; ++axis) {
      if (at[axis] % stride != 0) return outside;
      place = place * extents[axis] + at[axis] / stride;
    }
    return place;
  }
};

template <class T>
struct PutPatch {
  StridedPoints points;
  SparseView patches;
  T* values;

  __device__ void operator()(std::uint64_t point, std::uint64_t rank) const {
    const std::uint64_t place = points.place_of(point);
    if (place != StridedPoints::outside) values[place] = value_of<T>(patches.value(rank));
  }
};

/// Leaves the points of a pass.
template <class Shape>
__global__ void __launch_bounds__(ItemPolicy::threads)
    choose_patches(const std::uint64_t* words, std::uint64_t count, CellGrid grid, int pass,
                   std::uint64_t* out) {
  const std::uint64_t word = ItemPolicy::first();
  if (word >= count) return;
  std::uint64_t chosen = 0;
  for (std::uint64_t rest = words[word]; rest != 0; rest &= rest - 1) {
    const auto bit = static_cast<unsigned>(__ffsll(static_cast<long long>(rest)) - 1);
    const std::uint64_t point = word * 64 + bit;
    const std::uint64_t row = point / grid.extents[2];
    const std::uint64_t z = Shape::has(0) ? row / grid.extents[1] : 0;
    const std::uint64_t all = z | row % grid.extents[1] | point % grid.extents[2] | Shape::tile;
    const int spacing = 1 << (__ffsll(static_cast<long long>(all)) - 1);
    if (pass_of_spacing<Shape>(spacing) == pass) chosen |= std::uint64_t{1} << bit;
  }
  out[word] = chosen;
}

}  // namespace

template <class T>
Bytes list_patches(DeviceContext& gpu, int rank, const FrameInput<T>& frame,
                   const RankedBits& patches, int pass, std::span<const std::uint64_t> counts) {
  const std::uint64_t count = counts[static_cast<std::size_t>(pass)];
  if (count == 0) return {};
  RankedBits own = patches;
  if (count != std::accumulate(counts.begin(), counts.end(), std::uint64_t{0})) {
    own = take_bits(gpu, count_of(frame.extents));
    const std::uint64_t words = own.blocks * RankedBits::block_words;
    with_cell_rank(rank, [&](auto shape) {
      using Shape = decltype(shape);
      launch_items(gpu, "choose_patches", words, choose_patches<Shape>,
                   static_cast<const std::uint64_t*>(patches.words), words,
                   CellGrid::of<Shape>(frame.extents), pass, own.words);
    });
  }
  return encode_sparse(gpu, own, count, BitsAt<T>{frame.values});
}

template <class T>
void put_patches(DeviceContext& gpu, const FrameOutput<T>& frame, const SparseView& patches) {
  if (patches.bits.words == nullptr) return;
  StridedPoints points{};
  points.stride = frame.stride;
  for (std::size_t axis = 0; axis < axis_count; ++axis) {
    points.whole[axis] = frame.whole[axis];
    points.extents[axis] = frame.extents[axis];
  }
  for_each_bit(gpu, patches.bits, PutPatch<T>{points, patches, frame.values});
}

template Bytes list_patches(DeviceContext&, int, const FrameInput<float>&, const RankedBits&, int,
                            std::span<const std::uint64_t>);
template Bytes list_patches(DeviceContext&, int, const FrameInput<double>&, const RankedBits&, int,
                            std::span<const std::uint64_t>);
template void put_patches(DeviceContext&, const FrameOutput<float>&, const SparseView&);
template void put_patches(DeviceContext&, const FrameOutput<double>&, const SparseView&);

}  // namespace cuszi::gpu

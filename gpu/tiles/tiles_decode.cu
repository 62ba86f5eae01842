#include "gpu/tiles/tile_batch.cuh"
#include "gpu/tiles/tile_decoder.cuh"

namespace cuszi::gpu {

namespace {

template <class T, class Shape>
void start_to_decode(DeviceContext& gpu, const TileRestoreTask<T, Shape>& task,
                     const FrameOutput<T>& frame) {
  with_flag(allows_four(frame.extents, frame.values), [&](auto v) {
    with_flag(fits_pairs(task.quantizer, frame.min, frame.max), [&](auto narrow) {
      using Integers = std::conditional_t<narrow(), NarrowIntegers<Shape>, WideIntegers<Shape>>;
      decode_chunks<T, Shape, v(), Integers, PlainValues>
          <<<grid_of(task.grid.chunks), TilesPolicy<T>::threads, 0, gpu.stream()>>>(
              OneFrame<TileRestoreTask<T, Shape>>{task});
    });
  });
  check_launch("decode_chunks");
}

template <class T, class Shape>
void start_to_decode(DeviceContext& gpu, const TileRestoreTask<T, Shape, ValuesOfLogs<T>>& task,
                     const FrameOutput<T>& frame) {
  with_flag(allows_four(frame.extents, frame.values), [&](auto v) {
    decode_chunks<T, Shape, v(), NarrowIntegers<Shape>, ValuesOfLogs<T>>
        <<<grid_of(task.grid.chunks), TilesPolicy<T>::threads, 0, gpu.stream()>>>(
            OneFrame<TileRestoreTask<T, Shape, ValuesOfLogs<T>>>{task});
  });
  check_launch("decode_chunks");
}

template <class T, class Shape, bool vector>
void start_to_decode_many(DeviceContext& gpu, std::span<const BatchDecoding> frames,
                          const std::vector<std::size_t>& numbers, std::uint32_t* flaws) {
  using Task = TileRestoreTask<T, Shape>;
  std::vector<std::uint32_t> blocks;
  std::uint64_t all = 0;
  for (const std::size_t number : numbers) {
    const TileGrid grid = TileGrid::of<T, Shape>(frames[number].shape.extents());
    blocks.push_back(grid_of(grid.chunks));
    all += grid.chunks;
  }
  const auto tasks = bring_many<Task>(gpu, blocks, [&](std::size_t i) {
    const BatchDecoding& frame = frames[numbers[i]];
    const TileGrid grid = TileGrid::of<T, Shape>(frame.shape.extents());
    const Bytes codes = frame.passes.front().find(SectionId::codes);
    return Task{grid,
                TileMap<Shape>(grid),
                TileQuantizer<T>(std::get<TilesParams>(frame.params).half_step),
                static_cast<T>(frame.min),
                static_cast<T>(frame.max),
                frame.passes.front().find(SectionId::index).data(),
                codes.data(),
                codes.size() / 4,
                reinterpret_cast<T*>(frame.values.data()),
                flaws + numbers[i],
                {}};
  });
  decode_chunks<T, Shape, vector, NarrowIntegers<Shape>, PlainValues>
      <<<grid_of(all), TilesPolicy<T>::threads, 0, gpu.stream()>>>(tasks);
  check_launch("decode_chunks");
}

template <class T>
bool is_for_batch(const BatchDecoding& frame) {
  const auto* const params = std::get_if<TilesParams>(&frame.params);
  if (params == nullptr || frame.shape.dtype != dtype_of<T>) return false;
  const Bytes index = frame.passes.front().find(SectionId::index);
  const Bytes codes = frame.passes.front().find(SectionId::codes);
  const bool has_chunks = with_tile_shape(frame.shape.extents(), [&](auto shape) {
    const TileGrid grid = TileGrid::of<T, decltype(shape)>(frame.shape.extents());
    return index.size() == 4 * grid.chunks && codes.size() % 4 == 0;
  });
  return has_chunks && fits_pairs(TileQuantizer<T>(params->half_step), frame.min, frame.max);
}

template <class T>
void start_to_decode_tiles(DeviceContext& gpu, std::span<const BatchDecoding> frames,
                           std::span<BatchDecoded> decoded, std::uint32_t* flaws) {
  FramesByKernel kernels;
  for (std::size_t i = 0; i < frames.size(); ++i) {
    if (!is_for_batch<T>(frames[i])) continue;
    const Extents3 extents = frames[i].shape.extents();
    kernels.add(extents, allows_four(extents, reinterpret_cast<T*>(frames[i].values.data())), i);
    decoded[i].is_done = true;
  }
  kernels.for_each([&](auto shape, auto vector, const std::vector<std::size_t>& numbers) {
    start_to_decode_many<T, decltype(shape), vector()>(gpu, frames, numbers, flaws);
  });
}

}  // namespace

template <class T>
void decode_values(DeviceContext& gpu, const TilesParams& params, const Sections& sections,
                   const FrameOutput<T>& frame) {
  const Bytes index = sections.at(SectionId::index);
  const Bytes codes = sections.at(SectionId::codes);
  with_tile_shape(frame.extents, [&](auto shape) {
    using Shape = decltype(shape);
    const TileGrid grid = TileGrid::of<T, Shape>(frame.extents);
    if (index.size() != 4 * grid.chunks || codes.size() % 4 != 0) {
      throw ArchiveError("the tiles of a frame do not fit their chunks");
    }
    const auto start = [&](const auto& points) {
      start_to_decode(gpu,
                      TileRestoreTask<T, Shape, std::remove_cvref_t<decltype(points)>>{
                          grid, TileMap<Shape>(grid), TileQuantizer<T>(params.half_step),
                          static_cast<T>(frame.min), static_cast<T>(frame.max), index.data(),
                          codes.data(), codes.size() / 4, frame.values, gpu.flaws(), points},
                      frame);
    };
    const TransformTarget* const transform = frame.transform;
    if (transform == nullptr || !transform->is_by_tiles) {
      start(PlainValues{});
    } else {
      start(ValuesOfLogs<T>{{std::get<LogTransform>(transform->transform.params), *transform}});
    }
  });
}

void start_to_decode_batch(DeviceContext& gpu, std::span<const BatchDecoding> frames,
                           std::span<BatchDecoded> decoded, std::uint32_t* flaws) {
  start_to_decode_tiles<float>(gpu, frames, decoded, flaws);
  start_to_decode_tiles<double>(gpu, frames, decoded, flaws);
}

template void decode_values(DeviceContext&, const TilesParams&, const Sections&,
                            const FrameOutput<float>&);
template void decode_values(DeviceContext&, const TilesParams&, const Sections&,
                            const FrameOutput<double>&);

}  // namespace cuszi::gpu

#include <tuple>
#include <type_traits>

#include "gpu/tiles/tile_decoder.cuh"

namespace cuszi::gpu {

namespace {

template <class T, class Shape, class Points>
TileRestoreTask<T, Shape, Points> task_of(const TilesOutput<T>& output, const Points& points) {
  const auto& [params, passes, frame, flaws] = output;
  using Stored = typename Points::Stored;
  const TileGrid grid = TileGrid::of<T, Shape>(frame.extents);
  const Bytes codes = passes.front().find(SectionId::codes);
  auto* const values = frame.values != nullptr ? reinterpret_cast<Stored*>(frame.values)
                                               : reinterpret_cast<Stored*>(frame.stored.bytes);
  return {grid,
          TileMap<Shape>(grid),
          TileQuantizer<T>(params.half_step),
          static_cast<T>(frame.min),
          static_cast<T>(frame.max),
          passes.front().find(SectionId::index).data(),
          codes.data(),
          codes.size() / 4,
          values,
          flaws,
          points};
}

/// What decides the kernel of a frame.
struct RestoreWay {
  int rank;
  bool are_logs;
  bool are_converted;
  bool narrow;   ///< all integers fit pairs
  bool by_four;  ///< rows are accessed by four

  template <class T>
  static RestoreWay of(const TilesOutput<T>& output) {
    const FrameOutput<T>& frame = output.frame;
    return {rank_of(frame.extents), frame.transform != nullptr && frame.transform->is_by_tiles,
            frame.values == nullptr,
            fits_pairs(TileQuantizer<T>(output.params.half_step), frame.min, frame.max),
            allows_four(frame.extents, frame.values)};
  }
  friend bool operator<(const RestoreWay& a, const RestoreWay& b) {
    return std::tie(a.rank, a.are_logs, a.are_converted, a.narrow, a.by_four) <
           std::tie(b.rank, b.are_logs, b.are_converted, b.narrow, b.by_four);
  }
};

template <class T, class Shape>
void restore_logs(DeviceContext& gpu, const TilesOutput<T>& output, const RestoreWay& way) {
  const TransformTarget& transform = *output.frame.transform;
  using Points = ValuesOfLogs<T>;
  const auto task = task_of<T, Shape>(
      output, Points{{std::get<LogTransform>(transform.transform.params), transform}});
  with_flag(way.by_four, [&](auto vector) {
    decode_chunks<T, Shape, vector(), NarrowIntegers<Shape>, Points>
        <<<grid_of(task.grid.chunks), TilesPolicy<T>::threads, 0, gpu.stream()>>>(
            OneFrame<std::remove_const_t<decltype(task)>>{task});
  });
  check_launch("decode_chunks");
}

/// Starts to restore values that are converted to their stored type, by four.
template <class T, class Shape>
void restore_stored(DeviceContext& gpu, const TilesOutput<T>& output, const RestoreWay& way) {
  visit_values(output.frame.values, output.frame.stored, [&]<class S>(S*) {
    const auto task = task_of<T, Shape>(output, PlainValues<S>{});
    with_flag(way.narrow, [&](auto narrow) {
      using Integers = std::conditional_t<narrow(), NarrowIntegers<Shape>, WideIntegers<Shape>>;
      decode_chunks<T, Shape, true, Integers, PlainValues<S>>
          <<<grid_of(task.grid.chunks), TilesPolicy<T>::threads, 0, gpu.stream()>>>(
              OneFrame<std::remove_const_t<decltype(task)>>{task});
    });
  });
  check_launch("decode_chunks");
}

/// In one launch.
template <class T, class Shape>
void restore_values(DeviceContext& gpu, const std::vector<const TilesOutput<T>*>& outputs,
                    const RestoreWay& way) {
  std::vector<std::uint32_t> blocks;
  std::uint64_t all = 0;
  for (const TilesOutput<T>* const output : outputs) {
    blocks.push_back(grid_of(TileGrid::of<T, Shape>(output->frame.extents).chunks));
    all += blocks.back();
  }
  const auto task = [&](std::size_t i) { return task_of<T, Shape>(*outputs[i], PlainValues<T>{}); };
  visit_many<TileRestoreTask<T, Shape>>(gpu, blocks, task, [&](const auto& frames) {
    with_flag(way.by_four, [&](auto vector) {
      with_flag(way.narrow, [&](auto narrow) {
        using Integers = std::conditional_t<narrow(), NarrowIntegers<Shape>, WideIntegers<Shape>>;
        decode_chunks<T, Shape, vector(), Integers, PlainValues<T>>
            <<<grid_of(all), TilesPolicy<T>::threads, 0, gpu.stream()>>>(frames);
      });
    });
  });
  check_launch("decode_chunks");
}

template <class T>
bool fits_chunks(const TilesOutput<T>& output) {
  const Extents3& extents = output.frame.extents;
  const Bytes index = output.passes.front().find(SectionId::index);
  const Bytes codes = output.passes.front().find(SectionId::codes);
  return with_tile_shape(extents, [&](auto shape) {
    const TileGrid grid = TileGrid::of<T, decltype(shape)>(extents);
    return index.size() == 4 * grid.chunks && codes.size() % 4 == 0;
  });
}

}  // namespace

template <class T>
void start_to_decode_tiles(DeviceContext& gpu, std::span<const TilesOutput<T>> frames,
                           const std::function<void(std::size_t, const ArchiveError&)>& refused) {
  std::vector<const TilesOutput<T>*> whole;
  for (std::size_t i = 0; i < frames.size(); ++i) {
    if (fits_chunks(frames[i])) {
      whole.push_back(&frames[i]);
    } else {
      refused(i, ArchiveError("the tiles of a frame do not fit their chunks"));
    }
  }
  for (const auto& numbers :
       group_equal(whole.size(), [&](std::size_t i) { return RestoreWay::of(*whole[i]); })) {
    std::vector<const TilesOutput<T>*> equal;
    for (const std::size_t i : numbers) equal.push_back(whole[i]);
    const RestoreWay way = RestoreWay::of(*equal.front());
    with_tile_shape(equal.front()->frame.extents, [&](auto shape) {
      using Shape = decltype(shape);
      if (!way.are_logs && !way.are_converted) return restore_values<T, Shape>(gpu, equal, way);
      for (const TilesOutput<T>* const output : equal) {
        if (way.are_logs) {
          restore_logs<T, Shape>(gpu, *output, way);
        } else {
          restore_stored<T, Shape>(gpu, *output, way);
        }
      }
    });
  }
}

template void start_to_decode_tiles(DeviceContext&, std::span<const TilesOutput<float>>,
                                    const std::function<void(std::size_t, const ArchiveError&)>&);
template void start_to_decode_tiles(DeviceContext&, std::span<const TilesOutput<double>>,
                                    const std::function<void(std::size_t, const ArchiveError&)>&);

}  // namespace cuszi::gpu

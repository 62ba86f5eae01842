#include <algorithm>
#include <cmath>

#include "gpu/runtime/copies.hpp"
#include "gpu/tiles/tile_batch.cuh"
#include "gpu/tiles/tile_encoder.cuh"

namespace cuszi::gpu {

namespace {

/// A frame's chunks; `codes` is valid if they fit the capacity.
struct CodedTiles {
  std::span<std::uint32_t> index;
  std::uint32_t* codes;
  TileTotals totals;
};

struct TileWay {
  bool narrow;  ///< all integers fit pairs
  bool seeks;   ///< finds extremes; only if narrow, required unless all values are certain
};

template <class T, class Shape>
void start_to_encode(DeviceContext& gpu, const TileTask<T, Shape, ValuePoints<T>>& task,
                     const TileWay& way) {
  const unsigned blocks = grid_of(task.grid.chunks);
  constexpr unsigned threads = TilesPolicy<T>::threads;
  with_flag(allows_four(task.grid.extents, task.values), [&](auto vector) {
    const auto launch = [&]<class Numbers, bool seeking>() {
      const OneFrame<TileTask<T, Shape>> frame{task};
      encode_chunks<T, Shape, vector(), Numbers, seeking, ValuePoints<T>>
          <<<blocks, threads, 0, gpu.stream()>>>(frame);
      check_launch("encode_chunks");
    };
    if (!way.narrow)
      launch.template operator()<WideTile<Shape>, false>();
    else if (way.seeks || !vector())
      launch.template operator()<NarrowTile<Shape>, true>();
    else
      launch.template operator()<NarrowTile<Shape>, false>();
  });
}

/// Rare (needs a scan first), so always wide.
template <class T, class Shape>
void start_to_encode(DeviceContext& gpu, const TileTask<T, Shape, LogPoints<T>>& task,
                     const TileWay& /*way*/) {
  const OneFrame<TileTask<T, Shape, LogPoints<T>>> frame{task};
  const bool by_four = allows_four(task.grid.extents, task.values) &&
                       allows_four(task.grid.extents, task.points.values);
  with_flag(by_four, [&](auto vector) {
    encode_chunks<T, Shape, vector(), WideTile<Shape>, false, LogPoints<T>>
        <<<grid_of(task.grid.chunks), TilesPolicy<T>::threads, 0, gpu.stream()>>>(frame);
  });
  check_launch("encode_chunks");
}

template <class T, class Shape>
void start_to_encode(DeviceContext& gpu, const TileTask<T, Shape, LoggedPoints<T>>& task,
                     const TileWay& /*way*/) {
  with_flag(allows_four(task.grid.extents, task.values), [&](auto vector) {
    encode_chunks_of_logs<T, Shape, vector()>
        <<<grid_of(task.grid.chunks), TilesPolicy<T>::threads, 0, gpu.stream()>>>(task);
  });
  check_launch("encode_chunks_of_logs");
}

/// At most `room_words` words. Synchronises.
template <class T, class Shape, class Points>
CodedTiles code_tiles(DeviceContext& gpu, const TileQuantizer<T>& quantizer,
                      const FrameInput<T>& frame, const Points& points, const TileWay& way,
                      std::uint64_t room_words) {
  const TileGrid grid = TileGrid::of<T, Shape>(frame.extents);
  auto* const index = gpu.take<std::uint32_t>(grid.chunks + room_words);
  auto* const totals = reinterpret_cast<TileTotals*>(gpu.take_zeroed<std::byte>(
      sizeof(TileTotals) + grid.chunks * sizeof(std::uint64_t)));  // the chunks' states follow
  const TileTask<T, Shape, Points> task{grid,
                                        TileMap<Shape>(grid),
                                        frame.values,
                                        frame.missing,
                                        quantizer,
                                        frame.rules,
                                        quantizer.certain_magnitude(),
                                        index,
                                        index + grid.chunks,  // contiguous, as in an archive
                                        room_words,
                                        reinterpret_cast<std::uint64_t*>(totals + 1),
                                        totals,
                                        points};
  start_to_encode(gpu, task, way);
  const auto* const found = download(gpu, task.totals, 1);
  gpu.sync();
  return {{task.index, grid.chunks}, task.codes, *found};
}

/// Initial capacity in words: half of the values.
template <class T>
std::uint64_t usual_room(std::uint64_t points) {
  return std::max<std::uint64_t>(points * (sizeof(T) / 4) / 2, 2 * max_chunk_words<T>);
}

/// Codes a second time in the rare case that the capacity was too small.
template <class T, class Shape, class Points>
CodedTiles code_tiles(DeviceContext& gpu, const TileQuantizer<T>& quantizer,
                      const FrameInput<T>& frame, const Points& points, const TileWay& way) {
  const std::uint64_t room = usual_room<T>(count_of(frame.extents));
  const CodedTiles coded = code_tiles<T, Shape>(gpu, quantizer, frame, points, way, room);
  const bool is_of_no_use = way.narrow && coded.totals.strange != 0;
  if (coded.totals.words <= room || is_of_no_use) return coded;
  return code_tiles<T, Shape>(gpu, quantizer, frame, points, way, coded.totals.words);
}

OwnCoded sections_of(const CodedTiles& coded) {
  OwnCoded result;
  add_section(SectionId::index, std::as_bytes(coded.index), result.sections);
  add_section(SectionId::codes, std::as_bytes(std::span(coded.codes, coded.totals.words)),
              result.sections);
  result.counts.patches = coded.totals.patches;
  return result;
}

template <class T, class Shape>
class BatchInWork {
 public:
  /// `numbers` selects from `frames`.
  BatchInWork(DeviceContext& gpu, std::span<const BatchEncoding> frames,
              const std::vector<std::size_t>& numbers)
      : gpu_(gpu), frames_(frames), numbers_(numbers) {
    for (const std::size_t number : numbers) add(frames[number].frame.shape);
    out_ = gpu.take<std::uint32_t>(words_);
    totals_ = reinterpret_cast<TileTotals*>(gpu.take_zeroed<std::byte>(
        numbers.size() * sizeof(TileTotals) + chunks_ * sizeof(std::uint64_t)));
  }

  template <bool vector>
  void start() {
    const auto tasks =
        bring_many<TileTask<T, Shape>>(gpu_, blocks_, [&](std::size_t i) { return task_of(i); });
    encode_chunks<T, Shape, vector, NarrowTile<Shape>, true, ValuePoints<T>>
        <<<grid_of(chunks_), TilesPolicy<T>::threads, 0, gpu_.stream()>>>(tasks);
    check_launch("encode_chunks");
    found_ = download(gpu_, totals_, numbers_.size());
  }

  /// Call it after the next sync().
  void finish(std::span<std::optional<BatchCoded>> coded) const {
    for (std::size_t i = 0; i < numbers_.size(); ++i) coded[numbers_[i]] = result_of(i);
  }

 private:
  struct Place {
    TileGrid grid;
    std::uint64_t first_word;
    std::uint64_t first_chunk;
    std::uint64_t room_words;
  };

  /// The capacity is limited to the values' size.
  void add(const FrameShape& shape) {
    constexpr std::uint64_t alignment = 4;
    const TileGrid grid = TileGrid::of<T, Shape>(shape.extents());
    const std::uint64_t room = std::min(usual_room<T>(shape.points()), shape.bytes() / 4);
    places_.push_back({grid, words_, chunks_, room});
    blocks_.push_back(grid_of(grid.chunks));
    words_ += ceil_div(grid.chunks + room, alignment) * alignment;
    chunks_ += grid.chunks;
  }

  TileQuantizer<T> quantizer_of(std::size_t i) const {
    const BatchEncoding& frame = frames_[numbers_[i]];
    return TileQuantizer<T>(std::get<TilesParams>(frame.params).half_step, frame.bound);
  }

  TileTask<T, Shape> task_of(std::size_t i) const {
    const Place& place = places_[i];
    const TileQuantizer<T> quantizer = quantizer_of(i);
    std::uint32_t* const index = out_ + place.first_word;
    auto* const states = reinterpret_cast<std::uint64_t*>(totals_ + numbers_.size());
    return {place.grid,
            TileMap<Shape>(place.grid),
            reinterpret_cast<const T*>(frames_[numbers_[i]].frame.values.data()),
            {},
            quantizer,
            {},
            quantizer.certain_magnitude(),
            index,
            index + place.grid.chunks,
            place.room_words,
            states + place.first_chunk,
            totals_ + i,
            {}};
  }

  std::optional<BatchCoded> result_of(std::size_t i) const {
    const TileTotals& totals = found_[i];
    const Place& place = places_[i];
    const double min = totals.extremes.min();
    const double max = totals.extremes.max();
    if (totals.strange != 0 || totals.words > place.room_words ||
        !fits_pairs(quantizer_of(i), min, max)) {
      return std::nullopt;
    }
    const CodedTiles tiles{{out_ + place.first_word, place.grid.chunks},
                           out_ + place.first_word + place.grid.chunks,
                           totals};
    return BatchCoded{{sections_of(tiles)}, {}, min + 0.0, max + 0.0};  // see scan_frame()
  }

  DeviceContext& gpu_;
  std::span<const BatchEncoding> frames_;
  std::vector<std::size_t> numbers_;
  std::vector<Place> places_;
  std::vector<std::uint32_t> blocks_;
  std::uint64_t words_ = 0;
  std::uint64_t chunks_ = 0;
  std::uint32_t* out_;
  TileTotals* totals_;
  const TileTotals* found_ = nullptr;
};

/// For frames of type T.
template <class T>
void start_to_encode_batch(DeviceContext& gpu, std::span<const BatchEncoding> frames,
                           std::vector<FinishBatch>& finish) {
  FramesByKernel kernels;
  for (std::size_t i = 0; i < frames.size(); ++i) {
    const BatchEncoding& frame = frames[i];
    const auto* const params = std::get_if<TilesParams>(&frame.params);
    if (params == nullptr || frame.frame.shape.dtype != dtype_of<T>) continue;
    const TileQuantizer<T> quantizer(params->half_step, frame.bound);
    if (!fits_pairs(quantizer, frame.range.min, frame.range.max)) continue;
    const auto* const values = reinterpret_cast<const T*>(frame.frame.values.data());
    const Extents3 extents = frame.frame.shape.extents();
    kernels.add(extents, allows_four(extents, values), i);
  }
  kernels.for_each([&](auto shape, auto vector, const std::vector<std::size_t>& numbers) {
    BatchInWork<T, decltype(shape)> work(gpu, frames, numbers);
    work.template start<vector()>();
    finish.push_back([work = std::move(work)](auto coded) { work.finish(coded); });
  });
}

}  // namespace

template <class T>
OwnCoded encode_values(DeviceContext& gpu, const TilesParams& params, double bound,
                       const FrameInput<T>& frame) {
  const TileQuantizer<T> quantizer(params.half_step, bound, frame.rules);
  const bool narrow = frame.missing_points == 0 && fits_pairs(quantizer, frame.min, frame.max);
  const double largest = std::max(std::fabs(frame.min), std::fabs(frame.max));
  const bool all_certain = largest <= static_cast<double>(quantizer.certain_magnitude());
  const TileWay way{narrow, !all_certain};
  return with_tile_shape(frame.extents, [&](auto shape) {
    using Shape = decltype(shape);
    return sections_of(
        frame.originals == nullptr
            ? code_tiles<T, Shape>(gpu, quantizer, frame, ValuePoints<T>{}, way)
            : code_tiles<T, Shape>(gpu, quantizer, frame, LogPoints<T>{frame.originals}, way));
  });
}

template <class T>
std::optional<OwnCoded> encode_unscanned(DeviceContext& gpu, const TilesParams& params,
                                         double bound, const FrameInput<T>& frame,
                                         FieldScan& scan) {
  const TileQuantizer<T> quantizer(params.half_step, bound, frame.rules);
  if (!fits_pairs(quantizer, frame.min, frame.max)) return std::nullopt;
  const CodedTiles coded = with_tile_shape(frame.extents, [&](auto shape) {
    return code_tiles<T, decltype(shape)>(gpu, quantizer, frame, ValuePoints<T>{},
                                          TileWay{true, true});
  });
  const SharedExtremes& extremes = coded.totals.extremes;
  if (coded.totals.strange != 0 || !fits_pairs(quantizer, extremes.min(), extremes.max())) {
    return std::nullopt;
  }
  scan.min = extremes.min() + 0.0;  // see scan_frame()
  scan.max = extremes.max() + 0.0;
  return sections_of(coded);
}

template <class T>
std::optional<CodedLogs> encode_logs_unscanned(DeviceContext& gpu, const TilesParams& params,
                                               const TransformChoice& choice,
                                               const ValueBound& bound, const Extents3& extents,
                                               const T* values) {
  const LoggedPoints<T> points{
      {std::get<LogTransform>(choice.params), choice, bound, FillValues{}, RestoreRules<T>{}}};
  const TileQuantizer<T> quantizer(params.half_step, choice.bound);
  const FrameInput<T> frame{extents, values, {}, 0, 0, 0};
  const CodedTiles coded = with_tile_shape(extents, [&](auto shape) {
    return code_tiles<T, decltype(shape)>(gpu, quantizer, frame, points, TileWay{true, true});
  });
  const TileTotals& totals = coded.totals;
  const bool too_many = totals.kept > most_kept_in_tiles(count_of(extents));
  if (totals.strange != 0 || too_many) return std::nullopt;
  CodedLogs result{
      sections_of(coded), {}, totals.extremes.min() + 0.0, totals.extremes.max() + 0.0};
  result.own.min = totals.own.min() + 0.0;  // see scan_frame()
  result.own.max = totals.own.max() + 0.0;
  return result;
}

void start_to_encode_batch(DeviceContext& gpu, std::span<const BatchEncoding> frames,
                           std::vector<FinishBatch>& finish) {
  start_to_encode_batch<float>(gpu, frames, finish);
  start_to_encode_batch<double>(gpu, frames, finish);
}

template OwnCoded encode_values(DeviceContext&, const TilesParams&, double,
                                const FrameInput<float>&);
template OwnCoded encode_values(DeviceContext&, const TilesParams&, double,
                                const FrameInput<double>&);
template std::optional<OwnCoded> encode_unscanned(DeviceContext&, const TilesParams&, double,
                                                  const FrameInput<float>&, FieldScan&);
template std::optional<OwnCoded> encode_unscanned(DeviceContext&, const TilesParams&, double,
                                                  const FrameInput<double>&, FieldScan&);
template std::optional<CodedLogs> encode_logs_unscanned(DeviceContext&, const TilesParams&,
                                                        const TransformChoice&, const ValueBound&,
                                                        const Extents3&, const float*);
template std::optional<CodedLogs> encode_logs_unscanned(DeviceContext&, const TilesParams&,
                                                        const TransformChoice&, const ValueBound&,
                                                        const Extents3&, const double*);

}  // namespace cuszi::gpu

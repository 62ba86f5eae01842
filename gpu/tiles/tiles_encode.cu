#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "gpu/runtime/copies.hpp"
#include "gpu/tiles/tile_encoder.cuh"

namespace cuszi::gpu {

namespace {

struct TileWay {
  bool narrow;  ///< all integers fit pairs
  bool seeks;   ///< finds extremes; only if narrow, required unless all values are certain
};

/// Whether points are read in another type: then by four, and one frame a launch.
template <class T, class Points>
constexpr bool are_converted = !std::is_same_v<typename Points::Stored, T>;

/// `frames`: OneFrame or, for values, narrow and seeking, ManyFrames.
template <class T, class Shape, class Points, class Frames>
void launch_encoding(DeviceContext& gpu, const Frames& frames, const TileWay& way, bool by_four,
                     unsigned blocks) {
  constexpr unsigned threads = TilesPolicy<T>::threads;
  constexpr bool is_one = std::is_same_v<Frames, OneFrame<TileTask<T, Shape, Points>>>;
  const auto start = [&](auto vector) {
    const auto launch = [&]<class Numbers, bool seeking>() {
      encode_chunks<T, Shape, vector(), Numbers, seeking, Points>
          <<<blocks, threads, 0, gpu.stream()>>>(frames);
    };
    if constexpr (Points::makes_logs) {
      encode_chunks_of_logs<T, Shape, vector()><<<blocks, threads, 0, gpu.stream()>>>(frames.task);
    } else if constexpr (Points::are_logs) {  // rare
      launch.template operator()<WideTile<Shape>, false>();
    } else if constexpr (!is_one) {
      launch.template operator()<NarrowTile<Shape>, true>();
    } else if (!way.narrow) {
      launch.template operator()<WideTile<Shape>, false>();
    } else if constexpr (are_converted<T, Points>) {
      launch.template operator()<NarrowTile<Shape>, true>();
    } else if (way.seeks || !vector()) {
      launch.template operator()<NarrowTile<Shape>, true>();
    } else {
      launch.template operator()<NarrowTile<Shape>, false>();
    }
  };
  if constexpr (are_converted<T, Points>) {
    start(std::true_type{});
  } else {
    with_flag(by_four, start);
  }
  check_launch("encode_chunks");
}

template <class T, class Points = ValuePoints<T>>
struct FrameOfTiles {
  const FrameInput<T>* input;
  TileQuantizer<T> quantizer;
  Points points;

  const typename Points::Stored* values() const {
    if constexpr (are_converted<T, Points>) {
      return reinterpret_cast<const typename Points::Stored*>(input->stored.bytes);
    } else {
      return input->values;
    }
  }
  bool allows_four() const {
    const T* const originals = input->originals;
    return gpu::allows_four(input->extents, values()) &&
           (originals == nullptr || gpu::allows_four(input->extents, originals));
  }
};

/// Frames that share a kernel and its launch. Logarithms and converted values: one frame.
template <class T, class Shape, class Points = ValuePoints<T>>
class TilesEncoder {
 public:
  using Frames = std::vector<FrameOfTiles<T, Points>>;

  /// Starts. `room_words`: of each frame's codes, if not as usual.
  TilesEncoder(DeviceContext& gpu, Frames frames, const TileWay& way,
               std::optional<std::uint64_t> room_words = std::nullopt)
      : gpu_(gpu), frames_(std::move(frames)), way_(way) {
    for (const auto& frame : frames_) add(frame.input->extents, room_words);
    out_ = gpu.take<std::uint32_t>(words_);
    totals_ = reinterpret_cast<TileTotals*>(gpu.take_zeroed<std::byte>(
        frames_.size() * sizeof(TileTotals) + chunks_ * sizeof(std::uint64_t)));
    start();
    found_ = download(gpu, totals_, frames_.size());
  }

  const FrameOfTiles<T, Points>& frame(std::size_t i) const { return frames_[i]; }

  /// After the next sync().
  const TileTotals& totals(std::size_t i) const { return found_[i]; }

  /// Codes the frame once more in the rare case that the capacity was too small, and then waits.
  OwnCoded coded(std::size_t i) const {
    if (found_[i].words <= places_[i].room_words) return sections(i);
    const TilesEncoder again(gpu_, {frames_[i]}, way_, found_[i].words);
    gpu_.sync();
    return again.sections(0);
  }

 private:
  using Task = TileTask<T, Shape, Points>;

  struct Place {
    TileGrid grid;
    std::uint64_t first_word;
    std::uint64_t first_chunk;
    std::uint64_t room_words;
  };

  /// In words: half of the values, but at least a few tiles that are raw.
  static std::uint64_t usual_room(const TileGrid& grid) {
    constexpr std::uint64_t few = 2 * TilesPolicy<T>::tiles;
    constexpr std::uint64_t raw_words = 1 + tile_points * sizeof(T) / 4;
    return std::max<std::uint64_t>(count_of(grid.extents) * (sizeof(T) / 4) / 2,
                                   std::min(grid.count, few) * raw_words + 1);
  }

  void add(const Extents3& extents, std::optional<std::uint64_t> room_words) {
    constexpr std::uint64_t alignment = 4;
    const TileGrid grid = TileGrid::of<T, Shape>(extents);
    const std::uint64_t room = room_words ? *room_words : usual_room(grid);
    places_.push_back({grid, words_, chunks_, room});
    blocks_.push_back(grid_of(grid.chunks));
    words_ += ceil_div(grid.chunks + room, alignment) * alignment;
    chunks_ += grid.chunks;
  }

  void start() {
    const auto task = [&](std::size_t i) { return task_of(i); };
    const auto launch = [&](const auto& frames) {
      launch_encoding<T, Shape, Points>(gpu_, frames, way_, frames_.front().allows_four(),
                                        grid_of(chunks_));
    };
    if constexpr (Points::are_logs || are_converted<T, Points>) {
      launch(OneFrame<Task>{task(0)});
    } else {
      visit_many<Task>(gpu_, blocks_, task, launch);
    }
  }

  /// The index and the codes are contiguous, as in an archive.
  Task task_of(std::size_t i) const {
    const auto& [input, quantizer, points] = frames_[i];
    const Place& place = places_[i];
    std::uint32_t* const index = out_ + place.first_word;
    auto* const states = reinterpret_cast<std::uint64_t*>(totals_ + frames_.size());
    return {place.grid,
            TileMap<Shape>(place.grid),
            frames_[i].values(),
            input->missing,
            quantizer,
            input->rules,
            quantizer.certain_magnitude(),
            index,
            index + place.grid.chunks,
            place.room_words,
            states + place.first_chunk,
            totals_ + i,
            points};
  }

  OwnCoded sections(std::size_t i) const {
    const std::span all(out_ + places_[i].first_word, places_[i].grid.chunks + found_[i].words);
    OwnCoded result;
    add_section(SectionId::index, std::as_bytes(all.first(places_[i].grid.chunks)),
                result.sections);
    add_section(SectionId::codes, std::as_bytes(all.subspan(places_[i].grid.chunks)),
                result.sections);
    result.counts.patches = found_[i].patches;
    return result;
  }

  DeviceContext& gpu_;
  Frames frames_;
  TileWay way_;
  std::vector<Place> places_;
  std::vector<std::uint32_t> blocks_;
  std::uint64_t words_ = 0;
  std::uint64_t chunks_ = 0;
  std::uint32_t* out_;
  TileTotals* totals_;
  const TileTotals* found_;
};

using FinishTiles = std::function<void(std::span<std::optional<RangedTiles>>)>;

/// Starts to code frames that share a launch, with their numbers.
template <class Shape, class T, class Points>
FinishTiles start_to_encode_equal(DeviceContext& gpu, std::vector<FrameOfTiles<T, Points>> frames,
                                  std::vector<std::size_t> numbers) {
  const auto encoder = std::make_shared<const TilesEncoder<T, Shape, Points>>(
      gpu, std::move(frames), TileWay{true, true});
  return [encoder, numbers = std::move(numbers)](auto coded) {
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      const auto& [input, quantizer, points] = encoder->frame(i);
      const TileTotals& totals = encoder->totals(i);
      const double min = totals.extremes.min();
      const double max = totals.extremes.max();
      const bool pays = totals.words < count_of(input->extents) * (sizeof(T) / 4);
      if (totals.strange != 0 || !pays || !fits_pairs(quantizer, min, max)) continue;
      coded[numbers[i]] = RangedTiles{encoder->coded(i), min + 0.0, max + 0.0};  // see scan_frame()
    }
  };
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
    const auto encode = [&]<class Points>(const Points& points) {
      const TilesEncoder<T, decltype(shape), Points> encoder(gpu, {{&frame, quantizer, points}},
                                                             way);
      gpu.sync();
      return encoder.coded(0);
    };
    if (frame.originals != nullptr) return encode(LogPoints<T>{frame.originals});
    return visit_values(frame.values, frame.stored,
                        [&]<class S>(const S*) { return encode(ValuePoints<T, S>{}); });
  });
}

template <class T>
std::function<std::vector<std::optional<RangedTiles>>()> start_to_encode_tiles(
    DeviceContext& gpu, std::span<const TilesInput<T>> frames) {
  const auto tiles_of = [&]<class Points = ValuePoints<T>>(std::size_t i) {
    const auto& [params, bound, frame] = frames[i];
    return FrameOfTiles<T, Points>{
        &frame, TileQuantizer<T>(params.half_step, bound, frame.rules), {}};
  };
  const auto fits = [&](std::size_t i) {
    return fits_pairs(tiles_of(i).quantizer, frames[i].frame.min, frames[i].frame.max);
  };
  std::vector<FinishTiles> finish;
  for (auto& numbers : group_equal(frames.size(), [&](std::size_t i) {
         const FrameInput<T>& frame = frames[i].frame;
         const std::size_t alone = frame.values != nullptr ? 0 : i + 1;  // if converted
         return std::tuple(fits(i), rank_of(frame.extents), tiles_of(i).allows_four(), alone);
       })) {
    if (!fits(numbers.front())) continue;
    const FrameInput<T>& first = frames[numbers.front()].frame;
    with_tile_shape(first.extents, [&](auto shape) {
      visit_values(first.values, first.stored, [&]<class S>(const S*) {
        std::vector<FrameOfTiles<T, ValuePoints<T, S>>> equal;
        for (const std::size_t i : numbers)
          equal.push_back(tiles_of.template operator()<ValuePoints<T, S>>(i));
        finish.push_back(start_to_encode_equal<decltype(shape)>(gpu, std::move(equal), numbers));
      });
    });
  }
  return [finish = std::move(finish), count = frames.size()] {
    std::vector<std::optional<RangedTiles>> coded(count);
    for (const FinishTiles& some : finish) some(coded);
    return coded;
  };
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
  return with_tile_shape(extents, [&](auto shape) -> std::optional<CodedLogs> {
    const TilesEncoder<T, decltype(shape), LoggedPoints<T>> encoder(
        gpu, {{&frame, quantizer, points}}, TileWay{true, true});
    gpu.sync();
    const TileTotals& totals = encoder.totals(0);
    const bool too_many = totals.kept > most_kept_in_tiles(count_of(extents));
    if (totals.strange != 0 || too_many) return std::nullopt;
    CodedLogs result{
        encoder.coded(0), {}, totals.extremes.min() + 0.0, totals.extremes.max() + 0.0};
    result.own.min = totals.own.min() + 0.0;  // see scan_frame()
    result.own.max = totals.own.max() + 0.0;
    return result;
  });
}

template OwnCoded encode_values(DeviceContext&, const TilesParams&, double,
                                const FrameInput<float>&);
template OwnCoded encode_values(DeviceContext&, const TilesParams&, double,
                                const FrameInput<double>&);
template std::function<std::vector<std::optional<RangedTiles>>()> start_to_encode_tiles(
    DeviceContext&, std::span<const TilesInput<float>>);
template std::function<std::vector<std::optional<RangedTiles>>()> start_to_encode_tiles(
    DeviceContext&, std::span<const TilesInput<double>>);
template std::optional<CodedLogs> encode_logs_unscanned(DeviceContext&, const TilesParams&,
                                                        const TransformChoice&, const ValueBound&,
                                                        const Extents3&, const float*);
template std::optional<CodedLogs> encode_logs_unscanned(DeviceContext&, const TilesParams&,
                                                        const TransformChoice&, const ValueBound&,
                                                        const Extents3&, const double*);

}  // namespace cuszi::gpu

#include <cstring>

#include "cpu_ref/tiles/tile_plane_reader.hpp"
#include "cpu_ref/tiles/tiles.hpp"

namespace cuszi::cpu {

namespace {

template <class T, class Shape>
class TileDecoder : private TilePlaneReader<Shape> {
 public:
  TileDecoder(const TileGrid& grid, const TilesParams& params, const FrameOutput<T>& frame)
      : grid_(grid),
        rows_(grid),
        quantizer_(params.half_step),
        min_(static_cast<T>(frame.min)),
        max_(static_cast<T>(frame.max)),
        values_(frame.values.data()) {
    if (frame.transform == nullptr || !frame.transform->is_by_tiles) return;
    logs_.emplace(std::get<LogTransform>(frame.transform->transform.params), *frame.transform);
  }

  void restore(std::uint64_t tile, const TileView& view) {
    if (view.head.raw) {
      std::memcpy(value_, view.words, sizeof value_);
    } else {
      restore_planes(view);
    }
    rows_.store(value_, grid_.first(tile), values_);
  }

 private:
  using Planes = TilePlaneReader<Shape>;
  using Planes::bytes_;
  using Planes::integer_;
  using Bits = BitsOf<T>;

  void restore_planes(const TileView& view) {
    std::uint64_t base = Planes::begin(view);
    if (logs_) {
      read_signs(base);
      base >>= TileSigns::base_bits;
    }
    Planes::read_integers(view);
    const std::uint32_t first = unzigzag32(static_cast<std::uint32_t>(base));
    if (!logs_) {
      make_values(first);
    } else if (logs_->is_normal) {
      make_values_of_logs<true>(first);
    } else {
      make_values_of_logs<false>(first);
    }
    if (view.head.patched) put_patches();
    bytes_.expect_end();
  }

  void read_signs(std::uint64_t base) {
    if ((base & TileSigns::differ) == 0) {
      for (std::uint32_t& lane : signs_)
        lane = 0 - static_cast<std::uint32_t>(base & TileSigns::all_negative);
      return;
    }
    const auto negative = static_cast<std::uint32_t>(bytes_.take(4));
    const auto mixed = static_cast<std::uint32_t>(bytes_.take(4));
    for (unsigned lane = 0; lane < tile_lanes; ++lane) {
      const bool is_mixed = ((mixed >> lane) & 1) != 0;
      signs_[lane] =
          is_mixed ? static_cast<std::uint32_t>(bytes_.take(4)) : 0 - ((negative >> lane) & 1);
    }
  }

  void make_values(std::uint32_t base) {
    const TileQuantizer<T> quantizer = quantizer_;
    const T min = min_;
    const T max = max_;
    for (unsigned point = 0; point < lane_points; ++point)
      for (unsigned lane = 0; lane < tile_lanes; ++lane)
        value_[point][lane] =
            clamp_restored(quantizer.restored(integer_[point][lane] + base), min, max);
  }

  template <bool normal>
  void make_values_of_logs(std::uint32_t base) {
    const TileQuantizer<T> quantizer = quantizer_;
    const LogRestorer<T> logs = *logs_;
    for (unsigned point = 0; point < lane_points; ++point)
      for (unsigned lane = 0; lane < tile_lanes; ++lane)
        value_[point][lane] = logs.template restored<normal>(
            quantizer.restored(integer_[point][lane] + base), signs_[lane] >> point);
  }

  void put_patches() {
    bytes_.require(2);
    const auto count = static_cast<std::uint32_t>(bytes_.take(2));
    constexpr std::uint32_t value_bytes = sizeof(T);
    bytes_.require(count * (2 + value_bytes));
    for (std::uint32_t i = 0; i < count; ++i) {
      const std::uint64_t position = bytes_.look(2 * i, 2);
      if (position >= tile_points) throw ArchiveError(damaged_tiles);
      const auto bits = static_cast<Bits>(bytes_.look(2 * count + value_bytes * i, value_bytes));
      value_[position % lane_points][position / lane_points] = std::bit_cast<T>(bits);
    }
    bytes_.skip(count * (2 + value_bytes));
  }

  const TileGrid& grid_;
  TileRows<Shape> rows_;
  TileQuantizer<T> quantizer_;
  T min_;
  T max_;
  std::optional<LogRestorer<T>> logs_;  ///< unset if tiles code the values themselves
  T* values_;
  Lanes signs_;
  PointsOf<T> value_;
};

}  // namespace

template <class T>
void decode_values(const TilesParams& params, const Sections& sections,
                   const FrameOutput<T>& frame) {
  with_tile_shape(frame.extents, [&](auto shape) {
    using Decoder = TileDecoder<T, decltype(shape)>;
    const TileGrid grid = TileGrid::of<T, decltype(shape)>(frame.extents);
    decode_chunks<T>(grid, sections, [&] { return Decoder(grid, params, frame); });
  });
}

template void decode_values(const TilesParams&, const Sections&, const FrameOutput<float>&);
template void decode_values(const TilesParams&, const Sections&, const FrameOutput<double>&);

}  // namespace cuszi::cpu

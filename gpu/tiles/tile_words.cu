#include "gpu/runtime/copies.hpp"
#include "gpu/tiles/tile_decoder.cuh"
#include "gpu/tiles/tile_encoder.cuh"
#include "gpu/tiles/tile_words.cuh"

namespace cuszi::gpu {

namespace {

template <class Shape>
using WordTask = TileTask<std::uint32_t, Shape, WordPoints>;
template <class Shape>
using WordRestoreTask = TileRestoreTask<std::uint32_t, Shape, BitsOfValues>;

constexpr unsigned word_threads = TilesPolicy<std::uint32_t>::threads;

template <class Shape>
void start_to_encode(DeviceContext& gpu, const WordTask<Shape>& task) {
  with_flag(allows_four(task.grid.extents, task.values), [&](auto vector) {
    encode_chunks_of_words<std::uint32_t, Shape, vector()>
        <<<grid_of(task.grid.chunks), word_threads, 0, gpu.stream()>>>(task);
  });
  check_launch("encode_chunks_of_words");
}

template <class Shape>
void start_to_decode(DeviceContext& gpu, const WordRestoreTask<Shape>& task) {
  with_flag(allows_four(task.grid.extents, task.values), [&](auto vector) {
    decode_chunks<std::uint32_t, Shape, vector(), WordIntegers<Shape>, BitsOfValues>
        <<<grid_of(task.grid.chunks), word_threads, 0, gpu.stream()>>>(
            OneFrame<WordRestoreTask<Shape>>{task});
  });
  check_launch("decode_chunks");
}

double value_of(const TileWordMap& map, double word) {
  const auto bits = map.flipped(static_cast<std::uint32_t>(static_cast<std::int32_t>(word)));
  return static_cast<double>(std::bit_cast<float>(bits));
}

}  // namespace

std::optional<CodedWords> encode_words(DeviceContext& gpu, const FrameShape& shape,
                                       const std::byte* values) {
  const std::uint64_t room_words = shape.points();
  const TileWordMap map(shape.dtype);
  return with_tile_shape(shape.extents(), [&](auto tile_shape) -> std::optional<CodedWords> {
    using Shape = decltype(tile_shape);
    const auto grid = TileGrid::of<std::uint32_t, Shape>(shape.extents());
    auto* const index = gpu.take<std::uint32_t>(grid.chunks + room_words);
    auto* const totals = reinterpret_cast<TileTotals*>(gpu.take_zeroed<std::byte>(
        sizeof(TileTotals) + grid.chunks * sizeof(std::uint64_t)));  // the chunks' states follow
    const WordTask<Shape> task{grid,
                               TileMap<Shape>(grid),
                               reinterpret_cast<const std::uint32_t*>(values),
                               map,
                               index,
                               index + grid.chunks,
                               room_words,
                               reinterpret_cast<std::uint64_t*>(totals + 1),
                               totals};
    start_to_encode(gpu, task);
    const auto* const found = download(gpu, totals, 1);
    gpu.sync();
    if (found->words > room_words) return std::nullopt;
    CodedWords coded{
        {}, value_of(map, found->extremes.min()), value_of(map, found->extremes.max())};
    const std::span all(index, grid.chunks + found->words);
    add_section(SectionId::index, std::as_bytes(all.first(grid.chunks)), coded.pass.sections);
    add_section(SectionId::codes, std::as_bytes(all.subspan(grid.chunks)), coded.pass.sections);
    return coded;
  });
}

void decode_words(DeviceContext& gpu, const FrameShape& shape, const Sections& sections,
                  std::byte* values) {
  const Bytes index = sections.at(SectionId::index);
  const Bytes codes = sections.at(SectionId::codes);
  with_tile_shape(shape.extents(), [&](auto tile_shape) {
    using Shape = decltype(tile_shape);
    const auto grid = TileGrid::of<std::uint32_t, Shape>(shape.extents());
    if (index.size() != 4 * grid.chunks || codes.size() % 4 != 0)
      throw ArchiveError("the tiles of a frame do not fit their chunks");
    start_to_decode(gpu,
                    WordRestoreTask<Shape>{grid, TileMap<Shape>(grid), TileWordMap(shape.dtype),
                                           index.data(), codes.data(), codes.size() / 4,
                                           reinterpret_cast<std::uint32_t*>(values), gpu.flaws()});
  });
}

}  // namespace cuszi::gpu

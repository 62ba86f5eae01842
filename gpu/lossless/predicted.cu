#include <bit>

#include "core/base/cost.hpp"
#include "core/coders/symbol_lanes.hpp"
#include "gpu/field/ranked_bits.cuh"
#include "gpu/lossless/tables.cuh"
#include "gpu/transform/restoration.cuh"

namespace cuszi::gpu {

namespace {

template <class T>
__global__ void widen(const T* values, std::uint64_t points, std::uint32_t* words) {
  const std::uint64_t i = ItemPolicy::first();
  if (i < points) words[i] = widened(values[i]);
}
template <class T>
__global__ void narrow(const std::uint32_t* words, std::uint64_t points, T* values) {
  const std::uint64_t i = ItemPolicy::first();
  if (i < points) values[i] = narrowed<T>(words[i]);
}

/// The value of bits of a floating-point number.
double value_of(std::uint32_t bits) { return static_cast<double>(std::bit_cast<float>(bits)); }
double value_of(std::uint64_t bits) { return std::bit_cast<double>(bits); }

template <class Word>
PredictedFrame encode(DeviceContext& gpu, const Word* bits, const Extents3& extents,
                      std::uint64_t integer_step) {
  const WordChoice<Word> choice = choose_words(gpu, bits, extents, integer_step);
  const WordGrid cut = WordGrid::of(extents);
  const DeviceGrid grid = take_grid(gpu, cut);
  const TokenBlocks blocks = TokenBlocks::take<Word>(gpu, grid.blocks);
  auto* const counts = gpu.take_zeroed<DeviceCounts>(1);
  const BitExtremes<Word> none;
  auto* const extremes = upload(gpu, &none, 1);
  predict_words(gpu, bits, choice, grid, blocks, counts, extremes);
  gpu.streams().fork([&] {
    list_live_blocks(gpu, blocks, grid.blocks);
    exclusive_sums(gpu, blocks.raw_bits, grid.blocks, blocks.raw_before);
  });
  const PendingTables tables = start_tables(gpu, counts);
  gpu.streams().join();
  const BitExtremes<Word>& seen = *download(gpu, extremes, 1);
  const std::uint64_t& live = *download(gpu, blocks.live_before + grid.blocks, 1);
  const std::uint64_t& raw_bits = *download(gpu, blocks.raw_before + grid.blocks, 1);
  gpu.sync();
  Cost cost = 0;
  for (std::uint32_t i = 0; i < word_classes; ++i) cost += tables.token_costs[i];
  WordHead<Word> head{choice.map, choice.orders, cut.chunk, 0, *tables.tables};
  head.blocks_of_lane = choose_blocks_of_token_lane(live, (cost >> cost_bits) + raw_bits);
  PredictedFrame coded{{}, value_of(seen.min()), value_of(seen.max())};
  coded.words.sections =
      encode_tokens(gpu, blocks,
                    {tables.tokens, tables.classes, grid.blocks, static_cast<std::uint32_t>(live),
                     head.blocks_of_lane, raw_bits});
  const auto owner = std::make_shared<std::vector<std::byte>>(head.write());
  coded.words.sections.head = *owner;
  coded.words.owner = owner;
  return coded;
}

template <class Word>
void decode(DeviceContext& gpu, const WordSections<Bytes>& sections, const Extents3& extents,
            Word* bits) {
  std::vector<std::byte> host(sections.head.size());
  start_copy(gpu, host.data(), sections.head.data(), host.size());
  gpu.sync();
  const auto head = WordHead<Word>::read(host, extents);
  const DeviceGrid grid =
      take_grid(gpu, {extents, head.chunk, WordGrid::block_of_rank(rank_of(extents))});
  const auto blocks = WordsOfBlocks<Word>::take(gpu, grid.blocks);
  count_points(gpu, grid, blocks.points);
  decode_words(gpu, sections, head, grid.blocks, blocks);
  restore_words(gpu, head, grid, blocks, bits);
}

/// Calls f with the words of values that are not narrow.
template <class Byte, class F>
auto with_words(Byte* values, DType dtype, const F& f) {
  using Wide = std::conditional_t<std::is_const_v<Byte>, const std::uint64_t, std::uint64_t>;
  using Usual = std::conditional_t<std::is_const_v<Byte>, const std::uint32_t, std::uint32_t>;
  if (size_of(dtype) == sizeof(Wide)) return f(reinterpret_cast<Wide*>(values));
  return f(reinterpret_cast<Usual*>(values));
}

bool is_aligned(const std::byte* values, ByteCount size) {
  return reinterpret_cast<std::uintptr_t>(values) % size == 0;
}

}  // namespace

PredictedFrame encode_predicted(DeviceContext& gpu, Bytes values, const FrameShape& shape,
                                std::uint64_t step) {
  const std::uint64_t integer_step = is_integer(shape.dtype) ? step : 0;
  const std::uint64_t points = shape.points();
  const auto encode_from = [&](const auto* bits) {
    return encode(gpu, bits, shape.extents(), integer_step);
  };
  if (!is_narrow(shape.dtype)) return with_words(values.data(), shape.dtype, encode_from);
  auto* const words = gpu.take<std::uint32_t>(points);
  with_narrow_type(shape.dtype, [&]<class T>(T /*zero*/) {
    launch_items(gpu, "widen", points, widen<T>, reinterpret_cast<const T*>(values.data()), points,
                 words);
  });
  return encode_from(static_cast<const std::uint32_t*>(words));
}

void decode_predicted(DeviceContext& gpu, const WordSections<Bytes>& sections,
                      const FrameShape& shape, MutableBytes out) {
  const std::uint64_t points = shape.points();
  const bool is_here = is_on_device(out.data()) && is_aligned(out.data(), size_of(shape.dtype));
  std::byte* const values = is_here ? out.data() : gpu.take<std::byte>(out.size());
  const auto decode_to = [&](auto* bits) { decode(gpu, sections, shape.extents(), bits); };
  if (is_narrow(shape.dtype)) {
    auto* const words = gpu.take<std::uint32_t>(points);
    decode_to(words);
    with_narrow_type(shape.dtype, [&]<class T>(T /*zero*/) {
      launch_items(gpu, "narrow", points, narrow<T>, words, points, reinterpret_cast<T*>(values));
    });
  } else {
    with_words(values, shape.dtype, decode_to);
  }
  const std::uint32_t& flaws = *download(gpu, gpu.flaws(), 1);
  if (!is_here) start_copy<std::byte>(gpu, out.data(), values, out.size());
  gpu.sync();
  refuse_flaws(flaws);
}

}  // namespace cuszi::gpu

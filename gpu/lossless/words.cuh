#pragma once

#include <limits>
#include <type_traits>
#include <vector>

#include "core/lossless/choice.hpp"
#include "core/lossless/predicted.hpp"
#include "core/lossless/raw_bits.hpp"
#include "gpu/coders/symbol_lanes.cuh"
#include "gpu/runtime/copies.hpp"
#include "gpu/runtime/launch.cuh"

namespace cuszi::gpu {

// Predicted frames (core/lossless) on a device. Kernels hold a frame by blocks: block i has its
// points in the words, or tokens, from 64 i on; those that are cut off leave some of them unused.

struct WordsPolicy {
  static constexpr unsigned threads = 256;
  static constexpr unsigned warps = threads / 32;
  static constexpr unsigned scan_blocks = 16;   ///< per multiprocessor
  static constexpr unsigned strip_blocks = 4;   ///< likewise
  static constexpr unsigned decode_warps = 16;  ///< of token segments that share tables
};

/// A chunk as kernels see it.
struct WordChunk {
  std::uint64_t first_point;  ///< of the frame
  std::uint64_t first_block;
  std::uint32_t size[3];
};

/// How a frame is cut.
struct DeviceGrid {
  std::uint64_t row;  ///< points from one row to the next
  std::uint64_t plane;
  const WordChunk* chunks;
  std::uint32_t chunk_count;
  std::uint32_t chunk[3];  ///< of all chunks that are not cut off
  std::uint32_t blocks;
  int rank;
};
/// Throws DeviceError if the frame has too many blocks.
DeviceGrid take_grid(DeviceContext& gpu, const WordGrid& grid);

/// The blocks of a frame on the device.
struct DeviceBlocks {
  std::uint8_t* classes;      ///< with room for multiples of 16
  std::uint32_t* raw_bits;    ///< of all tokens of each block
  std::uint64_t* raw_before;  ///< sums, and of all
  std::uint32_t* is_live;
  std::uint64_t* live_before;  ///< likewise
  std::uint32_t* live;         ///< numbers of blocks of other classes than 0

  static DeviceBlocks take(DeviceContext& gpu, std::uint32_t count) {
    DeviceBlocks blocks{};
    blocks.classes = gpu.take<std::uint8_t>(ceil_div(count, 16U) * 16);
    blocks.raw_bits = gpu.take<std::uint32_t>(count);
    blocks.raw_before = gpu.take<std::uint64_t>(std::uint64_t{count} + 1);
    blocks.is_live = gpu.take<std::uint32_t>(count);
    blocks.live_before = gpu.take<std::uint64_t>(std::uint64_t{count} + 1);
    blocks.live = gpu.take<std::uint32_t>(count);
    return blocks;
  }
};

/// The token where a block that is cut off has no point.
inline constexpr std::uint32_t absent_token = token_places;

/// Blocks that are encoded; those of class 0 have no tokens.
struct TokenBlocks : DeviceBlocks {
  std::uint8_t* tokens;     ///< [block][64]
  std::uint32_t* raw;       ///< [block][raw_words]
  std::uint32_t raw_words;  ///< for the most raw bits that a block can have

  template <class Word>
  static TokenBlocks take(DeviceContext& gpu, std::uint32_t count) {
    constexpr std::uint32_t raw_words = word_block * sizeof(Word) / sizeof(std::uint32_t);
    return {DeviceBlocks::take(gpu, count),
            gpu.take<std::uint8_t>(std::uint64_t{count} * word_block),
            gpu.take<std::uint32_t>(std::uint64_t{count} * raw_words), raw_words};
  }
};

/// Blocks that are decoded.
template <class Word>
struct WordsOfBlocks : DeviceBlocks {
  Word* words;           ///< [block][64]; not those of blocks of class 0
  std::uint8_t* points;  ///< of each block

  static WordsOfBlocks take(DeviceContext& gpu, std::uint32_t count) {
    return {DeviceBlocks::take(gpu, count), gpu.take<Word>(std::uint64_t{count} * word_block),
            gpu.take<std::uint8_t>(count)};
  }
};

/// Starts to sum and list blocks, from `is_live`.
void list_live_blocks(DeviceContext& gpu, const DeviceBlocks& blocks, std::uint32_t count);

/// The extremes of floating-point values, by their bits.
template <class Word>
struct BitExtremes {
  using Signed = std::make_signed_t<Word>;
  Signed most_signed = std::numeric_limits<Signed>::min();
  Word most = 0;
  Word least = ~Word{0};

  __device__ void take(Word bits) {
    most_signed = ::max(most_signed, static_cast<Signed>(bits));
    most = ::max(most, bits);
    least = ::min(least, bits);
  }
  /// Merges the extremes of all lanes of a warp into each.
  __device__ void merge_warp() {
    for (unsigned half = 16; half != 0; half /= 2) {
      most_signed = ::max(most_signed, __shfl_xor_sync(~0U, most_signed, half));
      most = ::max(most, __shfl_xor_sync(~0U, most, half));
      least = ::min(least, __shfl_xor_sync(~0U, least, half));
    }
  }
  /// By one thread, to memory that others add to.
  __device__ void add_to(BitExtremes& all) const {
    constexpr bool is_long = sizeof(Word) == 8;
    using Number = std::conditional_t<is_long, long long, int>;
    using Bits = std::make_unsigned_t<Number>;
    atomicMax(reinterpret_cast<Number*>(&all.most_signed), static_cast<Number>(most_signed));
    atomicMax(reinterpret_cast<Bits*>(&all.most), static_cast<Bits>(most));
    atomicMin(reinterpret_cast<Bits*>(&all.least), static_cast<Bits>(least));
  }
  /// The bits of the smallest and of the largest value; those of NaN are beyond infinity.
  Word min() const { return is_negative(most) ? most : least; }
  Word max() const { return most_signed < 0 ? least : static_cast<Word>(most_signed); }
};

/// How often symbols come, as in WordCounts.
struct DeviceCounts {
  std::uint32_t tokens[word_classes * token_places];
  std::uint32_t classes[word_classes * token_places];
};

/// The choice of a frame's words. Waits.
template <class Word>
WordChoice<Word> choose_words(DeviceContext& gpu, const Word* bits, const Extents3& extents,
                              std::uint64_t integer_step);

/// Starts to make the blocks of a frame but for sums and lists, counts their symbols, and adds the
/// values to `extremes`.
template <class Word>
void predict_words(DeviceContext& gpu, const Word* bits, const WordChoice<Word>& choice,
                   const DeviceGrid& grid, const TokenBlocks& blocks, DeviceCounts* counts,
                   BitExtremes<Word>* extremes);
/// Starts to restore the bits of values from the words of blocks, where `points` are known.
template <class Word>
void restore_words(DeviceContext& gpu, const WordHead<Word>& head, const DeviceGrid& grid,
                   const WordsOfBlocks<Word>& blocks, Word* bits);
/// Starts to find how many points each block has.
void count_points(DeviceContext& gpu, const DeviceGrid& grid, std::uint8_t* points);

/// What the host knows of the blocks of a frame before they are coded.
struct WordsToCode {
  const PackedSymbolShare* tokens;   ///< [class][token]
  const PackedSymbolShare* classes;  ///< [class before][class]
  std::uint32_t blocks;
  std::uint32_t live;            ///< blocks
  std::uint32_t blocks_of_lane;  ///< of tokens
  BitCount raw_bits;
};
/// Codes the blocks of a frame: sections on the device, but for the head. Waits.
WordSections<Bytes> encode_tokens(DeviceContext& gpu, const TokenBlocks& blocks,
                                  const WordsToCode& all);

/// Starts to decode classes and words of blocks whose `points` are known. Damage sets flaws or
/// throws ArchiveError. The host waits.
template <class Word>
void decode_words(DeviceContext& gpu, const WordSections<Bytes>& sections,
                  const WordHead<Word>& head, std::uint32_t count,
                  const WordsOfBlocks<Word>& blocks);

struct PredictedFrame {
  PredictedValues words;
  double min = 0;  ///< of f32 and f64; not finite if any value is not
  double max = 0;
};
/// See EncodeSession::encode_lossless(). `values` are on the device.
PredictedFrame encode_predicted(DeviceContext& gpu, Bytes values, const FrameShape& shape,
                                std::uint64_t step);
/// See DecodeSession::decode_lossless(). Sections are on the device.
void decode_predicted(DeviceContext& gpu, const WordSections<Bytes>& sections,
                      const FrameShape& shape, MutableBytes out);

}  // namespace cuszi::gpu

#pragma once

#include <cstdint>

namespace cuszi::gpu {

// How the kernels of coders are launched.

struct AnsCountPolicy {
  static constexpr unsigned threads = 512;
  static constexpr unsigned warps = threads / 32;
  static constexpr unsigned tile_codes = 1U << 16;
  static constexpr unsigned most_bins = 48 * 1024 / sizeof(std::uint32_t);  ///< in shared memory
};

struct FindPolicy {
  static constexpr unsigned threads = 256;
  static constexpr unsigned lane_codes = 16;
  static constexpr unsigned tile_codes = threads * lane_codes;
  static constexpr unsigned tile_numbers = 4096;
};

struct ExpandPolicy {
  static constexpr unsigned threads = 256;
  static constexpr unsigned numbers = 4;  ///< per thread
  static constexpr unsigned tile_numbers = threads * numbers;
};

/// One warp per segment for sequential steps; other work is split into tiles, one warp each.
struct SegmentPolicy {
  static constexpr unsigned threads = 256;
  static constexpr unsigned warps = threads / 32;
  static constexpr unsigned encoder_threads = 64;
  static constexpr unsigned decoder_threads = 32;  ///< one table in shared memory each
  static constexpr unsigned rounds = 4;  ///< of 32 slots, whose raw bits are processed together
  static constexpr std::uint32_t tile_steps = 64;  ///< of a segment's lanes
};

struct TableOrderPolicy {
  static constexpr unsigned threads = 256;  ///< one per table
  static constexpr unsigned warps = threads / 32;
  static constexpr unsigned warp_codes = 512;
  static constexpr unsigned tile_codes = warps * warp_codes;
  static constexpr unsigned blocks_of_multiprocessor = 4;
};

struct CodebookPolicy {
  static constexpr std::uint32_t few_symbols = 4096;  ///< fit shared memory
  static constexpr unsigned few_threads = 256;        ///< more make barriers slow
  static constexpr unsigned many_threads = 1024;
};

struct HuffmanEncodePolicy {
  static constexpr unsigned threads = 256;
  static constexpr unsigned warps = threads / 32;
  static constexpr unsigned packs = 4;  ///< per thread
  static constexpr unsigned blocks_of_multiprocessor = 4;
  static constexpr std::uint32_t most_shared_units = 8192;  ///< more would reduce occupancy
};

struct HuffmanDecodePolicy {
  static constexpr unsigned most_threads = 512;  ///< per block
  static constexpr unsigned blocks_of_multiprocessor = 2;
  static constexpr unsigned group_threads = 128;  ///< that share chunks
  /// Divergence makes a warp as slow as its slowest lane, so warps take few chunks while
  /// multiprocessors have fewer warps than this.
  static constexpr unsigned warps_of_multiprocessor = 16;
  static constexpr unsigned table_threads = 128;
};

}  // namespace cuszi::gpu

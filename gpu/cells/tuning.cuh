#pragma once

namespace cuszi::gpu {

/// How the kernels of `cells` are launched.
struct CellsPolicy {
  /// Predicting and restoring: tiles of a thread block. Its warps execute the same instructions at
  /// about the same time, and the lines of all its tiles fill them. Any GPU has 99 KiB of shared
  /// memory for the cells of a block; where there are 113, blocks may be larger.
  template <class T, class Shape>
  static constexpr int cell_tiles = sizeof(T) == 8 ? 2 : 4;
  template <class T, class Shape>
  static constexpr int most_cell_tiles = sizeof(T) == 4 && Shape::rank == 3 ? 5
                                                                            : cell_tiles<T, Shape>;
  /// A thread a line of the level that has most, or two.
  template <class Shape, int tiles>
  static constexpr int cell_threads = Shape::rank == 3 ? (tiles * 81 + 31) / 32 * 32 : 72 * tiles;
  /// As many thread blocks of a multiprocessor as its shared memory holds cells.
  template <class T, class Shape>
  static constexpr int cell_blocks = sizeof(T) == 4 && Shape::rank != 3 ? 3 : 2;

  static constexpr unsigned background_threads = 1024;

  /// Chains: a warp a segment at a time; warps of a block share tables in shared memory. A block a
  /// multiprocessor, so that all have equally many warps.
  static constexpr unsigned chain_warps = 32;
  /// Encoding needs more registers.
  static constexpr unsigned encode_warps = 24;
  /// Of many small frames: fewer would take long to load their tables.
  static constexpr unsigned fewest_chain_warps = 8;
  /// Decoding classes, which have few segments, pass by pass: warps of a block that decode, and
  /// those that make its tables.
  static constexpr unsigned class_warps = 4;
  static constexpr unsigned class_table_warps = 24;

  /// Counting tokens and contexts: blocks of a multiprocessor that take blocks of codes in turn.
  static constexpr unsigned count_threads = 256;
  static constexpr unsigned count_blocks = 4;
};

}  // namespace cuszi::gpu

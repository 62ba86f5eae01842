#pragma once

namespace cuszi::gpu {

/// How the kernels of `cells` are launched.
struct CellsPolicy {
  /// Predicting and restoring: a thread block a tile. As many blocks of a multiprocessor as its
  /// shared memory holds cells.
  template <class Shape>
  static constexpr int cell_threads = Shape::rank == 3 ? 96 : 128;
  template <class T, class Shape>
  static constexpr int cell_blocks = sizeof(T) == 8     ? 4
                                     : Shape::rank == 3 ? 10
                                                        : 8;

  static constexpr unsigned fit_threads = 512;

  /// Chains: a warp a segment at a time; warps of a block share tables in shared memory. A block a
  /// multiprocessor, so that all have equally many warps.
  static constexpr unsigned chain_warps = 32;
  /// Decoding classes, which have few segments, pass by pass.
  static constexpr unsigned class_warps = 2;

  /// Counting tokens and contexts: blocks of a multiprocessor that take blocks of codes in turn.
  static constexpr unsigned count_threads = 256;
  static constexpr unsigned count_blocks = 4;
};

}  // namespace cuszi::gpu

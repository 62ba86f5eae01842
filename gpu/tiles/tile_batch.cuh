#pragma once

#include <optional>
#include <span>
#include <vector>

#include "core/backend/frame_batch.hpp"
#include "gpu/field/frame_work.cuh"
#include "gpu/tiles/tile_warp.cuh"

namespace cuszi::gpu {

class FramesByKernel {
 public:
  void add(const Extents3& extents, bool by_four, std::size_t number) {
    lists_[static_cast<std::size_t>(rank_of(extents)) - 1][by_four ? 1 : 0].push_back(number);
  }

  /// Calls f(tile shape, whether rows are accessed by four, frame numbers).
  template <class F>
  void for_each(const F& f) const {
    for_shape(LineTile{}, lists_[0], f);
    for_shape(SquareTile{}, lists_[1], f);
    for_shape(BoxTile{}, lists_[2], f);
  }

 private:
  using Numbers = std::vector<std::size_t>;

  template <class Shape, class F>
  static void for_shape(Shape shape, const Numbers (&lists)[2], const F& f) {
    if (!lists[0].empty()) f(shape, std::false_type{}, lists[0]);
    if (!lists[1].empty()) f(shape, std::true_type{}, lists[1]);
  }

  Numbers lists_[3][2];
};

/// Sets what has been coded.
using FinishBatch = std::function<void(std::span<std::optional<BatchCoded>> coded)>;

/// Starts to code those frames of tiles that batch kernels support. Adds what is to be called after
/// the next sync().
void start_to_encode_batch(DeviceContext& gpu, std::span<const BatchEncoding> frames,
                           std::vector<FinishBatch>& finish);

/// Starts to restore those frames of tiles that batch kernels support, and sets their `is_done`.
/// `flaws` has a word of Flaw bits per frame.
void start_to_decode_batch(DeviceContext& gpu, std::span<const BatchDecoding> frames,
                           std::span<BatchDecoded> decoded, std::uint32_t* flaws);

}  // namespace cuszi::gpu

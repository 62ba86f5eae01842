#pragma once

#include <optional>
#include <span>
#include <vector>

#include "core/backend/frame_batch.hpp"
#include "gpu/field/frame_work.cuh"
#include "gpu/tiles/tile_warp.cuh"

namespace cuszi::gpu {

/// The numbers of frames in a batch by the kernel that takes them.
class FramesByKernel {
 public:
  void add(const Extents3& extents, bool by_four, std::size_t number) {
    lists_[static_cast<std::size_t>(rank_of(extents)) - 1][by_four ? 1 : 0].push_back(number);
  }

  /// Calls f(shape, by_four, numbers) for each kernel that has frames: the shape of their tiles and
  /// whether their rows are accessed by four values at a time.
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

/// Codes frames of a batch within their bounds, see FrameBatch::encode(). Waits.
std::vector<std::optional<BatchCoded>> encode_batch(DeviceContext& gpu,
                                                    std::span<const BatchEncoding> frames);

/// Starts to restore frames of a batch, see FrameBatch::decode(): sets `done` of those that kernels
/// of the batch can take. Returns a word for each frame in which they set Flaw bits.
const std::uint32_t* start_to_decode_batch(DeviceContext& gpu,
                                           std::span<const BatchDecoding> frames,
                                           std::span<BatchDecoded> decoded);

}  // namespace cuszi::gpu

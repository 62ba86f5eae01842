#pragma once

#include "core/backend/decode_session.hpp"
#include "core/transform/transform.hpp"
#include "gpu/field/frame_work.cuh"
#include "gpu/field/ranked_bits.cuh"
#include "gpu/field/stored_values.cuh"
#include "gpu/field/stored_values.hpp"
#include "gpu/runtime/context.hpp"
#include "gpu/runtime/copies.hpp"

namespace cuszi::gpu {

/// `negative` has a bit per point.
template <class T>
void transform_values(DeviceContext& gpu, const TransformChoice& choice, const ValueBound& bound,
                      const FillValues& fills, const RestoreRules<T>& rules, const T* values,
                      std::uint64_t points, T* out, std::uint64_t* negative);

/// cpu::restore_values() on the device.
template <class T>
void restore_values(DeviceContext& gpu, const TransformTarget& target, std::uint64_t points,
                    T* values);

/// Throws ArchiveError for flaws.
inline void refuse_flaws(std::uint32_t flaws) {
  if ((flaws & bad_sparse_list) != 0) {
    throw ArchiveError("a sparse list leaves the frame, is out of order or miscounts its entries");
  }
  if ((flaws & bad_chunk_index) != 0) {
    throw ArchiveError("the chunk index is not ascending or leaves the stream");
  }
  if ((flaws & codes_leave_chunk) != 0) throw ArchiveError("the quant-codes leave their chunk");
  if ((flaws & unlisted_outlier) != 0) {
    throw ArchiveError("a quant-code stands for an outlier that is not listed");
  }
  if ((flaws & bad_tiles) != 0) {
    throw ArchiveError("the tiles of a frame do not fit their chunks");
  }
  if ((flaws & bad_ans_segment) != 0) {
    throw ArchiveError("an ANS segment does not end as it should");
  }
  if ((flaws & bad_places) != 0) refuse_places();
  if ((flaws & bad_anchors) != 0)
    throw ArchiveError("the anchors of a frame do not fit their section");
  if ((flaws & wrong_code_counts) != 0) {
    throw ArchiveError("the contexts of a pass do not match the number of its codes");
  }
}

template <class Bits>
struct PutMissing {
  const Bits* missing;
  bool has_one_value;
  Bits* values;

  __device__ void operator()(std::uint64_t point, std::uint64_t rank) const {
    values[point] = missing[has_one_value ? 0 : rank];
  }
};

/// Restores a frame's values on the device, converts them, and copies them to the target.
template <class T>
class Restoration {
 public:
  /// Synchronises if there is a mask. Throws ArchiveError if its number of points is wrong.
  Restoration(DeviceContext& gpu, const FrameTarget& target) : gpu_(gpu), target_(target) {
    const ByteCount size = target.out.size();
    const bool is_there = is_on_device(target.out.data());
    out_ = is_there ? target.out : MutableBytes(gpu.take<std::byte>(size), size);
    const FrameMask& mask = target.mask;
    if (!mask.any()) return;
    missing_ = make_bits(gpu, target.shape.points());
    expand_bits(gpu, mask.bits, target.shape.dims, missing_.words);
    rank_bits(gpu, missing_);
    missing_values_ =
        reinterpret_cast<const BitsOf<T>*>(upload(gpu, mask.values.data(), mask.values.size()));
    const std::uint64_t& found = *download(gpu, missing_.rank_of_block + missing_.blocks, 1);
    gpu.sync();
    check_masked_points(found, mask.count);
  }

  std::uint64_t points() const { return target_.shape.points(); }
  T* values() {
    if (values_ == nullptr) {
      values_ =
          is_cast(target_.shape.dtype) ? gpu_.take<T>(points()) : reinterpret_cast<T*>(out_.data());
    }
    return values_;
  }
  FrameOutput<T> output() {
    values();
    return stored_output();
  }
  /// For `tiles`, without values if these can be written in their stored type.
  FrameOutput<T> tiles_output() {
    const bool has_values = missing_.words != nullptr || target_.transform != nullptr ||
                            !allows_four_converted(target_.shape, out_.data());
    return has_values ? output() : stored_output();
  }

  /// Inverts the transform, restores missing values, synchronises. Throws ArchiveError for flaws.
  void finish() {
    if (target_.transform != nullptr && !target_.transform->is_by_tiles) {
      restore_values(gpu_, *target_.transform, points(), values_);
    }
    if (missing_.words != nullptr) {
      for_each_bit(gpu_, missing_,
                   PutMissing<BitsOf<T>>{missing_values_, target_.mask.has_one_value(dtype_of<T>),
                                         reinterpret_cast<BitsOf<T>*>(values_)});
    }
    if (is_cast(target_.shape.dtype) && values_ != nullptr) {
      from_work(gpu_, target_.shape.dtype, std::as_bytes(std::span(values_, points())), out_);
    }
    const std::uint32_t& flaws = *download(gpu_, gpu_.flaws(), 1);
    if (out_.data() != target_.out.data()) {
      start_copy(gpu_, target_.out.data(), out_.data(), target_.out.size());
    }
    gpu_.sync();
    refuse_flaws(flaws);
  }

 private:
  FrameOutput<T> stored_output() const {
    FrameOutput<T> output{target_.shape.extents(), values_,           missing_,
                          target_.mask.count,      target_.min,       target_.max,
                          target_.shape.dims,      target_.transform, target_.points.from.as_3d(),
                          target_.stride,          target_.local};
    output.stored = {target_.shape.dtype, out_.data()};
    return output;
  }

  DeviceContext& gpu_;
  FrameTarget target_;
  MutableBytes out_;     ///< on the device
  T* values_ = nullptr;  ///< null until values() is called
  RankedBits missing_;
  const BitsOf<T>* missing_values_ = nullptr;
};

}  // namespace cuszi::gpu

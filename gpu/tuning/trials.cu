#include "cpu_ref/base/thread_count.hpp"
#include "gpu/coders/ans.cuh"
#include "gpu/coders/coder.cuh"
#include "gpu/lorenzo/lorenzo.cuh"
#include "gpu/multilevel/multilevel_passes.cuh"
#include "gpu/runtime/copies.hpp"
#include "gpu/runtime/launch.cuh"
#include "gpu/tuning/stencil_fit.cuh"
#include "gpu/tuning/trials.cuh"

namespace cuszi::gpu {

namespace {

/// Slowest axis first.
struct BoxInArray {
  Index4 first{0, 0, 0, 0};
  Index4 count{1, 1, 1, 1};
  Index4 strides{0, 0, 0, 0};

  BoxInArray() = default;
  explicit BoxInArray(const Selection& box) {
    const int rank = box.from.rank();
    std::uint64_t stride = 1;
    for (int i = rank; i-- > 0;) {
      const auto axis = static_cast<std::size_t>(i);
      first[axis] = box.first[axis];
      count[axis] = box.count(i);
      strides[axis] = stride;
      stride *= box.from[i];
    }
  }

  __device__ std::uint64_t point(std::uint64_t i) const {
    std::uint64_t from = 0;
    for (unsigned axis = max_axes; axis-- > 0;) {
      from += (first[axis] + i % count[axis]) * strides[axis];
      i /= count[axis];
    }
    return from;
  }
};

/// One row of blocks per box.
struct BoxesInArray {
  BoxInArray boxes[TrialPart::most_boxes];
  std::uint64_t points_of_box;
  unsigned count;

  dim3 blocks() const { return {blocks_for(points_of_box, ItemPolicy::threads), count}; }

  explicit BoxesInArray(const TrialPart& part)
      : points_of_box(part.boxes.front().points()),
        count(static_cast<unsigned>(part.boxes.size())) {
    for (unsigned i = 0; i < count; ++i) boxes[i] = BoxInArray(part.boxes[i]);
  }
};

template <class T>
__global__ void crop_values(const T* values, BoxesInArray part, T* crop) {
  const std::uint64_t i = ItemPolicy::first();
  if (i >= part.points_of_box) return;
  crop[blockIdx.y * part.points_of_box + i] = values[part.boxes[blockIdx.y].point(i)];
}

__global__ void crop_missing(RankedBits missing, BoxesInArray part, RankedBits crop) {
  const std::uint64_t i = ItemPolicy::first();
  if (i >= part.points_of_box) return;
  if (missing.test(part.boxes[blockIdx.y].point(i))) {
    crop.set(blockIdx.y * part.points_of_box + i);
  }
}

template <class T>
class GpuTrialSession final : public TrialSession {
 public:
  GpuTrialSession(DeviceContext& gpu, const TrialPart& part, const FrameInput<T>& frame,
                  const T* values, Fits<T>& frame_fits)
      : gpu_(gpu),
        whole_(frame),
        values_(values),
        input_(part.all() ? frame : crop_to(part)),
        part_fits_(gpu, input_, part.all() ? values : without_missing(gpu, input_)),
        fits_(part.all() ? frame_fits : part_fits_) {}

  std::vector<std::vector<ClassErrors>> sampled_errors(
      std::span<const MultilevelParams> candidates) override {
    return sampled_errors_of(gpu_, candidates, whole_, values_);
  }

  std::vector<std::uint64_t> costs(std::span<const FrameCoding> candidates) override {
    std::vector<std::uint64_t> bytes(candidates.size());
    const std::size_t tracks = std::min(candidates.size(), side_by_side());
    while (tracks_.size() < tracks) {
      // This one's threads are those of all tracks.
      DeviceContext& gpu = gpu_.other(tracks_.size());
      tracks_.push_back({&gpu, FrameMemory(gpu)});
    }
    int device = 0;
    check(cudaGetDevice(&device), "query the current device");
    const std::vector<FrameCoding> codings = fitted(candidates);
    gpu_.sync();
    gpu_.host().for_each(tracks, [&](std::size_t track) {
      check(cudaSetDevice(device), "select a device");
      for (std::size_t i = track; i < codings.size(); i += tracks) {
        bytes[i] = cost(tracks_[track], codings[i]);
      }
    });
    return bytes;
  }

  std::size_t side_by_side() const override {
    return std::min<std::size_t>(most_tracks, static_cast<std::size_t>(threads_in_use()));
  }

  void for_each(std::size_t count, const std::function<void(std::size_t)>& each) override {
    gpu_.host().for_each(count, each);
  }

 private:
  FrameInput<T> crop_to(const TrialPart& part) {
    const BoxesInArray boxes(part);
    FrameInput<T> input = whole_;
    input.dims = part.dims();
    input.extents = input.dims.as_3d();
    auto* const crop = gpu_.take<T>(part.points());
    crop_values<<<boxes.blocks(), ItemPolicy::threads, 0, gpu_.stream()>>>(whole_.values, boxes,
                                                                           crop);
    check_launch("crop_values");
    input.values = crop;
    if (whole_.missing_points != 0) crop_mask(boxes, part.points(), input);
    return input;
  }

  void crop_mask(const BoxesInArray& boxes, std::uint64_t points, FrameInput<T>& input) {
    const RankedBits missing = make_bits(gpu_, points);
    crop_missing<<<boxes.blocks(), ItemPolicy::threads, 0, gpu_.stream()>>>(whole_.missing, boxes,
                                                                            missing);
    check_launch("crop_missing");
    rank_bits(gpu_, missing);
    const std::uint64_t* const count = download(gpu_, missing.rank_of_block + missing.blocks, 1);
    gpu_.sync();
    input.missing_points = *count;
    input.missing = *count != 0 ? missing : RankedBits{};
  }

  struct Track {
    DeviceContext* gpu;
    FrameMemory memory;
  };
  static constexpr std::size_t most_tracks = 8;

  /// Fitted to the part.
  std::vector<FrameCoding> fitted(std::span<const FrameCoding> candidates) {
    std::vector<FrameCoding> codings(candidates.begin(), candidates.end());
    std::vector<MultilevelParams*> all;
    for (FrameCoding& coding : codings) {
      if (auto* const params = std::get_if<MultilevelParams>(&coding.predictor)) {
        all.push_back(params);
      }
    }
    fits_.fit(all);
    return codings;
  }

  std::uint64_t cost(Track& track, const FrameCoding& coding) const {
    if (const auto* const lorenzo = std::get_if<LorenzoParams>(&coding.predictor)) {
      return lorenzo_bytes(*track.gpu, *lorenzo, coding);
    }
    return multilevel_cost(*track.gpu, track.memory, coding, input_);
  }

  std::uint64_t lorenzo_bytes(DeviceContext& gpu, const LorenzoParams& params,
                              const FrameCoding& coding) const {
    const std::uint64_t points = count_of(input_.extents);
    const std::span<QuantCode> codes(gpu.take<QuantCode>(points), points);
    const Predicted predicted =
        predict_quantise(gpu, params, coding.tolerance.bound, input_, codes.data());
    const std::uint64_t lists = predicted.outliers.size() + predicted.patches.size();
    if (const auto* const ans = std::get_if<AnsParams>(&coding.coder)) {
      return lists + ans_bytes(gpu, *ans, {{codes.data(), nullptr, points, {points, 1}}});
    }
    return lists +
           encode_symbols(gpu, coding.coder, coding.tuning, codes, predicted.histogram, points)
               .size();
  }

  DeviceContext& gpu_;
  FrameInput<T> whole_;
  const T* values_;      ///< NaN if missing
  FrameInput<T> input_;  ///< the part
  Fits<T> part_fits_;
  Fits<T>& fits_;  ///< of the part
  std::vector<Track> tracks_;
};

}  // namespace

template <class T>
std::unique_ptr<TrialSession> make_trial_session(DeviceContext& gpu, const TrialPart& part,
                                                 const FrameInput<T>& frame, const T* values,
                                                 Fits<T>& frame_fits) {
  return std::make_unique<GpuTrialSession<T>>(gpu, part, frame, values, frame_fits);
}

template std::unique_ptr<TrialSession> make_trial_session(DeviceContext&, const TrialPart&,
                                                          const FrameInput<float>&, const float*,
                                                          Fits<float>&);
template std::unique_ptr<TrialSession> make_trial_session(DeviceContext&, const TrialPart&,
                                                          const FrameInput<double>&, const double*,
                                                          Fits<double>&);

}  // namespace cuszi::gpu

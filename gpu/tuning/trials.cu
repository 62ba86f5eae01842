#include "core/base/thread_count.hpp"
#include "gpu/coders/ans.cuh"
#include "gpu/coders/coder.cuh"
#include "gpu/lorenzo/lorenzo.cuh"
#include "gpu/multilevel/multilevel_passes.cuh"
#include "gpu/runtime/copies.hpp"
#include "gpu/runtime/launch.cuh"
#include "gpu/tuning/multilevel_fit.cuh"
#include "gpu/tuning/sampled_cost.cuh"
#include "gpu/tuning/trials.cuh"

namespace cuszi::gpu {

namespace {

/// A box of an array, along its four axes, slowest first.
struct BoxInArray {
  Index4 first{0, 0, 0, 0};
  Index4 count{1, 1, 1, 1};
  Index4 strides{0, 0, 0, 0};

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

  /// The point of the array that is the i-th of the box.
  __device__ std::uint64_t point(std::uint64_t i) const {
    std::uint64_t from = 0;
    for (unsigned axis = max_axes; axis-- > 0;) {
      from += (first[axis] + i % count[axis]) * strides[axis];
      i /= count[axis];
    }
    return from;
  }
};

template <class T>
__global__ void crop_values(const T* values, BoxInArray box, std::uint64_t points, T* crop) {
  const std::uint64_t i = ItemPolicy::first();
  if (i < points) crop[i] = values[box.point(i)];
}

/// Sets the missing points of the box.
__global__ void crop_missing(RankedBits missing, BoxInArray box, std::uint64_t points,
                             RankedBits crop) {
  const std::uint64_t i = ItemPolicy::first();
  if (i < points && missing.test(box.point(i))) crop.set(i);
}

template <class T>
class GpuTrialSession final : public TrialSession {
 public:
  GpuTrialSession(DeviceContext& gpu, const Selection& box, const FrameInput<T>& frame,
                  const T* values, FitAhead<T>& ahead)
      : gpu_(gpu),
        whole_(frame),
        values_(values),
        ahead_(ahead),
        box_(box.all() ? frame : crop_to(box)),
        box_values_(box.all() ? values_ : without_missing(gpu, box_)) {}

  std::vector<std::vector<ClassErrors>> sampled_errors(
      std::span<const MultilevelParams> candidates) override {
    return sampled_errors_of(gpu_, candidates, whole_, values_);
  }

  std::vector<std::uint64_t> costs(std::span<const FrameCoding> candidates) override {
    std::vector<std::uint64_t> bytes(candidates.size());
    const std::size_t tracks = std::min(candidates.size(), most_tracks);
    while (tracks_.size() < tracks) {
      DeviceContext& gpu =
          gpu_.other(tracks_.size());  // this one's threads are those of all tracks
      tracks_.push_back({&gpu, FrameMemory(gpu)});
    }
    int device = 0;
    check(cudaGetDevice(&device), "tell the device in use");
    gpu_.sync();
    const auto cost_on = [&](std::size_t track) {
      for (std::size_t i = track; i < candidates.size(); i += tracks) {
        bytes[i] = cost(tracks_[track], candidates[i]);
      }
    };
    const std::size_t first = ahead_.is_due() ? 1 : 0;
    gpu_.host().for_each(first + tracks, [&](std::size_t i) {
      check(cudaSetDevice(device), "select a device");
      i < first ? ahead_.make() : cost_on(i - first);
    });
    return bytes;
  }

  std::size_t side_by_side() const override {
    return std::min<std::size_t>(most_tracks, static_cast<std::size_t>(usable_threads()));
  }

  void for_each(std::size_t count, const std::function<void(std::size_t)>& each) override {
    gpu_.host().for_each(count, each);
  }

  void expect(const MultilevelParams& likely) override {
    if (side_by_side() > 1) ahead_.expect(likely);
  }

 private:
  FrameInput<T> crop_to(const Selection& selected) {
    const std::uint64_t points = selected.points();
    const BoxInArray box(selected);
    FrameInput<T> input = whole_;
    input.extents = selected.dims().as_3d();
    input.dims = selected.dims();
    auto* const crop = gpu_.take<T>(points);
    crop_values<<<blocks_for(points, ItemPolicy::threads), ItemPolicy::threads, 0, gpu_.stream()>>>(
        whole_.values, box, points, crop);
    check_launch("crop_values");
    input.values = crop;
    if (whole_.missing_points != 0) crop_mask(box, points, input);
    return input;
  }

  void crop_mask(const BoxInArray& box, std::uint64_t points, FrameInput<T>& input) {
    const RankedBits missing = make_bits(gpu_, points);
    crop_missing<<<blocks_for(points, ItemPolicy::threads), ItemPolicy::threads, 0,
                   gpu_.stream()>>>(whole_.missing, box, points, missing);
    check_launch("crop_missing");
    rank_bits(gpu_, missing);
    const std::uint64_t* const count = download(gpu_, missing.rank_of_block + missing.blocks, 1);
    gpu_.sync();
    input.missing_points = *count;
    input.missing = *count != 0 ? missing : RankedBits{};
  }

  /// Where trials are made one after the other, beside those of other tracks.
  struct Track {
    DeviceContext* gpu;
    FrameMemory memory;
  };
  static constexpr std::size_t most_tracks = 8;

  std::uint64_t cost(Track& track, const FrameCoding& coding) const {
    if (const auto* const lorenzo = std::get_if<LorenzoParams>(&coding.predictor)) {
      return lorenzo_bytes(*track.gpu, *lorenzo, coding);
    }
    return multilevel_bytes(track, coding);
  }

  std::uint64_t multilevel_bytes(Track& track, FrameCoding coding) const {
    auto& params = std::get<MultilevelParams>(coding.predictor);
    if (params.coefficients.empty()) {
      fit_coefficients(*track.gpu, track.memory, params, box_, box_values_, FitSample::full);
    }
    return multilevel_cost(*track.gpu, track.memory, coding, box_);
  }

  std::uint64_t lorenzo_bytes(DeviceContext& gpu, const LorenzoParams& params,
                              const FrameCoding& coding) const {
    const std::uint64_t points = count_of(box_.extents);
    const std::span<QuantCode> codes(gpu.take<QuantCode>(points), points);
    const Predicted predicted =
        predict_quantise(gpu, params, coding.room.bound, box_, codes.data());
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
  const T* values_;  ///< without those that are missing
  FitAhead<T>& ahead_;
  FrameInput<T> box_;
  const T* box_values_;  ///< the same of the box
  std::vector<Track> tracks_;
};

}  // namespace

template <class T>
std::unique_ptr<TrialSession> make_trial_session(DeviceContext& gpu, const Selection& box,
                                                 const FrameInput<T>& frame, const T* values,
                                                 FitAhead<T>& ahead) {
  return std::make_unique<GpuTrialSession<T>>(gpu, box, frame, values, ahead);
}

template std::unique_ptr<TrialSession> make_trial_session(DeviceContext&, const Selection&,
                                                          const FrameInput<float>&, const float*,
                                                          FitAhead<float>&);
template std::unique_ptr<TrialSession> make_trial_session(DeviceContext&, const Selection&,
                                                          const FrameInput<double>&, const double*,
                                                          FitAhead<double>&);

}  // namespace cuszi::gpu

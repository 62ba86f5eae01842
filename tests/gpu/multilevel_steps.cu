#include "gpu/runtime/copies.hpp"
#include "gpu/tuning/context_fit.cuh"
#include "tests/gpu/multilevel_steps.hpp"

namespace cuszi::test {

namespace {

using namespace gpu;

template <class V>
std::vector<V> to_host(DeviceContext& gpu, const V* values, std::size_t count) {
  std::vector<V> host(count);
  start_copy(gpu, host.data(), values, count);
  gpu.sync();
  return host;
}

RankedBits bits_of_mask(DeviceContext& gpu, const Mask& mask, std::uint64_t points) {
  if (!mask.any()) return {};
  const RankedBits bits = make_bits(gpu, points);
  start_copy(gpu, bits.words, mask.words.data(), mask.words.size());
  rank_bits(gpu, bits);
  return bits;
}

/// The steps of one frame, in the order of an encoder and then of a decoder.
template <class T>
class DeviceSteps {
 public:
  explicit DeviceSteps(const StepFrame<T>& frame)
      : task_(frame),
        points_(frame.values.size()),
        original_(upload(gpu_, frame.values.data(), points_)),
        missing_(bits_of_mask(gpu_, frame.mask, points_)),
        error_sum_(gpu_.take_zeroed<std::int64_t>(1)),
        restored_(gpu_.take<T>(points_)),
        memory_(gpu_),
        frame_(gpu_, memory_, frame.params, frame.min, frame.max, restored_) {}

  FrameSteps<T> run() {
    FrameSteps<T> steps;
    for (int number = 0; number < frame_.passes(); ++number) {
      steps.passes.push_back(encode(number));
    }
    for (int number = 0; number < frame_.passes(); ++number) {
      add_contexts(number, steps.passes[static_cast<std::size_t>(number)]);
    }
    steps.error_sum = to_host(gpu_, error_sum_, 1).front();
    steps.coarse_values = coarse_values();
    frame_.leave();
    steps.encoded = to_host(gpu_, restored_, points_);
    steps.decoded = decode(steps.passes);
    return steps;
  }

 private:
  std::vector<T> coarse_values() {
    const Bytes bytes = frame_.coarse_values();
    return to_host(gpu_, reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T));
  }

  Quantizer<T> quantizer(int number) const {
    return Quantizer<T>(task_.params.half_step_of(frame_.pass(number).level), task_.bound,
                        task_.min, task_.max, task_.params.radius);
  }

  PassSteps encode(int number) {
    const std::uint64_t points = frame_.pass(number).points;
    auto* const codes = gpu_.take<QuantCode>(points);
    auto* const count = gpu_.take_zeroed<std::uint64_t>(1);
    const RankedBits outliers = make_bits(gpu_, points);
    frame_.enter(number);
    quantise_pass(gpu_, frame_.view(number),
                  QuantiseTask<T>{original_,
                                  missing_,
                                  {},
                                  quantizer(number),
                                  codes,
                                  outliers,
                                  count,
                                  error_sum_,
                                  error_units / task_.bound,
                                  frame_.listed(number)});
    PassSteps steps;
    steps.codes = to_host(gpu_, codes, points);
    steps.outliers = to_host(gpu_, count, 1).front();
    const Bytes list =
        list_outliers(gpu_, frame_.view(number), original_, outliers, steps.outliers);
    steps.outlier_list = to_host(gpu_, list.data(), list.size());
    if (missing_.words != nullptr) {
      auto* const places = gpu_.take<std::uint8_t>(points);
      find_missing_positions(gpu_, frame_.view(number), missing_, places);
      steps.missing = to_host(gpu_, places, points);
    }
    return steps;
  }

  void add_contexts(int number, PassSteps& steps) {
    const std::vector<ContextWeights> weights =
        choose_weights(gpu_, frame_, {number, number + 1}, missing_, remembered_).front();
    auto* const contexts = gpu_.take<std::uint8_t>(steps.codes.size());
    fill_contexts(gpu_, frame_.view(number), upload(gpu_, weights.data(), weights.size()),
                  contexts);
    steps.weights = write_weights(weights);
    steps.contexts = to_host(gpu_, contexts, steps.codes.size());
  }

  std::vector<T> decode(const std::vector<PassSteps>& passes) {
    T* const values = gpu_.take<T>(points_);
    LevelFrame<T> frame(gpu_, memory_, task_.params, task_.min, task_.max, values);
    for (int number = 0; number < frame.passes(); ++number) {
      const PassSteps& pass = passes[static_cast<std::size_t>(number)];
      const auto* const list = upload(gpu_, pass.outlier_list.data(), pass.outlier_list.size());
      SparseView outliers;
      if (!pass.outlier_list.empty()) {
        outliers =
            decode_sparse(gpu_, {Bytes(list, pass.outlier_list.size())}, pass.codes.size()).front();
      }
      frame.enter(number);
      restore_pass(gpu_, frame.view(number),
                   RestoreTask<T>{missing_, quantizer(number),
                                  upload(gpu_, pass.codes.data(), pass.codes.size()), outliers,
                                  gpu_.flaws()});
    }
    frame.leave();
    return to_host(gpu_, values, points_);
  }

  DeviceContext gpu_;
  const StepFrame<T>& task_;
  std::uint64_t points_;
  const T* original_;
  RankedBits missing_;
  std::int64_t* error_sum_;
  T* restored_;
  FrameMemory memory_;
  LevelFrame<T> frame_;
  RememberedWeights remembered_;
};

}  // namespace

template <class T>
FrameSteps<T> steps_on_device(const StepFrame<T>& frame) {
  return DeviceSteps<T>(frame).run();
}

template FrameSteps<float> steps_on_device(const StepFrame<float>&);
template FrameSteps<double> steps_on_device(const StepFrame<double>&);

}  // namespace cuszi::test

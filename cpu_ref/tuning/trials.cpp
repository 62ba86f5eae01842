#include "cpu_ref/tuning/trials.hpp"

#include <algorithm>
#include <memory>
#include <optional>

#include "core/base/growing_memory.hpp"
#include "core/multilevel/context.hpp"
#include "cpu_ref/coders/coder.hpp"
#include "cpu_ref/lorenzo/lorenzo.hpp"
#include "cpu_ref/multilevel/multilevel.hpp"

namespace cuszi::cpu {

namespace {

template <class T>
struct Crop {
  std::vector<T> values;
  Mask mask;
};

template <class T>
Crop<T> crop_to(const TrialPart& part, const FrameInput<T>& frame) {
  Crop<T> crop{std::vector<T>(part.points()), pick(part.boxes, dtype_of<T>, frame.mask)};
  pick(part.boxes, dtype_of<T>, std::as_bytes(frame.values),
       std::as_writable_bytes(std::span(crop.values)));
  return crop;
}

template <class T>
std::uint64_t bytes_of(const MultilevelParams& params, const FrameCoding& coding,
                       const FrameInput<T>& frame) {
  const auto engine = make_encoder(params, coding.tolerance, frame);
  ByteWriter head;
  params.write(head);
  std::uint64_t bytes = head.size();
  const auto passes = static_cast<int>(make_schedule(params.lattice).passes.size());
  const std::size_t points = frame.values.size();
  const auto codes = make_host_array<QuantCode>(points);
  const auto contexts = make_host_array<std::uint8_t>(points);
  std::vector<PassCodes> coded;
  std::size_t first = 0;
  for (int number = 0; number < passes; ++number) {
    const Pass& pass = engine->pass(number);
    const std::span<QuantCode> own_codes(codes.get() + first, pass.points);
    const std::span<std::uint8_t> own_contexts(contexts.get() + first, pass.points);
    std::vector<SparseEntry> outliers;
    engine->predict_quantise(number, own_codes, outliers);
    bytes += engine->fit_contexts(number, own_contexts).size();
    coded.push_back(
        {own_codes, own_contexts, shape_of(pass, std::get<MultilevelParams>(coding.predictor))});
    first += pass.points;
    bytes += SparseList::encode(outliers, pass.points).size();
  }
  return bytes + coded_bytes(coding.coder, coding.tuning, coded);
}

template <class T>
class CpuTrialSession final : public TrialSession {
 public:
  CpuTrialSession(const TrialPart& part, const FrameInput<T>& frame)
      : whole_(frame),
        crop_(part.all() ? Crop<T>{} : crop_to(part, frame)),
        frame_(part.all() ? frame
                          : FrameInput<T>{part.dims().as_3d(), crop_.values, crop_.mask, frame.min,
                                          frame.max, part.dims(), frame.rules}) {}

  std::vector<std::vector<ClassErrors>> sampled_errors(
      std::span<const MultilevelParams> candidates) override {
    const std::vector<T> cleaned = without_missing(whole_);
    const T* const values = cleaned.empty() ? whole_.values.data() : cleaned.data();
    return sampled_errors_of(candidates, whole_, values);
  }

  std::vector<std::uint64_t> costs(std::span<const FrameCoding> candidates) override {
    std::vector<std::uint64_t> bytes;
    for (const FrameCoding& coding : candidates) {
      if (const auto* const lorenzo = std::get_if<LorenzoParams>(&coding.predictor)) {
        bytes.push_back(lorenzo_bytes(*lorenzo, coding));
      } else {
        const auto& params = std::get<MultilevelParams>(coding.predictor);
        bytes.push_back(bytes_of(fitted(params), coding, frame_));
      }
    }
    return bytes;
  }

 private:
  /// Fitted to the part, once for all level-wise bounds.
  MultilevelParams fitted(MultilevelParams params) {
    const auto same = std::find_if(fitted_.begin(), fitted_.end(), [&](const auto& other) {
      return have_same_fits(params, other);
    });
    if (same != fitted_.end()) {
      params.coefficients = same->coefficients;
      return params;
    }
    fit_coefficients(params, frame_);
    return fitted_.emplace_back(std::move(params));
  }

  /// Predicts once for several coders.
  std::uint64_t lorenzo_bytes(const LorenzoParams& params, const FrameCoding& coding) {
    if (predicted_ != params || bound_ != coding.tolerance.bound) {
      codes_.resize(frame_.values.size());
      Predicted<T> predicted{codes_, {}, {}, {}};
      predict_quantise(params, coding.tolerance.bound, frame_, predicted);
      list_bytes_ = SparseList::encode(predicted.outliers, codes_.size()).size() +
                    SparseList::encode(predicted.patches, codes_.size()).size();
      predicted_ = params;
      bound_ = coding.tolerance.bound;
    }
    std::vector<QuantCode> codes = codes_;  // coders may reorder them
    const PassCodes pass{codes, {}, {codes.size(), 1}};
    return list_bytes_ + coded_bytes(coding.coder, coding.tuning, std::span(&pass, 1));
  }

  FrameInput<T> whole_;
  Crop<T> crop_;
  FrameInput<T> frame_;
  std::vector<MultilevelParams> fitted_;
  std::optional<LorenzoParams> predicted_;
  double bound_ = 0;
  std::vector<QuantCode> codes_;
  std::uint64_t list_bytes_ = 0;
};

}  // namespace

template <class T>
std::unique_ptr<TrialSession> make_trial_session(const TrialPart& part,
                                                 const FrameInput<T>& frame) {
  return std::make_unique<CpuTrialSession<T>>(part, frame);
}

template std::unique_ptr<TrialSession> make_trial_session(const TrialPart&,
                                                          const FrameInput<float>&);
template std::unique_ptr<TrialSession> make_trial_session(const TrialPart&,
                                                          const FrameInput<double>&);

}  // namespace cuszi::cpu

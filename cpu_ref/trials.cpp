#include "cpu_ref/trials.hpp"

#include "core/energy.hpp"
#include "cpu_ref/ans.hpp"
#include "cpu_ref/huffman.hpp"
#include "cpu_ref/lorenzo.hpp"
#include "cpu_ref/multilevel.hpp"

namespace cuszi::cpu {

namespace {

/// The values of a trial box and which of them are missing.
template <class T>
struct Crop {
  std::vector<T> values;
  Mask mask;
};

template <class T>
Crop<T> crop_to(const TrialBox& box, const Dims& dims, const FrameInput<T>& frame) {
  const Dims whole = dims.squeezed();
  const auto rank = static_cast<std::size_t>(whole.rank());
  Crop<T> crop;
  crop.values.reserve(box.dims.count());
  crop.mask.words.resize(ceil_div(box.dims.count(), 64), 0);
  for (std::uint64_t i = 0; i < box.dims.count(); ++i) {
    std::uint64_t point = 0;
    std::uint64_t stride = 1;
    std::uint64_t rest = i;
    for (std::size_t axis = rank; axis-- > 0;) {
      const std::uint64_t extent = box.dims.extents()[axis];
      point += (box.first.at(axis) + rest % extent) * stride;
      stride *= whole.extents()[axis];
      rest /= extent;
    }
    crop.values.push_back(frame.values[point]);
    if (!frame.mask.any() || !frame.mask(point)) continue;
    crop.mask.words[i / 64] |= std::uint64_t{1} << (i % 64);
    ++crop.mask.count;
  }
  if (crop.mask.count == 0) crop.mask.words.clear();
  return crop;
}

/// What compressing the frame with these parameters takes, in bytes.
template <class T>
std::uint64_t trial_bytes(MultilevelParams params, double bound, const FrameInput<T>& frame) {
  fit_coefficients(params, frame, FitSample::trial);
  const auto engine = make_encoder(params, bound, frame, FitSample::trial);
  const AnsParams coder{params.radius};
  ByteWriter head;
  params.write(head);
  std::uint64_t bytes = head.size();
  const auto passes = static_cast<int>(make_schedule(params).passes.size());
  for (int number = 0; number < passes; ++number) {
    const Pass& pass = engine->pass(number);
    std::vector<QuantCode> codes(pass.points);
    std::vector<std::uint8_t> contexts(pass.points);
    std::vector<SparseEntry> outliers;
    engine->predict_quantise(number, codes, outliers);
    bytes += engine->fit_contexts(number, contexts).size();
    const AnsStream stream = ans_encode(coder, codes, contexts, pass.groups * contexts_per_group);
    bytes += stream.index.size() + stream.codes.size() +
             SparseList::encode(outliers, pass.points).size();
  }
  return bytes;
}

ByteCount size_of(const AnsStream& stream) { return stream.index.size() + stream.codes.size(); }

ByteCount size_of(const HuffmanStream& stream) {
  return stream.codebook.size() + stream.index.size() + stream.codes.size();
}

struct LorenzoTrial {
  std::uint64_t bytes;
  CoderId coder;
};

/// The same for the Lorenzo predictor, with the better coder where that may be chosen: tokens see
/// no pattern in the raw bits of large codes, which values on a coarse grid make.
template <class T>
LorenzoTrial try_lorenzo(const LorenzoParams& params, const FrameConfig& config, double bound,
                         const FrameInput<T>& frame) {
  std::vector<QuantCode> codes(frame.values.size());
  Predicted<T> predicted{codes, {}, {}, {}};
  predict_quantise(params, bound, frame, predicted);
  const std::uint64_t lists = SparseList::encode(predicted.outliers, codes.size()).size() +
                              SparseList::encode(predicted.patches, codes.size()).size();
  const auto huffman = [&] {
    const HuffmanParams coder{config.huffman.chunk, config.huffman.index, config.huffman.partition};
    return LorenzoTrial{lists + size_of(huffman_encode(coder, HuffmanWidth::automatic, codes)),
                        CoderId::huffman};
  };
  if (config.coder == CoderId::huffman) return huffman();
  const LorenzoTrial ans{lists + size_of(ans_encode({params.radius}, codes, {}, 1)), CoderId::ans};
  if (!config.automatic_coder) return ans;
  const LorenzoTrial other = huffman();
  return other.bytes < ans.bytes ? other : ans;
}

/// The Lorenzo predictor with the step of `other`; tokens make a large radius free.
LorenzoParams lorenzo_like(const MultilevelParams& other, const Dims& dims) {
  LorenzoParams params = LorenzoParams::draft({}, dims.as_3d());
  params.half_step = other.half_step;
  params.radius = other.radius;
  return params;
}

}  // namespace

template <class T>
Method refine(MultilevelParams params, const FrameConfig& config, double bound, const Dims& dims,
              const FrameInput<T>& frame) {
  const PredictorConfig& predictor = config.predictor;
  const TrialBox box = trial_box(dims, predictor.multilevel.effort);
  const bool whole = box.dims.count() == dims.count();
  const Crop<T> crop = whole ? Crop<T>{} : crop_to(box, dims, frame);
  const FrameInput<T> input =
      whole ? frame : FrameInput<T>{box.dims.as_3d(), crop.values, crop.mask, frame.min, frame.max};
  const auto lowest = choose_by_trials(
      params, predictor.multilevel, dims, box,
      [&](const MultilevelParams& candidate) { return trial_bytes(candidate, bound, input); });
  if (predictor.automatic && lowest) {
    const LorenzoTrial lorenzo = try_lorenzo(lorenzo_like(params, box.dims), config, bound, input);
    if (lorenzo.bytes < *lowest) return {lorenzo_like(params, dims), lorenzo.coder};
  }
  fit_coefficients(params, frame);
  return {params, config.coder};
}

template Method refine(MultilevelParams, const FrameConfig&, double, const Dims&,
                       const FrameInput<float>&);
template Method refine(MultilevelParams, const FrameConfig&, double, const Dims&,
                       const FrameInput<double>&);

}  // namespace cuszi::cpu

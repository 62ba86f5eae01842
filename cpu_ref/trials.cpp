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
Crop<T> crop_to(const Selection& box, const FrameInput<T>& frame) {
  Crop<T> crop{std::vector<T>(box.points()), pick(box, dtype_of<T>, frame.mask)};
  pick(box, dtype_of<T>, std::as_bytes(frame.values),
       std::as_writable_bytes(std::span(crop.values)));
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
  const auto passes = static_cast<int>(make_schedule(params.lattice).passes.size());
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
  const Selection selected = trial_box(dims, predictor.multilevel.effort);
  const Dims box = selected.dims();
  const Crop<T> crop = selected.all() ? Crop<T>{} : crop_to(selected, frame);
  const FrameInput<T> input =
      selected.all() ? frame
                     : FrameInput<T>{box.as_3d(), crop.values, crop.mask, frame.min, frame.max};
  const auto lowest = choose_by_trials(
      params, predictor.multilevel, dims, box,
      [&](const MultilevelParams& candidate) { return trial_bytes(candidate, bound, input); });
  if (predictor.automatic && lowest) {
    const LorenzoTrial lorenzo = try_lorenzo(lorenzo_like(params, box), config, bound, input);
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

#include "core/signs/signs.hpp"
#include "gpu/cells/cells.cuh"
#include "gpu/coders/coder.cuh"
#include "gpu/coders/nvcomp.hpp"
#include "gpu/interp/interp.cuh"
#include "gpu/lorenzo/lorenzo.cuh"
#include "gpu/lossless/words.cuh"
#include "gpu/multilevel/multilevel_passes.cuh"
#include "gpu/runtime/copies.hpp"
#include "gpu/runtime/launch.cuh"
#include "gpu/session/sessions.hpp"
#include "gpu/signs/signs.cuh"
#include "gpu/tiles/tile_words.cuh"
#include "gpu/tiles/tiles.cuh"
#include "gpu/transform/restoration.cuh"
#include "gpu/zfp/zfp_coding.cuh"

namespace cuszi::gpu {

namespace {

constexpr unsigned fill_blocks = 16;  ///< per multiprocessor

/// Missing points get a code that is no outlier.
__global__ void insert_missing(const QuantCode* symbols, std::uint64_t points, RankedBits missing,
                               QuantCode* codes) {
  const std::uint64_t point = ItemPolicy::first();
  if (point >= points) return;
  codes[point] = missing.test(point) ? QuantCode{1} : symbols[point - missing.rank(point)];
}

template <class Bits>
__global__ void fill_values(Bits* values, std::uint64_t points, Bits bits) {
  for (std::uint64_t i = ItemPolicy::first(); i < points; i += ItemPolicy::step()) values[i] = bits;
}

/// For predictors with one pass and no contexts.
template <class T>
class GpuPassDecoder final : public PassDecoder {
 public:
  GpuPassDecoder(DeviceContext& gpu, const FrameTarget& target, const PredictorParams& predictor,
                 const CoderParams& coder)
      : gpu_(gpu), predictor_(predictor), coder_(coder), restoration_(gpu, target) {}

  void decode(std::span<const CodedLevel> levels) override {
    const Sections& sections = levels.front().sections.front();
    const std::uint64_t points = restoration_.points();
    const FrameOutput<T> frame = restoration_.output();
    std::uint64_t left_out = 0;
    visit_one_pass(predictor_, [&](const auto& params) {
      if (!params.codes_missing_points) left_out = frame.missing_points;
    });
    const std::uint64_t count = points - left_out;
    codes_ = gpu_.take<QuantCode>(count);
    gpu_.flaws();  // before concurrent kernels set them
    const bool has_patches = std::holds_alternative<LorenzoParams>(predictor_);
    const PendingSparse lists(gpu_,
                              {sections.find(SectionId::outliers),
                               has_patches ? sections.find(SectionId::patches) : Bytes{}},
                              points);
    const PendingSymbols symbols = start_decoding(gpu_, coder_, sections, points);
    gpu_.sync();
    if (lists.any()) gpu_.streams().fork([&] { exceptions_ = unpack(lists); });
    symbols({codes_, count});
    if (left_out != 0) insert_missing_codes(points);
  }

  void contexts(int /*pass*/, const Sections& /*sections*/) override {}

  void place(int /*pass*/) override {}

  void reconstruct(int /*pass*/, const Sections& sections) override {
    gpu_.streams().join();
    visit_one_pass(predictor_, [&](const auto& params) {
      gpu::reconstruct(gpu_, params, codes_, sections, exceptions_, restoration_.output());
    });
  }

  void finish() override { restoration_.finish(); }

 private:
  static ExceptionLists unpack(const PendingSparse& lists) {
    const std::vector<SparseView> views = lists.unpack();
    return {views[0], views[1]};
  }

  void insert_missing_codes(std::uint64_t points) {
    const QuantCode* const symbols = codes_;
    codes_ = gpu_.take<QuantCode>(points);
    launch_items(gpu_, "insert_missing", points, insert_missing, symbols, points,
                 restoration_.output().missing, codes_);
  }

  DeviceContext& gpu_;
  const PredictorParams& predictor_;
  const CoderParams& coder_;
  Restoration<T> restoration_;
  QuantCode* codes_ = nullptr;
  ExceptionLists exceptions_;  ///< concurrent with the codes
};

class GpuDecodeSession final : public DecodeSession {
 public:
  GpuDecodeSession(FrameSlot& slot, DeviceContext& gpu, Bytes payload)
      : DecodeSession(slot), gpu_(gpu) {
    gpu_.reset();
    payload_ = bring(gpu_, payload);
  }

  Bytes payload() const override { return payload_; }

  void learn_begin(Bytes begin) override { begin_ = begin; }

  void unpack(Sections& sections) override { bitcomp_unpack(gpu_, sections); }

  std::span<const std::uint64_t> decode_signs(Bytes section, const Dims& dims,
                                              const Selection& points) override {
    const Bytes begin = section.first(std::min<ByteCount>(section.size(), SignHead::most_bytes));
    const std::uint64_t words = ceil_div(dims.count(), 64);
    const std::uint64_t* const signs = gpu::decode_signs(gpu_, section, copy_on_host(begin), dims);
    if (points.all()) return {signs, words};
    std::vector<std::uint64_t> picked(words);
    start_copy(gpu_, picked.data(), signs, words);
    gpu_.sync();
    picked = pick(points, picked);
    return {upload(gpu_, picked.data(), picked.size()), picked.size()};
  }

  std::unique_ptr<PassDecoder> passes(const FrameTarget& target, const PredictorParams& predictor,
                                      const CoderParams& coder) override {
    return with_type_of(
        work_of(target.shape.dtype), [&](auto zero) -> std::unique_ptr<PassDecoder> {
          using T = decltype(zero);
          if (const auto* const multilevel = std::get_if<MultilevelParams>(&predictor)) {
            return make_multilevel_decoder<T>(gpu_, target, *multilevel, coder);
          }
          return std::make_unique<GpuPassDecoder<T>>(gpu_, target, predictor, coder);
        });
  }

  void decode_values(const FrameTarget& target, const PredictorParams& predictor,
                     std::span<const Sections> passes) override {
    with_type_of(work_of(target.shape.dtype), [&](auto zero) {
      Restoration<decltype(zero)> restoration(gpu_, target);
      visit_own_coder(predictor, [&]<class Params>(const Params& params) {
        if constexpr (std::is_same_v<Params, TilesParams>) {
          gpu::decode_values(gpu_, params, passes.front(), restoration.tiles_output());
        } else if constexpr (std::is_same_v<Params, CellsParams>) {
          const Bytes codebook = passes.front().find(SectionId::codebook);
          gpu::decode_values(gpu_, params, passes, on_host(codebook), restoration.output());
        } else {
          gpu::decode_values(gpu_, params, passes.front(), restoration.output());
        }
      });
      restoration.finish();
    });
  }

  void decode_words(const FrameShape& stored, const Sections& sections, MutableBytes out) override {
    std::byte* const values =
        is_on_device(out.data()) ? out.data() : gpu_.take<std::byte>(out.size());
    gpu::decode_words(gpu_, stored, sections, values);
    const std::uint32_t& flaws = *download(gpu_, gpu_.flaws(), 1);
    if (values != out.data()) start_copy(gpu_, out.data(), values, out.size());
    gpu_.sync();
    refuse_flaws(flaws);
  }
  void decode_lossless(const WordSections<Bytes>& sections, const FrameShape& stored,
                       MutableBytes out) override {
    decode_predicted(gpu_, sections, stored, out);
  }

  void fill(const FrameTarget& target, std::uint64_t bits) override {
    with_type_of(work_of(target.shape.dtype), [&](auto zero) {
      using Bits = BitsOf<decltype(zero)>;
      Restoration<decltype(zero)> restoration(gpu_, target);
      const std::uint64_t points = restoration.points();
      launch_in_turn(gpu_, "fill_values", points, fill_blocks, fill_values<Bits>,
                     reinterpret_cast<Bits*>(restoration.values()), points,
                     static_cast<Bits>(bits));
      restoration.finish();
    });
  }

 private:
  /// A part of the payload; empty if it has not been copied.
  Bytes on_host(Bytes part) const {
    const bool is_inside = !std::less<>{}(part.data(), payload_.data());
    const ByteCount first = is_inside ? static_cast<ByteCount>(part.data() - payload_.data()) : 0;
    if (!is_inside || first + part.size() > begin_.size()) return {};
    return begin_.subspan(first, part.size());
  }

  /// A part of the payload; waits if it has not been copied.
  Bytes copy_on_host(Bytes part) {
    const Bytes known = on_host(part);
    if (!known.empty()) return known;
    const std::byte* const copy = download(gpu_, part.data(), part.size());
    gpu_.sync();
    return {copy, part.size()};
  }

  DeviceContext& gpu_;
  Bytes payload_;
  Bytes begin_;
};

}  // namespace

std::unique_ptr<DecodeSession> make_decode_session(FrameSlot& slot, DeviceContext& gpu,
                                                   Bytes payload) {
  return std::make_unique<GpuDecodeSession>(slot, gpu, payload);
}

}  // namespace cuszi::gpu

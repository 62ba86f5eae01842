#include <algorithm>
#include <optional>

#include "gpu/coders/ans.cuh"
#include "gpu/coders/coder.cuh"
#include "gpu/field/hash.cuh"
#include "gpu/multilevel/context.cuh"
#include "gpu/multilevel/gaps.cuh"
#include "gpu/multilevel/multilevel_passes.cuh"
#include "gpu/runtime/copies.hpp"
#include "gpu/transform/restoration.cuh"

namespace cuszi::gpu {

namespace {

template <class T>
class MultilevelDecoder final : public PassDecoder {
 public:
  MultilevelDecoder(DeviceContext& gpu, const FrameTarget& target, const MultilevelParams& params,
                    const CoderParams& coder)
      : gpu_(gpu),
        params_(params),
        coder_(coder),
        restoration_(gpu, target),
        output_(restoration_.output()),
        memory_(gpu),
        local_(target.local),
        points_(target.points) {}

  void decode(std::span<const CodedLevel> levels) override {
    CopyList downloads;
    for (const CodedLevel& level : levels) {
      for (const Sections& sections : level.sections) {
        coded_.push_back(sections);
        Sections& on_host = on_host_.emplace_back();
        for (const SectionId id : {SectionId::contexts, SectionId::lattice_hash}) {
          const Bytes bytes = sections.find(id);
          if (bytes.empty()) continue;
          on_host.add(id,
                      Bytes(download(gpu_, bytes.data(), bytes.size(), downloads), bytes.size()));
        }
      }
    }
    downloads.run(gpu_.stream());
    if (const auto* const ans = std::get_if<AnsParams>(&coder_)) {
      ans_.emplace(gpu_, *ans, levels);
    } else {
      gpu_.sync();
    }
    make_frame();  // while codes are decoded
  }

  void contexts(int pass, const Sections& /*sections*/) override {
    enter(pass);
    const ContextWeights* const weights = weights_ + first_weights_[static_cast<unsigned>(pass)];
    std::uint8_t* const contexts = contexts_ + frame_->start(pass);
    fill_contexts(gpu_, frame_->view(pass), weights, contexts);
    if (!params_.split_contexts || bounds_ == nullptr) return;
    split_contexts(gpu_, frame_->view(pass), bounds_, contexts_of(frame_->pass(pass)), contexts);
  }

  void place(int pass) override {
    const std::uint64_t start = frame_->start(pass);
    const std::uint64_t points = frame_->pass(pass).points;
    const std::uint8_t* const contexts = contexts_ == nullptr ? nullptr : contexts_ + start;
    if (!gaps_.any()) {
      decode_codes(pass, contexts, points, codes_ + start);
      return;
    }
    const PassRange range{pass, pass + 1};
    if (contexts != nullptr) gaps_.close(gpu_, range, contexts_, closed_contexts_);
    decode_codes(pass, contexts == nullptr ? nullptr : closed_contexts_ + gaps_.start(pass),
                 gaps_.count(pass), closed_codes_ + gaps_.start(pass));
    gaps_.open(gpu_, range, closed_codes_, codes_);
  }

  void reconstruct(int pass, const Sections& sections) override {
    enter(pass);
    if (frame_->follows_coarse_lattice(pass)) check_coarse_lattice(on_host(pass));
    const std::uint64_t points = frame_->pass(pass).points;
    const Quantizer<T> quantizer(params_.half_step_of(frame_->pass(pass).level), 0, output_.min,
                                 output_.max, params_.radius);
    const Bytes list = sections.find(SectionId::outliers);
    const SparseView outliers =
        list.empty() ? SparseView{} : decode_sparse(gpu_, {list}, points).front();
    restore_pass(gpu_, frame_->view(pass),
                 RestoreTask<T>{output_.missing, quantizer, codes_ + frame_->start(pass), outliers,
                                gpu_.flaws(), frame_->listed(pass), local_quantizers_of(pass)});
  }

  void finish() override {
    frame_->leave();
    restoration_.finish();
  }

 private:
  void make_frame() {
    frame_.emplace(gpu_, memory_, params_, output_.min, output_.max, output_.values);
    codes_ = gpu_.take<QuantCode>(frame_->points());
    if (local_ != nullptr) {
      bounds_ = spread_bounds(gpu_, *local_, points_, gpu_.take<std::uint8_t>(frame_->points()));
    }
    gaps_ = Gaps(gpu_, *frame_, output_.missing);
    if (gaps_.any()) {
      closed_codes_ = gpu_.take<QuantCode>(gaps_.start(frame_->passes()));
      closed_contexts_ = gpu_.take<std::uint8_t>(gaps_.start(frame_->passes()));
    }
    if (!uses_contexts(coder_)) return;
    contexts_ = gpu_.take<std::uint8_t>(frame_->points());
    upload_weights();
  }

  void enter(int pass) {
    if (pass <= entered_) return;
    frame_->enter(pass);
    entered_ = pass;
  }

  LocalQuantizers<T> local_quantizers_of(int pass) {
    if (bounds_ == nullptr) return {};
    const auto all =
        local_quantizers<T>(*local_, params_, frame_->pass(pass).level, output_.min, output_.max);
    return {bounds_, upload(gpu_, all.data(), all.size())};
  }

  void upload_weights() {
    RememberedWeights remembered;
    std::vector<ContextWeights> all;
    // More passes may be coded than a preview shows.
    const int passes = std::min(static_cast<int>(coded_.size()), frame_->passes());
    for (int pass = 0; pass < passes; ++pass) {
      first_weights_.push_back(all.size());
      const auto weights = read_weights(on_host(pass).find(SectionId::contexts), frame_->plan(),
                                        frame_->pass(pass), remembered);
      all.insert(all.end(), weights.begin(), weights.end());
    }
    weights_ = upload(gpu_, all.data(), all.size());
  }

  void decode_codes(int pass, const std::uint8_t* contexts, std::uint64_t count,
                    QuantCode* codes) const {
    const auto number = static_cast<std::size_t>(pass);
    if (ans_) {
      ans_->place(number, contexts, count, codes);
    } else if (count != 0) {
      auto* const aligned = gpu_.take<QuantCode>(count);  // decoders write whole words
      decode_symbols(gpu_, coder_, coded_[number], {aligned, count}, frame_->pass(pass).points);
      start_copy(gpu_, codes, static_cast<const QuantCode*>(aligned), count);
    }
  }

  const Sections& on_host(int pass) const { return on_host_[static_cast<std::size_t>(pass)]; }

  void check_coarse_lattice(const Sections& sections) {
    ByteReader in(sections.at(SectionId::lattice_hash), "the hash of the coarse lattice");
    if (in.get<std::uint64_t>() != block_hash(gpu_, frame_->coarse_values())) {
      throw ArchiveError("the coarse lattice was not restored to what the encoder saw");
    }
  }

  DeviceContext& gpu_;
  const MultilevelParams& params_;
  const CoderParams& coder_;
  Restoration<T> restoration_;
  FrameOutput<T> output_;
  FrameMemory memory_;
  std::optional<LevelFrame<T>> frame_;
  std::vector<Sections> coded_;    ///< by pass
  std::vector<Sections> on_host_;  ///< read by the host
  std::optional<AnsCodes> ans_;
  Gaps gaps_;
  const LocalBounds* local_;
  Selection points_;                      ///< of the target, in the frame
  const std::uint8_t* bounds_ = nullptr;  ///< of the target's points; null: the frame's bound
  QuantCode* closed_codes_ = nullptr;     ///< without missing points
  std::uint8_t* closed_contexts_ = nullptr;
  QuantCode* codes_ = nullptr;               ///< by pass and code position
  std::uint8_t* contexts_ = nullptr;         ///< likewise
  const ContextWeights* weights_ = nullptr;  ///< by pass and group, on the device
  std::vector<std::size_t> first_weights_;   ///< by pass
  int entered_ = -1;
};

}  // namespace

template <class T>
std::unique_ptr<PassDecoder> make_multilevel_decoder(DeviceContext& gpu, const FrameTarget& target,
                                                     const MultilevelParams& predictor,
                                                     const CoderParams& coder) {
  return std::make_unique<MultilevelDecoder<T>>(gpu, target, predictor, coder);
}

template std::unique_ptr<PassDecoder> make_multilevel_decoder<float>(DeviceContext&,
                                                                     const FrameTarget&,
                                                                     const MultilevelParams&,
                                                                     const CoderParams&);
template std::unique_ptr<PassDecoder> make_multilevel_decoder<double>(DeviceContext&,
                                                                      const FrameTarget&,
                                                                      const MultilevelParams&,
                                                                      const CoderParams&);

}  // namespace cuszi::gpu

#include <optional>

#include "gpu/ans.cuh"
#include "gpu/energy.cuh"
#include "gpu/hash.cuh"
#include "gpu/host_steps.hpp"
#include "gpu/multilevel_passes.cuh"
#include "gpu/restoration.cuh"

namespace cuszi::gpu {

namespace {

template <class T>
class MultilevelDecoder final : public PassDecoder {
 public:
  MultilevelDecoder(Work& work, const FrameTarget& target, const MultilevelParams& params,
                    const CoderParams& coder)
      : work_(work),
        params_(params),
        coder_(coder),
        restoration_(work, target),
        output_(restoration_.output()),
        memory_(work),
        frame_(work, memory_, params, target.min, target.max, output_.values),
        codes_(work.take<QuantCode>(frame_.points())),
        contexts_(uses_contexts(coder) ? work.take<std::uint8_t>(frame_.points()) : nullptr) {}

  void decode(std::span<const CodedLevel> levels) override {
    const auto* const ans = std::get_if<AnsParams>(&coder_);
    const bool on_device = ans != nullptr && output_.missing_points == 0;
    for (const CodedLevel& level : levels) {
      for (const Sections& sections : level.sections) {
        Sections& on_host = sections_.emplace_back();
        for (const Section& section : sections.list()) {
          if (on_device && (section.id == SectionId::index || section.id == SectionId::codes)) {
            continue;
          }
          const ByteCount size = section.bytes.size();
          on_host.add(section.id, Bytes(work_.download(section.bytes.data(), size), size));
        }
      }
    }
    work_.sync();
    if (on_device) {
      ans_.emplace(work_, *ans, levels);
      return;
    }
    std::span<const Sections> rest = sections_;
    for (const CodedLevel& level : levels) {
      const std::size_t passes = level.sections.size();
      levels_.push_back(decode_on_host(coder_, {level.shapes, rest.first(passes)}));
      rest = rest.subspan(passes);
      for (std::size_t i = 0; i < passes; ++i) {
        place_of_pass_.push_back({levels_.back().get(), i, level.shapes[i]});
      }
    }
  }

  void contexts(int pass, const Sections& /*sections*/) override {
    enter(pass);
    const auto weights = read_weights(on_host(pass).find(SectionId::weights), frame_.plan(),
                                      frame_.pass(pass), remembered_);
    fill_contexts(work_, frame_.view(pass), work_.upload(weights.data(), weights.size()),
                  contexts_ + frame_.start(pass));
  }

  void place(int pass) override {
    const std::uint64_t points = frame_.pass(pass).points;
    const std::uint64_t start = frame_.start(pass);
    if (ans_) {
      ans_->place(static_cast<std::size_t>(pass), contexts_ + start, points, codes_ + start);
      return;
    }
    const PassOfLevel& of = place_of_pass_[static_cast<std::size_t>(pass)];
    std::vector<QuantCode> codes(points);
    std::vector<std::uint8_t> contexts(contexts_ != nullptr ? points : 0);
    std::vector<std::uint8_t> missing(output_.missing_points != 0 ? points : 0);
    work_.copy(contexts.data(), contexts_ + start, contexts.size());
    if (!missing.empty()) {
      auto* const places = work_.take<std::uint8_t>(points);
      find_missing_places(work_, frame_.view(pass), output_.missing, places);
      work_.copy(missing.data(), places, points);
    }
    work_.sync();
    of.level->place(of.number, {codes, contexts, missing, of.shape});
    work_.copy(codes_ + start, codes.data(), points);
    work_.sync();
  }

  void reconstruct(int pass, const Sections& sections) override {
    enter(pass);
    if (frame_.follows_coarse_lattice(pass)) check_coarse_lattice(on_host(pass));
    const std::uint64_t points = frame_.pass(pass).points;
    const Quantizer<T> quantizer(params_.half_step_of(frame_.pass(pass).level), 0, output_.min,
                                 output_.max, params_.radius);
    const Bytes list = sections.find(SectionId::outliers);
    const SparseView outliers =
        list.empty() ? SparseView{} : decode_sparse(work_, {list}, points).front();
    restore_pass(work_, frame_.view(pass),
                 RestoreTask<T>{output_.missing, quantizer, codes_ + frame_.start(pass), outliers,
                                work_.flaws(), frame_.listed(pass)});
  }

  void finish() override {
    frame_.leave();
    restoration_.finish();
  }

 private:
  void enter(int pass) {
    if (pass <= entered_) return;
    frame_.enter(pass);
    entered_ = pass;
  }

  struct PassOfLevel {
    const HostLevel* level;
    std::size_t number;
    PassShape shape;
  };

  const Sections& on_host(int pass) const { return sections_[static_cast<std::size_t>(pass)]; }

  void check_coarse_lattice(const Sections& sections) {
    ByteReader in(sections.at(SectionId::lattice_hash), "the hash of the coarse lattice");
    if (in.get<std::uint64_t>() != block_hash(work_, frame_.coarse_values())) {
      throw ArchiveError("the coarse lattice was not restored to what the encoder saw");
    }
  }

  Work& work_;
  const MultilevelParams& params_;
  const CoderParams& coder_;
  Restoration<T> restoration_;
  FrameOutput<T> output_;
  FrameMemory memory_;
  LevelFrame<T> frame_;
  std::vector<Sections> sections_;  ///< of all passes, in the host's memory
  std::optional<AnsCodes> ans_;     ///< of frames without missing points
  std::vector<std::unique_ptr<HostLevel>> levels_;
  std::vector<PassOfLevel> place_of_pass_;
  QuantCode* codes_;        ///< by pass and place
  std::uint8_t* contexts_;  ///< of the same
  RememberedWeights remembered_;
  int entered_ = -1;
};

}  // namespace

template <class T>
std::unique_ptr<PassDecoder> make_multilevel_decoder(Work& work, const FrameTarget& target,
                                                     const MultilevelParams& predictor,
                                                     const CoderParams& coder) {
  return std::make_unique<MultilevelDecoder<T>>(work, target, predictor, coder);
}

template std::unique_ptr<PassDecoder> make_multilevel_decoder<float>(Work&, const FrameTarget&,
                                                                     const MultilevelParams&,
                                                                     const CoderParams&);
template std::unique_ptr<PassDecoder> make_multilevel_decoder<double>(Work&, const FrameTarget&,
                                                                      const MultilevelParams&,
                                                                      const CoderParams&);

}  // namespace cuszi::gpu

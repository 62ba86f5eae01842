#include "gpu/host_steps.hpp"

#include "cpu_ref/coder.hpp"
#include "cpu_ref/gaps.hpp"
#include "cpu_ref/multilevel.hpp"
#include "cpu_ref/trials.hpp"

namespace cuszi::gpu {

namespace {

cpu::Gaps gaps_of(const HostSymbols& symbols) {
  return cpu::Gaps(std::vector<std::uint8_t>(symbols.missing.begin(), symbols.missing.end()));
}

std::span<std::uint8_t> contexts_of(const HostSymbols& symbols, const cpu::Gaps& gaps) {
  return symbols.contexts.empty() ? symbols.contexts : gaps.close(symbols.contexts);
}

class DecodedOnHost final : public HostLevel {
 public:
  DecodedOnHost(const CoderParams& coder, const CodedLevel& level)
      : level_(cpu::decode_level(coder, level)) {}

  void place(std::size_t pass, const HostSymbols& symbols) const override {
    const cpu::Gaps gaps = gaps_of(symbols);
    level_->place(pass, contexts_of(symbols, gaps),
                  symbols.codes.first(symbols.codes.size() - gaps.count()));
    gaps.open(symbols.codes);
  }

 private:
  std::unique_ptr<cpu::DecodedLevel> level_;
};

template <class T>
cpu::FrameInput<T> input_of(const HostFrame<T>& frame) {
  return {frame.dims.as_3d(), frame.values, frame.mask, frame.min,
          frame.max,          frame.dims,   frame.fills};
}

}  // namespace

std::vector<std::vector<HostSection>> encode_on_host(const CoderParams& coder,
                                                     const HuffmanTuning& tuning,
                                                     std::span<const HostSymbols> passes) {
  std::vector<cpu::PassCodes> level;
  for (const HostSymbols& symbols : passes) {
    const cpu::Gaps gaps = gaps_of(symbols);
    const std::span<QuantCode> codes = gaps.close(symbols.codes);
    level.push_back({codes, contexts_of(symbols, gaps), symbols.shape});
  }
  std::vector<std::vector<HostSection>> result;
  for (auto& sections : cpu::encode_level(coder, tuning, level)) {
    std::vector<HostSection>& made = result.emplace_back();
    for (auto& section : sections) made.push_back({section.id, std::move(section.bytes)});
  }
  return result;
}

std::unique_ptr<HostLevel> decode_on_host(const CoderParams& coder, const CodedLevel& level) {
  return std::make_unique<DecodedOnHost>(coder, level);
}

template <class T>
void fit_on_host(MultilevelParams& params, const HostFrame<T>& frame) {
  cpu::fit_coefficients(params, input_of(frame));
}

template <class T>
std::unique_ptr<TrialSession> trials_on_host(const Selection& box, const HostFrame<T>& frame) {
  return cpu::make_trial_session(box, input_of(frame));
}

template void fit_on_host(MultilevelParams&, const HostFrame<float>&);
template void fit_on_host(MultilevelParams&, const HostFrame<double>&);
template std::unique_ptr<TrialSession> trials_on_host(const Selection&, const HostFrame<float>&);
template std::unique_ptr<TrialSession> trials_on_host(const Selection&, const HostFrame<double>&);

}  // namespace cuszi::gpu

#include <algorithm>
#include <cstring>

#include "core/base/growing_memory.hpp"
#include "core/field/stored_type.hpp"
#include "core/multilevel/context.hpp"
#include "core/signs/signs.hpp"
#include "cpu_ref/base/parallel.hpp"
#include "cpu_ref/cells/cells.hpp"
#include "cpu_ref/coders/coder.hpp"
#include "cpu_ref/field/frame_work.hpp"
#include "cpu_ref/field/gaps.hpp"
#include "cpu_ref/interp/interp.hpp"
#include "cpu_ref/lorenzo/lorenzo.hpp"
#include "cpu_ref/multilevel/multilevel.hpp"
#include "cpu_ref/session/sessions.hpp"
#include "cpu_ref/tiles/tile_words.hpp"
#include "cpu_ref/tiles/tiles.hpp"
#include "cpu_ref/transform/transform.hpp"
#include "cpu_ref/zfp/zfp_coding.hpp"

namespace cuszi::cpu {

namespace {

class Restoration {
 public:
  explicit Restoration(const FrameTarget& target)
      : target_(target),
        mask_(expand(target.mask, target.shape.dims, work_of(target.shape.dtype))),
        work_(target.out) {
    if (is_cast(target.shape.dtype)) work_ = memory_.resize(target.shape.work().bytes());
  }

  std::uint64_t points() const { return target_.shape.points(); }
  const Mask& mask() const { return mask_; }

  template <class T>
  FrameOutput<T> output() const {
    return {target_.shape.extents(),
            as_values<T>(work_),
            mask_,
            target_.min,
            target_.max,
            target_.shape.dims,
            target_.transform,
            target_.points.from.as_3d(),
            target_.stride,
            target_.local};
  }

  void finish() const {
    const DType stored = target_.shape.dtype;
    if (target_.transform != nullptr && !target_.transform->is_by_tiles) {
      with_type_of(work_of(stored), [&](auto zero) {
        restore_values(*target_.transform, as_values<decltype(zero)>(work_));
      });
    }
    if (mask_.any()) put_missing(size_of(work_of(stored)));
    if (is_cast(stored)) from_work(stored, work_, target_.out, in_threads);
  }

 private:
  void put_missing(ByteCount size) const {
    const std::byte* value = mask_.values.data();
    for (std::uint64_t i = 0; i < points(); ++i) {
      if (!mask_(i)) continue;
      std::memcpy(work_.data() + i * size, value, size);
      value += size;
    }
  }

  FrameTarget target_;
  Mask mask_;
  Buffer memory_;
  MutableBytes work_;  ///< work values: those of the target, if its type is alike
};

/// For predictors with one pass and no contexts.
template <class T>
class OnePassDecoder final : public PassDecoder {
 public:
  OnePassDecoder(const FrameTarget& target, const PredictorParams& predictor,
                 const CoderParams& coder, Workspace& workspace)
      : restoration_(target), predictor_(predictor), coder_(coder), workspace_(workspace) {}

  void decode(std::span<const CodedLevel> levels) override {
    codes_ = workspace_.codes.first(restoration_.points());
    Gaps gaps;
    visit_one_pass(predictor_, [&](const auto& params) {
      if (!params.codes_missing_points) gaps = Gaps(restoration_.mask());
    });
    decode_level(coder_, levels.front())(0, {}, codes_.first(codes_.size() - gaps.count()));
    gaps.open(codes_);
  }

  void contexts(int /*pass*/, const Sections& /*sections*/) override {}

  void place(int /*pass*/) override {}

  void reconstruct(int /*pass*/, const Sections& sections) override {
    visit_one_pass(predictor_, [&](const auto& params) {
      cpu::reconstruct(params, codes_, sections, restoration_.output<T>());
    });
  }

  void finish() override { restoration_.finish(); }

 private:
  Restoration restoration_;
  const PredictorParams& predictor_;
  const CoderParams& coder_;
  Workspace& workspace_;
  std::span<QuantCode> codes_;
};

/// For `multilevel`.
template <class T>
class MultilevelDecoder final : public PassDecoder {
 public:
  MultilevelDecoder(const FrameTarget& target, const MultilevelParams& predictor,
                    const CoderParams& coder, Workspace& workspace)
      : restoration_(target),
        coder_(coder),
        workspace_(workspace),
        engine_(make_decoder(predictor, restoration_.output<T>(), target.local, target.points)) {}

  void decode(std::span<const CodedLevel> levels) override {
    for (const CodedLevel& level : levels) {
      levels_.push_back(decode_level(coder_, level));
      for (std::size_t i = 0; i < level.shapes.size(); ++i) {
        passes_.push_back({levels_.size() - 1, i});
      }
    }
  }

  void contexts(int pass, const Sections& sections) override {
    contexts_ = workspace_.contexts.first(engine_->pass(pass).points);
    engine_->contexts(pass, sections.find(SectionId::contexts), contexts_);
    contexts_ = Gaps(engine_->missing(pass)).close(contexts_);
  }

  void place(int pass) override {
    const auto [level, number] = passes_[static_cast<std::size_t>(pass)];
    codes_ = workspace_.codes.first(engine_->pass(pass).points);
    const Gaps gaps(engine_->missing(pass));
    levels_[level](number, contexts_, codes_.first(codes_.size() - gaps.count()));
    gaps.open(codes_);
  }

  void reconstruct(int pass, const Sections& sections) override {
    if (engine_->follows_coarse_lattice(pass)) check_coarse_lattice(sections);
    engine_->reconstruct(pass, codes_,
                         SparseList::decode(sections.find(SectionId::outliers), codes_.size()));
  }

  void finish() override { restoration_.finish(); }

 private:
  struct PassOfLevel {
    std::size_t level;
    std::size_t number;
  };

  void check_coarse_lattice(const Sections& sections) const {
    ByteReader in(sections.at(SectionId::lattice_hash), "the hash of the coarse lattice");
    if (in.get<std::uint64_t>() != engine_->coarse_hash()) {
      throw ArchiveError("the coarse lattice was not restored to what the encoder saw");
    }
  }

  Restoration restoration_;
  const CoderParams& coder_;
  Workspace& workspace_;
  std::unique_ptr<MultilevelEngine> engine_;
  std::vector<DecodedLevel> levels_;
  std::vector<PassOfLevel> passes_;
  std::span<std::uint8_t> contexts_;  ///< of symbols; empty: one context
  std::span<QuantCode> codes_;        ///< of points
};

class CpuDecodeSession final : public DecodeSession {
 public:
  CpuDecodeSession(Workspace& workspace, Bytes payload)
      : DecodeSession(workspace.slot), workspace_(workspace), payload_(payload) {}

  Bytes payload() const override { return payload_; }

  void unpack(Sections& /*sections*/) override { refuse_bitcomp("an archive packed with Bitcomp"); }

  std::span<const std::uint64_t> decode_signs(Bytes section, const Dims& dims,
                                              const Selection& points) override {
    signs_ = cuszi::decode_signs(section, dims, in_threads);
    if (!points.all()) signs_ = pick(points, signs_);
    return signs_;
  }

  std::unique_ptr<PassDecoder> passes(const FrameTarget& target, const PredictorParams& predictor,
                                      const CoderParams& coder) override {
    return with_type_of(
        work_of(target.shape.dtype), [&](auto zero) -> std::unique_ptr<PassDecoder> {
          using T = decltype(zero);
          if (const auto* const multilevel = std::get_if<MultilevelParams>(&predictor)) {
            return std::make_unique<MultilevelDecoder<T>>(target, *multilevel, coder, workspace_);
          }
          return std::make_unique<OnePassDecoder<T>>(target, predictor, coder, workspace_);
        });
  }

  void decode_values(const FrameTarget& target, const PredictorParams& predictor,
                     std::span<const Sections> passes) override {
    const Restoration restoration(target);
    with_type_of(work_of(target.shape.dtype), [&](auto zero) {
      const auto output = restoration.output<decltype(zero)>();
      visit_own_coder(predictor, [&]<class Params>(const Params& params) {
        if constexpr (std::is_same_v<Params, CellsParams>) {
          cpu::decode_values(params, passes, output);
        } else {
          cpu::decode_values(params, passes.front(), output);
        }
      });
    });
    restoration.finish();
  }

  void decode_words(const FrameShape& stored, const Sections& sections, MutableBytes out) override {
    cpu::decode_words(stored, sections, out);
  }
  void decode_lossless(const WordSections<Bytes>& sections, const FrameShape& stored,
                       MutableBytes out) override {
    decode_predicted(sections, stored, out, in_threads);
  }

  void fill(const FrameTarget& target, std::uint64_t bits) override {
    const Restoration restoration(target);
    with_type_of(work_of(target.shape.dtype), [&](auto zero) {
      using T = decltype(zero);
      std::ranges::fill(restoration.output<T>().values, value_of<T>(bits));
    });
    restoration.finish();
  }

 private:
  Workspace& workspace_;
  Bytes payload_;
  std::vector<std::uint64_t> signs_;
};

}  // namespace

std::unique_ptr<DecodeSession> make_decode_session(Workspace& workspace, Bytes payload) {
  return std::make_unique<CpuDecodeSession>(workspace, payload);
}

}  // namespace cuszi::cpu

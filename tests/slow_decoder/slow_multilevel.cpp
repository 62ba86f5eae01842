#include "core/base/hash.hpp"
#include "core/field/sparse_list.hpp"
#include "core/multilevel/code_position.hpp"
#include "core/tuning/energy_fit.hpp"
#include "tests/slow_decoder/slow_frame.hpp"

namespace cuszi::slow {

namespace {

template <class T>
class MultilevelDecoder {
 public:
  MultilevelDecoder(const MultilevelParams& params, SlowFrame<T>& frame)
      : params_(params),
        frame_(frame),
        plan_(plan_frame<T>(params, frame.header.min, frame.header.max)),
        magnitudes_(frame.values.size(), 0) {}

  void run() {
    std::vector<T> restored;
    for (std::size_t i = 0; i < plan_.passes.size(); ++i) {
      const Sections& sections = frame_.passes.at(i);
      if (i == plan_.coarse_passes && i != 0) check_coarse_lattice(sections, restored);
      restore_pass(i, sections);
      for (std::uint64_t code_position = 0; code_position < plan_.passes[i].points;
           ++code_position) {
        restored.push_back(*point_at(plan_.passes[i], code_position).at.value);
      }
    }
  }

 private:
  /// A point of a pass and the plan of its class.
  struct Point {
    const ClassPlan<T>& plan;
    PointAt<const T*> at;
    std::uint64_t offset;
  };

  Point point_at(const Pass& pass, std::uint64_t code_position) const {
    std::size_t c = pass.classes;
    while (plan_.classes[pass.first_class + --c].points.start > code_position) {
    }
    const ClassPlan<T>& plan = plan_.classes[pass.first_class + c];
    const Index4 at =
        position_of(plan.points, point_at_code_position(plan_.grid, plan.points, code_position));
    const std::uint64_t offset = offset_of(plan_.grid, at);
    return {plan, {plan_.grid, plan.points, at, frame_.values.data() + offset}, offset};
  }

  void restore_pass(std::size_t number, const Sections& sections) {
    const Pass& pass = plan_.passes[number];
    const std::vector<ContextWeights> weights =
        uses_contexts(*frame_.header.coder)
            ? read_weights(sections.find(SectionId::weights), plan_, pass, remembered_)
            : std::vector<ContextWeights>{};
    std::vector<std::uint64_t> code_positions;  // of the points that have codes
    std::vector<std::uint8_t> contexts;
    for (std::uint64_t code_position = 0; code_position < pass.points; ++code_position) {
      const Point point = point_at(pass, code_position);
      if (frame_.is_missing(point.offset)) continue;
      code_positions.push_back(code_position);
      if (!weights.empty()) contexts.push_back(context_at(point, weights));
    }
    const std::vector<QuantCode> codes =
        decode_codes(frame_, number, code_positions.size(), contexts);
    restore_points(pass, code_positions, codes,
                   SparseList::decode(sections.find(SectionId::outliers), pass.points));
  }

  std::uint8_t context_at(const Point& point, const std::vector<ContextWeights>& weights) const {
    const std::uint32_t group = point.plan.points.group;
    const EnergyFeatures features =
        features_of(point.plan, point.at, magnitudes_.data() + point.offset);
    return context_of(weights.at(group), group, weighted_sum(weights.at(group).weights, features));
  }

  /// Nothing that a pass predicts from is of the same pass, so that its points may be restored in
  /// any order.
  void restore_points(const Pass& pass, const std::vector<std::uint64_t>& code_positions,
                      const std::vector<QuantCode>& codes, const SparseList& outliers) {
    const double no_bound = 0;
    const Quantizer<T> quantizer(params_.half_step_of(pass.level), no_bound, frame_.header.min,
                                 frame_.header.max, params_.radius);
    std::size_t next = 0;
    for (std::uint64_t code_position = 0; code_position < pass.points; ++code_position) {
      const Point point = point_at(pass, code_position);
      T& value = frame_.values[point.offset];
      const T predicted = prediction(point.plan, point.at);
      if (next == code_positions.size() || code_positions[next] != code_position) {
        value = predicted;
        continue;
      }
      const QuantCode code = codes[next++];
      magnitudes_[point.offset] = magnitude_of_code(code, params_.radius);
      value = code == outlier_code
                  ? std::bit_cast<T>(static_cast<BitsOf<T>>(outliers.find(code_position).value()))
                  : cuszi::restore(quantizer, predicted, code);
    }
  }

  void check_coarse_lattice(const Sections& sections, std::vector<T> restored) const {
    for (T& value : restored) value = value_to_hash(value);
    ByteReader in(sections.at(SectionId::lattice_hash), "the hash of the coarse lattice");
    if (in.get<std::uint64_t>() != block_hash(std::as_bytes(std::span(restored)))) {
      throw ArchiveError("the coarse lattice was not restored to what the encoder saw");
    }
  }

  const MultilevelParams& params_;
  SlowFrame<T>& frame_;
  FramePlan<T> plan_;
  std::vector<std::uint8_t> magnitudes_;
  RememberedWeights remembered_;
};

}  // namespace

template <class T>
void restore(const MultilevelParams& params, SlowFrame<T>& frame) {
  MultilevelDecoder<T>(params, frame).run();
}

template void restore(const MultilevelParams&, SlowFrame<float>&);
template void restore(const MultilevelParams&, SlowFrame<double>&);

}  // namespace cuszi::slow

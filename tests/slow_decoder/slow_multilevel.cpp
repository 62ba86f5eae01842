#include "core/base/bytes.hpp"
#include "core/field/sparse_list.hpp"
#include "core/multilevel/code_position.hpp"
#include "core/tuning/context_fit.hpp"
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
        magnitudes_(frame.values.size(), 0) {
    if (!frame.header.bounds || !frame.passes.front().has(SectionId::bounds)) return;
    local_ =
        LocalBounds::decode(frame.passes.front().at(SectionId::bounds), {dtype_of<T>, frame.dims});
    bound_of_point_ = local_.of_points({frame.dims});
  }

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
            ? read_weights(sections.find(SectionId::contexts), plan_, pass, remembered_)
            : std::vector<ContextWeights>{};
    std::vector<std::uint64_t> code_positions;  // of the points that have codes
    std::vector<std::uint8_t> contexts;
    for (std::uint64_t code_position = 0; code_position < pass.points; ++code_position) {
      const Point point = point_at(pass, code_position);
      if (frame_.is_missing(point.offset)) continue;
      code_positions.push_back(code_position);
      if (weights.empty()) continue;
      const bool has_own = !bound_of_point_.empty() && bound_of_point_[point.offset] != 0;
      const std::size_t before = params_.split_contexts && has_own ? contexts_of(pass) : 0;
      contexts.push_back(static_cast<std::uint8_t>(context_at(point, weights) + before));
    }
    const std::vector<QuantCode> codes =
        decode_codes(frame_, number, code_positions.size(), contexts);
    restore_points(pass, code_positions, codes,
                   SparseList::decode(sections.find(SectionId::outliers), pass.points));
  }

  std::uint8_t context_at(const Point& point, const std::vector<ContextWeights>& weights) const {
    const std::uint32_t group = point.plan.points.group;
    const Features features = features_of(point.plan, point.at, magnitudes_.data() + point.offset);
    return context_of(group, weighted_sum(weights.at(group).weights, features));
  }

  /// Nothing that a pass predicts from is of the same pass, so that its points may be restored in
  /// any order.
  void restore_points(const Pass& pass, const std::vector<std::uint64_t>& code_positions,
                      const std::vector<QuantCode>& codes, const SparseList& outliers) {
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
                  : cuszi::restore(quantizer_at(pass.level, point.offset), predicted, code);
    }
  }

  Quantizer<T> quantizer_at(int level, std::uint64_t point) const {
    const double no_bound = 0;
    const std::size_t bound = bound_of_point_.empty() ? 0 : bound_of_point_[point];
    const double half_step = bound == 0 ? params_.half_step : local_.bounds[bound - 1].half_step;
    return Quantizer<T>(params_.half_step_of(level, half_step), no_bound, frame_.header.min,
                        frame_.header.max, params_.radius);
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
  LocalBounds local_;
  std::vector<std::uint8_t> bound_of_point_;  ///< 0: the frame's; none: all have that
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

#include "cpu_ref/multilevel/block_contexts.hpp"

#include <algorithm>
#include <array>

#include "cpu_ref/base/parallel.hpp"
#include "cpu_ref/multilevel/energy_points.hpp"

namespace cuszi::cpu {

namespace {

constexpr std::uint64_t blocks_of_task = 512;

/// Finds the contexts of consecutive blocks of a pass, as many at a time as a pack has numbers.
template <class T>
class BlockContexts {
 public:
  BlockContexts(const FramePlan<T>& plan, const Pass& pass, const Known<T>& known,
                std::span<const ContextWeights> weights)
      : plan_(plan), pass_(pass), known_(known), weights_(weights) {}

  /// Those of the blocks from `first` on.
  void find(std::uint64_t first, std::span<std::uint8_t> contexts) {
    for (std::size_t i = 0; i < contexts.size(); ++i) {
      add(probe_position(first + i, pass_.points), contexts[i]);
    }
    flush();
  }

 private:
  using Points = PointEnergy<T>;

  /// Puts down a probe, and where its context goes.
  void add(std::uint64_t code_position, std::uint8_t& context) {
    if (count_ == places_.size() || !is_in_class(code_position)) flush();
    if (!is_in_class(code_position)) enter_class_of(code_position);
    const Index4 at = position_of(
        class_->points, point_at_code_position(plan_.grid, class_->points, code_position));
    wanted_[count_] = &context;
    places_[count_++] = {at, offset_of(plan_.grid, at)};
  }

  bool is_in_class(std::uint64_t code_position) const {
    return class_ != nullptr && code_position >= class_->points.start && code_position < class_end_;
  }

  void enter_class_of(std::uint64_t code_position) {
    const auto classes = plan_.classes_of(pass_);
    std::size_t c = classes.size() - 1;
    while (classes[c].points.start > code_position) --c;
    class_ = &classes[c];
    class_end_ = class_->points.start + class_->points.points();
  }

  /// Finds the contexts of the probes put down, which are of one class.
  void flush() {
    if (count_ == 0) return;
    const std::uint32_t group = class_->points.group;
    std::array<EnergyFeatures, Points::most_points> features;
    energy_.of(*class_, plan_.grid)
        .features(known_, std::span(places_).first(count_), features.data());
    for (std::size_t k = 0; k < count_; ++k) {
      const std::int32_t sum = weighted_sum(weights_[group].weights, features[k]);
      *wanted_[k] = context_of(weights_[group], group, sum);
    }
    count_ = 0;
  }

  const FramePlan<T>& plan_;
  const Pass& pass_;
  Known<T> known_;
  std::span<const ContextWeights> weights_;
  OfClass<T, Points> energy_;
  const ClassPlan<T>* class_ = nullptr;
  std::uint64_t class_end_ = 0;
  std::array<typename Points::Place, Points::most_points> places_;
  std::array<std::uint8_t*, Points::most_points> wanted_{};
  std::size_t count_ = 0;
};

}  // namespace

template <class T>
void fill_block_contexts(const FramePlan<T>& plan, const Pass& pass, const Known<T>& known,
                         std::span<const ContextWeights> weights,
                         std::span<std::uint8_t> contexts) {
  const std::uint64_t blocks = ceil_div(pass.points, block_codes);
  parallel_for(
      ceil_div(blocks, blocks_of_task),
      [&] { return BlockContexts<T>(plan, pass, known, weights); },
      [&](BlockContexts<T>& blocks_of, std::uint64_t task) {
        const std::uint64_t first = task * blocks_of_task;
        std::array<std::uint8_t, blocks_of_task> found;
        const auto here = std::span(found).first(std::min(blocks_of_task, blocks - first));
        blocks_of.find(first, here);
        for (std::size_t i = 0; i < here.size(); ++i) {
          const std::uint64_t begin = (first + i) * block_codes;
          const auto codes = std::min(block_codes, pass.points - begin);
          std::fill_n(contexts.begin() + static_cast<std::ptrdiff_t>(begin), codes, here[i]);
        }
      },
      [](const auto&) {});
}

template void fill_block_contexts(const FramePlan<float>&, const Pass&, const Known<float>&,
                                  std::span<const ContextWeights>, std::span<std::uint8_t>);
template void fill_block_contexts(const FramePlan<double>&, const Pass&, const Known<double>&,
                                  std::span<const ContextWeights>, std::span<std::uint8_t>);

}  // namespace cuszi::cpu

#include "cpu_ref/multilevel/multilevel.hpp"

#include <numeric>
#include <utility>

#include "core/base/bytes.hpp"
#include "core/base/growing_memory.hpp"
#include "core/tuning/dead_zone.hpp"
#include "cpu_ref/multilevel/context_fit.hpp"
#include "cpu_ref/multilevel/row_predictor.hpp"

namespace cuszi::cpu {

namespace {

/// Local bounds, all smaller than the frame's.
struct BoundsOfPoints {
  std::span<const LocalBound> bounds;
  std::vector<std::uint8_t>
      points;  ///< index from 1; 0 is the frame's bound; empty if all points have it

  BoundsOfPoints() = default;
  BoundsOfPoints(const LocalBounds& local, const Selection& selected)
      : bounds(local.bounds), points(local.of_points(selected)) {}
};

template <class T>
class Engine final : public MultilevelEngine {
 public:
  Engine(MultilevelParams params, const Tolerance& tolerance, double min, double max,
         const Mask& mask, std::span<const T> original, std::span<T> output, BoundsOfPoints local,
         const RestoreRules<T>& rules = {})
      : params_(std::move(params)),
        plan_(plan_frame<T>(params_, min, max)),
        tolerance_(tolerance),
        min_(min),
        max_(max),
        mask_(mask),
        original_(original),
        owned_(output.empty() ? make_host_array<T>(original.size()) : nullptr),
        values_(output.empty() ? std::span<T>(owned_.get(), original.size()) : output),
        magnitudes_(make_host_array<std::uint8_t>(values_.size() + magnitudes_room)),
        local_(std::move(local)),
        rules_(rules),
        error_sums_(plan_.passes.size()) {}

  const Pass& pass(int number) const override {
    return plan_.passes[static_cast<std::size_t>(number)];
  }

  void drop_values() override {
    owned_.reset();
    values_ = {};
    magnitudes_.reset();
  }

  std::vector<std::uint8_t> missing(int number) const override {
    if (!mask_.any()) return {};
    std::vector<std::uint8_t> result(pass(number).points);
    for_each_row_of(pass(number), [&](const ClassPlan<T>& c, const Row& row) {
      for_each_run(row, c.points, plan_.grid,
                   [&](std::size_t k, std::uint64_t code_position, std::uint64_t n) {
                     for (std::size_t i = 0; i < n; ++i) {
                       result[code_position + i] =
                           mask_(row.offset + (k + i) * c.points.step[3]) ? 1 : 0;
                     }
                   });
    });
    return result;
  }

  void predict_quantise(int number, std::span<QuantCode> codes,
                        std::vector<SparseEntry>& outliers) override {
    const auto nearest = [](const ClassPlan<T>&, const Row&, T*) -> const T* { return nullptr; };
    quantise_pass(number, nearest, codes, outliers);
    if (tolerance_.bound_over_half_step > 1) quantise_with_dead_zone(number, codes, outliers);
  }

  void reconstruct(int number, std::span<const QuantCode> codes,
                   const SparseList& outliers) override {
    const Quantizers quantizers = quantizers_of(pass(number));
    for_each_predicted_row<T>(
        plan_, pass(number), values_.data(), [] { return 0; },
        [&](int, const ClassPlan<T>& c, const Row& row, const T* prediction) {
          CodedRow coded;
          for_each_run(row, c.points, plan_.grid,
                       [&](std::size_t k, std::uint64_t code_position, std::uint64_t n) {
                         copy_run(codes.data() + code_position, n, coded.codes + k);
                       });
          for_each_bound(quantizers, c.points, row,
                         [&](const Quantizer<T>& quantizer, std::size_t begin, std::size_t end) {
                           for (std::size_t k = begin; k < end; ++k) {
                             coded.restored[k] = restore(quantizer, prediction[k], coded.codes[k]);
                           }
                         });
          restore_outliers(c.points, row, outliers, coded);
          put_row(c.points, row, prediction, coded);
        },
        [](int) {});
  }

  std::vector<std::byte> fit_contexts(int number, std::span<std::uint8_t> contexts) override {
    const std::vector<ContextWeights> weights =
        fit_weights<T>(plan_, pass(number), known(), mask_, remembered_);
    fill_contexts(number, weights, contexts);
    return write_weights(weights);
  }

  void contexts(int number, Bytes bytes, std::span<std::uint8_t> contexts) override {
    fill_contexts(number, read_weights(bytes, plan_, pass(number), remembered_), contexts);
  }

  bool follows_coarse_lattice(int number) const override {
    return number > 0 && static_cast<std::size_t>(number) == plan_.coarse_passes;
  }

  std::int64_t error_sum() const override {
    return std::accumulate(error_sums_.begin(), error_sums_.end(), std::int64_t{0});
  }

  std::uint64_t coarse_hash() const override {
    const auto passes = std::span(plan_.passes).first(plan_.coarse_passes);
    std::size_t points = 0;
    for (const Pass& pass : passes) points += pass.points;
    const auto coarse = make_host_array<T>(points);
    std::size_t at = 0;
    for (const Pass& pass : passes) {
      for_each_row_of(pass, [&](const ClassPlan<T>& c, const Row& row) {
        for_each_run(row, c.points, plan_.grid,
                     [&](std::size_t k, std::uint64_t code_position, std::uint64_t n) {
                       for (std::size_t i = 0; i < n; ++i) {
                         coarse[at + code_position + i] =
                             value_to_hash(values_[row.offset + (k + i) * c.points.step[3]]);
                       }
                     });
      });
      at += pass.points;
    }
    return block_hash(std::as_bytes(std::span(coarse.get(), points)));
  }

 private:
  Known<T> known() const { return {values_.data(), magnitudes_.get()}; }

  Quantizer<T> quantizer_of(const Pass& pass) const {
    return Quantizer<T>(params_.half_step_of(pass.level), tolerance_.bound, min_, max_,
                        params_.radius, rules_);
  }

  /// For the frame's bound, then local ones.
  using Quantizers = std::vector<Quantizer<T>>;

  Quantizers quantizers_of(const Pass& pass) const {
    Quantizers all{quantizer_of(pass)};
    for (const LocalBound& local : local_.bounds) {
      all.emplace_back(params_.half_step_of(pass.level, local.half_step), local.bound, min_, max_,
                       params_.radius, rules_);
    }
    return all;
  }

  /// Calls work(quantizer, begin, end) for runs of equal bound.
  template <class Work>
  void for_each_bound(const Quantizers& quantizers, const PointClass& points, const Row& row,
                      const Work& work) const {
    if (local_.points.empty()) return work(quantizers.front(), 0, row.count);
    const auto bound_of = [&](std::size_t k) {
      return local_.points[row.offset + k * points.step[3]];
    };
    for (std::size_t begin = 0; begin < row.count;) {
      const std::uint8_t bound = bound_of(begin);
      std::size_t end = begin + 1;
      while (end < row.count && bound_of(end) == bound) ++end;
      work(quantizers[bound], begin, end);
      begin = end;
    }
  }

  template <class Work>
  void for_each_row_of(const Pass& pass, const Work& work) const {
    for_each_row(
        plan_, pass, [] { return 0; },
        [&](int, const ClassPlan<T>& c, const Row& row) { work(c, row); }, [](int) {});
  }

  /// Quantises again with dead zones by context.
  void quantise_with_dead_zone(int number, std::span<QuantCode> codes,
                               std::vector<SparseEntry>& outliers) {
    const Pass& pass = this->pass(number);
    RememberedWeights remembered = remembered_;
    const std::vector<ContextWeights> weights =
        fit_weights<T>(plan_, pass, known(), mask_, remembered);
    std::vector<std::uint8_t> contexts(codes.size());
    fill_contexts(number, weights, contexts);
    const std::vector<T> zone_of = zones_of(contexts, codes);
    const auto zones_of_row = [&](const ClassPlan<T>& c, const Row& row, T* zones) {
      for_each_run(row, c.points, plan_.grid,
                   [&](std::size_t k, std::uint64_t code_position, std::uint64_t n) {
                     for (std::size_t i = 0; i < n; ++i) {
                       zones[k + i] = zone_of[contexts[code_position + i]];
                     }
                   });
      return static_cast<const T*>(zones);
    };
    outliers.clear();
    quantise_pass(number, zones_of_row, codes, outliers);
  }

  /// In steps, by context.
  std::vector<T> zones_of(std::span<const std::uint8_t> contexts,
                          std::span<const QuantCode> codes) const {
    constexpr std::size_t all_contexts = 256;
    std::vector<RareCodes> counts(all_contexts);
    for (std::size_t i = 0; i < codes.size(); ++i) {
      const std::uint8_t magnitude = magnitude_of_code(codes[i], params_.radius);
      if (magnitude < 2) ++counts[contexts[i]][magnitude];
    }
    std::vector<T> zones;
    zones.reserve(all_contexts);
    for (const RareCodes& some : counts) {
      zones.push_back(static_cast<T>(dead_zone_for(some, tolerance_.bound_over_half_step)));
    }
    return zones;
  }

  template <class ZonesOfRow>
  void quantise_pass(int number, const ZonesOfRow& zones_of_row, std::span<QuantCode> codes,
                     std::vector<SparseEntry>& outliers) {
    struct Found {
      std::vector<SparseEntry> outliers;
      std::int64_t errors = 0;
    };
    const Quantizers quantizers = quantizers_of(pass(number));
    std::int64_t& errors = error_sums_[static_cast<std::size_t>(number)];
    errors = 0;
    for_each_predicted_row<T>(
        plan_, pass(number), values_.data(), [] { return Found{}; },
        [&](Found& mine, const ClassPlan<T>& c, const Row& row, const T* prediction) {
          CodedRow coded;
          T zones[row_points];
          mine.errors += quantise_row(quantizers, c.points, row, prediction,
                                      zones_of_row(c, row, zones), coded);
          put_row(c.points, row, prediction, coded);
          const bool any = has_outliers(coded, row.count);
          for_each_run(
              row, c.points, plan_.grid,
              [&](std::size_t k, std::uint64_t code_position, std::uint64_t n) {
                copy_run(coded.codes + k, n, codes.data() + code_position);
                for (std::size_t i = k; any && i < k + n; ++i) {
                  if (coded.codes[i] != outlier_code) continue;
                  mine.outliers.push_back(exact_value(code_position + i - k, coded.restored[i]));
                }
              });
        },
        [&](const Found& mine) {
          append_entries(outliers, mine.outliers);
          errors += mine.errors;
        });
    sort_entries(outliers);
  }

  struct CodedRow {
    QuantCode codes[row_points];
    T restored[row_points];
  };

  static bool has_outliers(const CodedRow& coded, std::size_t count) {
    unsigned outliers = 0;
    for (std::size_t k = 0; k < count; ++k) outliers += coded.codes[k] == outlier_code ? 1 : 0;
    return outliers != 0;
  }

  /// Returns the sum of errors.
  std::int64_t quantise_row(const Quantizers& quantizers, const PointClass& points, const Row& row,
                            const T* prediction, const T* zones, CodedRow& coded) const {
    T original[row_points];
    const auto count = static_cast<std::ptrdiff_t>(row.count);
    with_step(points.step[3], [&](auto step) {
      const T* const from = original_.data() + row.offset;
      for (std::ptrdiff_t k = 0; k < count; ++k) original[k] = from[k * step];
    });
    for_each_bound(quantizers, points, row,
                   [&](const Quantizer<T>& quantizer, std::size_t begin, std::size_t end) {
                     quantise_part(quantizer, begin, end, original, prediction, zones, coded);
                   });
    return errors_of(points, row, original, coded.restored);
  }

  /// Points [first, last) have one bound.
  void quantise_part(const Quantizer<T>& quantizer, std::size_t first, std::size_t last,
                     const T* original, const T* prediction, const T* zones,
                     CodedRow& coded) const {
    const auto begin = static_cast<std::ptrdiff_t>(first);
    const auto end = static_cast<std::ptrdiff_t>(last);
    const auto put = [&](std::ptrdiff_t k, const Quantised<T>& q) {
      coded.codes[k] = q.code;
      coded.restored[k] = q.restored;
    };
    if (zones != nullptr) {
      for (std::ptrdiff_t k = begin; k < end; ++k) {
        put(k, quantise(quantizer, rules_, zones[k], original[k], prediction[k]));
      }
      return;
    }
    constexpr std::ptrdiff_t sure_points = 64;  // tested for certainty together
    for (std::ptrdiff_t from = begin; from < end; from += sure_points) {
      const std::ptrdiff_t to = std::min(from + sure_points, end);
      std::ptrdiff_t certain = 0;
      for (std::ptrdiff_t k = from; k < to; ++k) {
        const Attempt<T> attempt = try_to_quantise(quantizer, original[k], prediction[k]);
        put(k, attempt.result);
        certain += attempt.certain ? 1 : 0;
      }
      for (std::ptrdiff_t k = from; rules_.any() && k < to; ++k) {
        certain -= quantizer.zone.has(original[k]) ? 1 : 0;
      }
      for (std::ptrdiff_t k = from; certain != to - from && k < to; ++k) {
        put(k, quantise(quantizer, rules_, original[k], prediction[k]));
      }
    }
  }

  /// Skips missing points.
  std::int64_t errors_of(const PointClass& points, const Row& row, const T* original,
                         const T* restored) const {
    const double units = error_units_per_one(tolerance_.bound);
    std::int64_t sum = 0;
    for (std::size_t k = 0; k < row.count; ++k) {
      if (mask_.any() && is_missing(points, row, k)) continue;
      sum +=
          error_in_units(static_cast<double>(original[k]), static_cast<double>(restored[k]), units);
    }
    return sum;
  }

  void restore_outliers(const PointClass& points, const Row& row, const SparseList& outliers,
                        CodedRow& coded) const {
    if (!has_outliers(coded, row.count)) return;
    for_each_run(row, points, plan_.grid,
                 [&](std::size_t k, std::uint64_t code_position, std::uint64_t n) {
                   for (std::size_t i = k; i < k + n; ++i) {
                     if (coded.codes[i] != outlier_code || is_missing(points, row, i)) continue;
                     coded.restored[i] = outlier_value(outliers, code_position + i - k);
                   }
                 });
  }

  bool is_missing(const PointClass& points, const Row& row, std::size_t k) const {
    return mask_.any() && mask_(row.offset + k * points.step[3]);
  }

  template <class Value, class Step>
  static void scatter(const Value* from, std::size_t count, Value* to, Step step) {
    for (std::ptrdiff_t k = 0; k < static_cast<std::ptrdiff_t>(count); ++k) to[k * step] = from[k];
  }

  /// Missing points keep their prediction and have no code.
  void put_row(const PointClass& points, const Row& row, const T* prediction, CodedRow& coded) {
    for (std::size_t k = 0; mask_.any() && k < row.count; ++k) {
      if (!is_missing(points, row, k)) continue;
      coded.codes[k] = static_cast<QuantCode>(params_.radius);
      coded.restored[k] = prediction[k];
    }
    std::uint8_t magnitudes[row_points];
    for (std::size_t k = 0; k < row.count; ++k) {
      magnitudes[k] = magnitude_of_code(coded.codes[k], params_.radius);
    }
    with_step(points.step[3], [&](auto step) {
      scatter(coded.restored, row.count, values_.data() + row.offset, step);
      scatter(magnitudes, row.count, magnitudes_.get() + row.offset, step);
    });
  }

  static T outlier_value(const SparseList& outliers, std::uint64_t code_position) {
    const auto bits = outliers.find(code_position);
    if (!bits) throw ArchiveError("a quant-code stands for an outlier that is not listed");
    return value_of<T>(*bits);
  }

  void fill_contexts(int number, std::span<const ContextWeights> weights,
                     std::span<std::uint8_t> contexts) const {
    for_each_row(
        plan_, pass(number), [] { return OfClass<T, RowFeatures<T>>(); },
        [&](auto& features, const ClassPlan<T>& c, const Row& row) {
          std::uint8_t buckets[row_points];
          fill_buckets(c, weights[c.points.group], row, features.of(c, plan_.grid), buckets);
          if (params_.split_contexts) {
            split_contexts(number, c.points, row.offset, {buckets, row.count});
          }
          for_each_run(row, c.points, plan_.grid,
                       [&](std::size_t k, std::uint64_t code_position, std::uint64_t n) {
                         copy_run(buckets + k, n, contexts.data() + code_position);
                       });
        },
        [](const auto&) {});
  }

  /// Separates the contexts of points with their own bounds.
  void split_contexts(int number, const PointClass& points, std::uint64_t offset,
                      std::span<std::uint8_t> contexts) const {
    if (local_.points.empty()) return;
    const auto others = static_cast<std::uint8_t>(contexts_of(pass(number)));
    for (std::size_t k = 0; k < contexts.size(); ++k) {
      const bool has_own = local_.points[offset + k * points.step[3]] != 0;
      contexts[k] = static_cast<std::uint8_t>(contexts[k] + (has_own ? others : 0));
    }
  }

  void fill_buckets(const ClassPlan<T>& c, const ContextWeights& weights, const Row& row,
                    RowFeatures<T>& features, std::uint8_t* buckets) const {
    std::int32_t sums[row_points];
    features.weigh(known(), row, weights.weights, sums);
    const auto first = static_cast<std::uint8_t>(c.points.group * contexts_per_group);
    for (std::size_t k = 0; k < row.count; ++k) {
      buckets[k] = static_cast<std::uint8_t>(first + bucket_by_exponent(sums[k]));
    }
  }

  MultilevelParams params_;
  FramePlan<T> plan_;
  Tolerance tolerance_;
  double min_;
  double max_;
  const Mask& mask_;
  std::span<const T> original_;
  std::unique_ptr<T[]> owned_;  ///< uninitialised: only restored values are read
  std::span<T> values_;
  std::unique_ptr<std::uint8_t[]> magnitudes_;
  BoundsOfPoints local_;
  RestoreRules<T> rules_;
  RememberedWeights remembered_;
  std::vector<std::int64_t> error_sums_;  ///< by pass
};

}  // namespace

template <class T>
std::unique_ptr<MultilevelEngine> make_encoder(const MultilevelParams& params,
                                               const Tolerance& tolerance,
                                               const FrameInput<T>& frame,
                                               const LocalBounds* local) {
  return std::make_unique<Engine<T>>(
      params, tolerance, frame.min, frame.max, frame.mask, frame.values, std::span<T>{},
      local == nullptr ? BoundsOfPoints{} : BoundsOfPoints(*local, {frame.dims}), frame.rules);
}

template <class T>
std::unique_ptr<MultilevelEngine> make_decoder(const MultilevelParams& params,
                                               const FrameOutput<T>& frame,
                                               const LocalBounds* local, const Selection& points) {
  return std::make_unique<Engine<T>>(
      params, Tolerance{}, frame.min, frame.max, frame.mask, std::span<const T>{}, frame.values,
      local == nullptr ? BoundsOfPoints{} : BoundsOfPoints(*local, points));
}

template std::unique_ptr<MultilevelEngine> make_encoder(const MultilevelParams&, const Tolerance&,
                                                        const FrameInput<float>&,
                                                        const LocalBounds*);
template std::unique_ptr<MultilevelEngine> make_encoder(const MultilevelParams&, const Tolerance&,
                                                        const FrameInput<double>&,
                                                        const LocalBounds*);
template std::unique_ptr<MultilevelEngine> make_decoder(const MultilevelParams&,
                                                        const FrameOutput<float>&,
                                                        const LocalBounds*, const Selection&);
template std::unique_ptr<MultilevelEngine> make_decoder(const MultilevelParams&,
                                                        const FrameOutput<double>&,
                                                        const LocalBounds*, const Selection&);

}  // namespace cuszi::cpu

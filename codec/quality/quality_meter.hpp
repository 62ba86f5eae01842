#pragma once

#include <string_view>

#include "core/backend/backend.hpp"
#include "core/field/bound.hpp"
#include "core/field/selection.hpp"
#include "core/pipeline/pipeline.hpp"
#include "cpu_ref/field/fidelity.hpp"

namespace cuszi {

class FieldSource;

enum class Measures { errors, errors_and_fidelity };

class QualityMeter {
 public:
  /// Values beyond `bound` are bad. `rules` give missing values and isovalues.
  QualityMeter(FieldSource& original, const ValueRules& rules, const ValueBound& bound,
               Measures measures = Measures::errors)
      : original_(&original), rules_(rules), bound_(bound), measures_(measures) {}

  /// Measures frame `i`; frames come in ascending order.
  void add(std::uint64_t i, Bytes restored);
  /// `bounds` are of the selected points.
  void add(std::uint64_t i, const Selection& selection, Bytes restored,
           const FrameBoundsByPlace* bounds = nullptr);
  /// Both fields may be in the backend's memory. Measures errors only.
  void add(Backend& backend, Bytes original, Bytes restored);

  const Quality& quality() const { return quality_; }
  Measures measures() const { return measures_; }
  const Fidelity& fidelity() const { return fidelity_; }
  const ValueBound& bound() const { return bound_; }
  const IsoValues& isovalues() const { return rules_.isovalues; }
  /// no_bound if none.
  double absolute_bound() const { return bound_.absolute(); }

 private:
  void measure(const Dims& dims, Bytes original, Bytes restored,
               const std::optional<PointBounds>& bounds = {});
  void add_quality(Quality quality);

  FieldSource* original_;
  ValueRules rules_;
  ValueBound bound_;
  Measures measures_;
  Quality quality_;
  Fidelity fidelity_;
};

/// Throws BoundError for the first bad value, ending with `remedy`.
void require_within_bound(const QualityMeter& meter, const Dims& dims, std::string_view remedy);

/// Throws BoundError on a crossed isovalue.
void require_same_sides(const QualityMeter& meter, const Dims& dims);

/// Throws BoundError if a point is missing in one field only, or by another value.
void require_same_missing(const QualityMeter& meter, const Dims& dims);

}  // namespace cuszi

#pragma once

#include <string_view>

#include "core/backend/backend.hpp"
#include "core/field/bound.hpp"
#include "core/field/selection.hpp"
#include "core/field/value_bound.hpp"
#include "core/pipeline/pipeline.hpp"

namespace cuszi {

class FieldSource;

/// Which measures of a field are taken.
enum class Measures { errors, errors_and_fidelity };

/// Measures frames against those of an original, one after the other.
class QualityMeter {
 public:
  /// `bound` decides which points are bad; infinite if none was asked for. `rules` name what is
  /// missing, and the isovalues whose crossings are counted.
  QualityMeter(FieldSource& original, const ValueRules& rules, const ValueBound& bound,
               Measures measures = Measures::errors_and_fidelity)
      : original_(&original), rules_(rules), bound_(bound), measures_(measures) {}

  /// Measures frame `i`; earlier frames that are to be measured come first.
  void add(std::uint64_t i, Bytes restored);
  /// Measures the selected points of frame `i`, which have these bounds if they are given.
  void add(std::uint64_t i, const Selection& selection, Bytes restored,
           const FrameBoundsByPlace* bounds = nullptr);
  /// Measures frame `i` by a backend that may have both fields in its memory.
  void add(std::uint64_t i, Backend& backend, Bytes original, Bytes restored);

  const Quality& quality() const { return quality_; }
  const Fidelity& fidelity() const { return fidelity_; }
  const ValueBound& bound() const { return bound_; }
  const IsoValues& isovalues() const { return rules_.isovalues; }
  /// The absolute bound; no_bound if there is none.
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

/// Throws BoundError, naming the first bad value of a field of these dims and `remedy`, if there is
/// one.
void require_within_bound(const QualityMeter& meter, const Dims& dims, std::string_view remedy);

/// Throws BoundError, naming the first of them, if points of a field of these dims are on another
/// side of an isovalue than in the original.
void require_same_sides(const QualityMeter& meter, const Dims& dims);

/// Throws BoundError, naming the first of them, if points of a field of these dims are missing in
/// one of the two fields alone, or not by the same value.
void require_same_missing(const QualityMeter& meter, const Dims& dims);

}  // namespace cuszi

#pragma once

#include <limits>

#include "core/base/hd.hpp"
#include "core/field/mask.hpp"
#include "core/field/quantizer.hpp"

namespace cuszi {

template <class T>
struct ZfpLimits {
  using Type = std::numeric_limits<T>;
  T min = Type::has_infinity ? -Type::infinity() : Type::lowest();
  T max = Type::has_infinity ? Type::infinity() : Type::max();

  CUSZI_HD T operator()(T value) const { return clamp_to(value, min, max); }
};

template <class T>
class ZfpCheck {
 public:
  ZfpCheck() = default;
  ZfpCheck(double bound, double low, double high, const RestoreRules<T>& rules)
      : bound_(bound),
        certain_(certainly_within<T>(bound)),
        zone_(rules.zone(bound)),
        limits_{static_cast<T>(low), static_cast<T>(high)},
        rules_(rules) {}

  /// Quick test; if false, accepts() decides. Clamping adds no error.
  CUSZI_HD bool is_certain(T original, T decoded) const {
    return magnitude_of(original - decoded) < certain_ && !zone_.has(original);
  }

  CUSZI_HD bool accepts(T original, T decoded) const {
    return is_certain(original, decoded) ||
           may_restore_to(original, limits_(decoded), bound_, rules_);
  }

 private:
  double bound_ = 0;
  T certain_ = 0;
  RuleZone<T> zone_;
  ZfpLimits<T> limits_;
  RestoreRules<T> rules_;
};

}  // namespace cuszi

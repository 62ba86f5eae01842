#pragma once

#include <stdexcept>
#include <string>
#include <type_traits>

#include "core/archive/predictor.hpp"

namespace cuszi::gpu {

/// Whether a predictor makes quant-codes of all points at once.
template <class Params>
inline constexpr bool has_one_pass =
    !Params::has_own_coder && !std::is_same_v<Params, MultilevelParams>;

/// Calls `f` with the parameters of a predictor that has one pass.
template <class F>
void visit_one_pass(const PredictorParams& params, const F& f) {
  std::visit(
      [&]<class Params>(const Params& p) {
        if constexpr (has_one_pass<Params>) {
          f(p);
        } else {
          throw std::logic_error(std::string(Params::name) + " has not one pass of quant-codes");
        }
      },
      params);
}

}  // namespace cuszi::gpu

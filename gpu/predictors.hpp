#pragma once

#include <string>
#include <string_view>
#include <type_traits>

#include "core/error.hpp"
#include "core/predictor.hpp"

namespace cuszi::gpu {

/// Whether a predictor has kernels.
template <class Params>
inline constexpr bool has_kernels = !std::is_same_v<Params, ZfpCoding>;

/// Whether a predictor makes quant-codes of all points at once.
template <class Params>
inline constexpr bool has_one_pass =
    has_kernels<Params> && !Params::codes_itself && !std::is_same_v<Params, MultilevelParams>;

[[noreturn]] inline void refuse_predictor(std::string_view name) {
  throw DeviceError(std::string(name) + " is not on the GPU yet", Setting::backend);
}

/// Calls `f` with the parameters of a predictor that has kernels and one pass. Throws DeviceError
/// for the others.
template <class F>
void visit_one_pass(const PredictorParams& params, const F& f) {
  std::visit(
      [&]<class Params>(const Params& p) {
        if constexpr (has_one_pass<Params>) {
          f(p);
        } else {
          refuse_predictor(Params::name);
        }
      },
      params);
}

}  // namespace cuszi::gpu

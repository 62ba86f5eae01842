#pragma once

#include <string>
#include <string_view>
#include <type_traits>

#include "core/error.hpp"
#include "core/predictor.hpp"

namespace cuszi::gpu {

/// Whether a predictor has kernels.
template <class Params>
inline constexpr bool has_kernels =
    !std::is_same_v<Params, MultilevelParams> && !std::is_same_v<Params, ZfpCoding>;

[[noreturn]] inline void refuse_predictor(std::string_view name) {
  throw DeviceError(std::string(name) + " is not on the GPU yet", Setting::backend);
}

/// Calls `f` with the parameters of a predictor that has kernels and makes quant-codes. Throws
/// DeviceError for the others.
template <class F>
void visit_quantising(const PredictorParams& params, const F& f) {
  std::visit(
      [&]<class Params>(const Params& p) {
        if constexpr (has_kernels<Params> && !Params::codes_itself) {
          f(p);
        } else {
          refuse_predictor(Params::name);
        }
      },
      params);
}

}  // namespace cuszi::gpu

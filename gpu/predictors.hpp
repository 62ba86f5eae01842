#pragma once

#include <string>
#include <type_traits>
#include <utility>

#include "core/error.hpp"
#include "core/predictor.hpp"

namespace cuszi::gpu {

/// Calls `f` with the parameters of a predictor that has kernels. Throws DeviceError for the
/// others.
template <class F>
auto visit_predictor(const PredictorParams& params, const F& f) {
  return std::visit(
      [&](const auto& p) -> decltype(f(std::declval<const InterpParams&>())) {
        if constexpr (std::is_same_v<decltype(p), const MultilevelParams&>) {
          throw DeviceError(std::string(p.name) +
                            " is not on the GPU yet; use --device cpu, or --preset cuszi or cusz");
        } else {
          return f(p);
        }
      },
      params);
}

}  // namespace cuszi::gpu

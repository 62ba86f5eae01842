#pragma once

#include <vector>

#include "core/field/mask.hpp"
#include "core/field/quantizer.hpp"
#include "core/multilevel/multilevel.hpp"
#include "core/tuning/context_fit.hpp"

namespace cuszi::test {

/// A frame for `multilevel`, its range and bound.
template <class T>
struct StepFrame {
  Dims dims;
  MultilevelParams params;
  std::vector<T> values;
  Mask mask;
  double min;
  double max;
  double bound;
};

/// What each step makes of a pass, by code position.
struct PassSteps {
  std::vector<QuantCode> codes;
  std::uint64_t outliers = 0;
  std::vector<std::byte> outlier_list;
  std::vector<std::byte> weights;
  std::vector<std::uint8_t> contexts;
  std::vector<std::uint8_t> missing;  ///< none if no point is
};

/// What the steps make of a frame.
template <class T>
struct FrameSteps {
  std::vector<PassSteps> passes;
  std::int64_t error_sum = 0;
  std::vector<T> coarse_values;   ///< by pass and code position; by the device alone
  std::uint64_t coarse_hash = 0;  ///< of these; 0 if there are none
  std::vector<T> encoded;         ///< what the encoder restored
  std::vector<T> decoded;
};

/// By kernels. Throws DeviceError.
template <class T>
FrameSteps<T> steps_on_device(const StepFrame<T>& frame);

}  // namespace cuszi::test

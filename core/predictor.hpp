#pragma once

#include <optional>
#include <string_view>
#include <variant>
#include <vector>

#include "core/interp.hpp"
#include "core/lorenzo.hpp"
#include "core/multilevel.hpp"

namespace cuszi {

/// The table of predictors, in the order of PredictorId: what an archive says of each. A new
/// predictor is one more row here, a file of the same name in each backend, and its tests.
using PredictorParams = std::variant<LorenzoParams, InterpParams, MultilevelParams>;

inline PredictorId id_of(const PredictorParams& params) {
  return std::visit([](const auto& p) { return p.id; }, params);
}
std::string_view name_of(PredictorId id);
std::optional<PredictorId> predictor_named(std::string_view name);

/// What is known of the parameters before the field is looked at: its geometry.
PredictorParams draft_predictor(const PredictorConfig& config, const Dims& dims);

/// For each pass the level of the payload that it belongs to, ascending from 0.
std::vector<int> level_of_pass(const PredictorParams& params);

void write_predictor(const PredictorParams& params, ByteWriter& out);
PredictorParams read_predictor(ByteReader& in, const Dims& dims, DType dtype);

}  // namespace cuszi

#include "app/parameters.hpp"

#include "app/names.hpp"
#include "app/option_text.hpp"

namespace cuszi::app {

namespace {

using Json = nlohmann::ordered_json;

Json describe_params(const LorenzoParams& params) {
  return {{"name", params.name},
          {"chunk", params.chunk},
          {"radius", params.radius},
          {"half_step", params.half_step}};
}

Json describe_params(const InterpParams& params) {
  Json cubic;
  for (const Cubic c : params.cubic) cubic.push_back(name_in(cubic_names, c));
  std::string order;
  for (const std::uint8_t axis : params.order) order += axis_letters.at(axis);
  const auto levels = static_cast<std::ptrdiff_t>(params.levels());
  return {{"name", params.name},
          {"tile", params.tile},
          {"anchor", params.anchor},
          {"cubic", cubic},
          {"order", order},
          {"radius", params.radius},
          {"half_steps",
           std::vector<double>(params.half_step.begin(), params.half_step.begin() + levels)}};
}

Json describe_params(const HuffmanParams& params) {
  return {{"name", params.name},
          {"chunk", params.chunk},
          {"index", name_in(index_names, params.index)},
          {"partition", params.partition}};
}

}  // namespace

Json describe(const PredictorParams& params) {
  return std::visit([](const auto& p) { return describe_params(p); }, params);
}

Json describe(const CoderParams& params) {
  return std::visit([](const auto& p) { return describe_params(p); }, params);
}

}  // namespace cuszi::app

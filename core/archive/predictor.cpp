#include "core/archive/predictor.hpp"

#include <string>
#include <type_traits>
#include <utility>

#include "core/base/param_table.hpp"
#include "core/multilevel/context.hpp"
#include "core/multilevel/schedule.hpp"

namespace cuszi {

namespace {

template <class F>
auto with_predictor(PredictorId id, const F& f) {
  return with_row<PredictorParams>(id, "predictor", f);
}

template <class Params>
auto shape_for(const Dims& dims) {
  if constexpr (std::is_same_v<Params, MultilevelParams> || std::is_same_v<Params, ZfpCoding>) {
    return dims;
  } else {
    return dims.as_3d();
  }
}

template <class Params>
const auto& choices_for(const FrameConfig& config) {
  if constexpr (std::is_same_v<Params, ZfpCoding>) {
    return config;
  } else {
    return config.predictor;
  }
}

}  // namespace

std::string_view name_of(PredictorId id) {
  return with_predictor(id, [](auto row) { return decltype(row)::name; });
}

std::optional<PredictorId> predictor_named(std::string_view name) {
  return [&]<std::size_t... Row>(std::index_sequence<Row...>) {
    std::optional<PredictorId> found;
    ((std::variant_alternative_t<Row, PredictorParams>::name == name
          ? void(found = static_cast<PredictorId>(Row))
          : void()),
     ...);
    return found;
  }
  (std::make_index_sequence<std::variant_size_v<PredictorParams>>{});
}

bool has_own_coder(PredictorId id) {
  return with_predictor(id, [](auto row) { return decltype(row)::has_own_coder; });
}

CoderId coder_for(PredictorId predictor, CoderId asked) {
  if (has_own_coder(predictor)) return CoderId::none;
  if (asked == CoderId::none) {
    throw UsageError("the predictor " + std::string(name_of(predictor)) +
                     " makes quant-codes, which need a coder");
  }
  return asked;
}

std::uint32_t centre_of(const PredictorParams& params) {
  return std::visit(
      []<class Params>(const Params& p) {
        if constexpr (Params::has_own_coder) {
          return std::uint32_t{0};
        } else {
          return p.radius;
        }
      },
      params);
}

double bound_over_half_step_of(const PredictorParams& params, const PredictorConfig& config) {
  return std::holds_alternative<MultilevelParams>(params) ? config.multilevel.bound_over_half_step
                                                          : 1;
}

PredictorParams draft_predictor(const FrameConfig& config, const Dims& dims) {
  return with_predictor(config.predictor.id, [&](auto row) -> PredictorParams {
    using Params = decltype(row);
    return Params::draft(choices_for<Params>(config), shape_for<Params>(dims));
  });
}

std::vector<int> level_of_pass(const PredictorParams& params) {
  return std::visit([](const auto& p) { return p.level_of_pass(); }, params);
}

PassShape shape_of(const Pass& pass, const MultilevelParams& params) {
  return {pass.points, contexts_of(pass) * (params.split_contexts ? 2 : 1)};
}

std::vector<PassShape> pass_shapes(const PredictorParams& params, std::uint64_t points) {
  const auto* const multilevel = std::get_if<MultilevelParams>(&params);
  if (multilevel == nullptr) {
    return std::vector<PassShape>(level_of_pass(params).size(), PassShape{points, 1});
  }
  std::vector<PassShape> shapes;
  for (const Pass& pass : make_schedule(multilevel->lattice).passes) {
    shapes.push_back(shape_of(pass, *multilevel));
  }
  return shapes;
}

void write_predictor(const PredictorParams& params, ByteWriter& out) {
  out.put(id_of(params));
  std::visit([&](const auto& p) { p.write(out); }, params);
}

PredictorParams read_predictor(ByteReader& in, const Dims& dims, DType dtype) {
  return with_predictor(in.get<PredictorId>(), [&](auto row) -> PredictorParams {
    return decltype(row)::read(in, shape_for<decltype(row)>(dims), dtype);
  });
}

}  // namespace cuszi

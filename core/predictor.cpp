#include "core/predictor.hpp"

#include <type_traits>
#include <utility>

namespace cuszi {

namespace {

/// Calls `f` with an empty row of the table, the one whose id is given.
template <std::size_t Row = 0, class F>
auto with_predictor(PredictorId id, F&& f)
    -> decltype(f(std::variant_alternative_t<0, PredictorParams>{})) {
  if constexpr (Row < std::variant_size_v<PredictorParams>) {
    using Params = std::variant_alternative_t<Row, PredictorParams>;
    static_assert(static_cast<std::size_t>(Params::id) == Row);
    if (id == Params::id) return f(Params{});
    return with_predictor<Row + 1>(id, std::forward<F>(f));
  } else {
    throw ArchiveError("predictor " + std::to_string(static_cast<int>(id)) +
                       " is unknown to this version");
  }
}

/// A frame's geometry as a predictor takes it.
template <class Params>
auto shape_for(const Dims& dims) {
  if constexpr (std::is_same_v<Params, MultilevelParams>) {
    return dims;
  } else {
    return dims.as_3d();
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

PredictorParams draft_predictor(const PredictorConfig& config, const Dims& dims) {
  return with_predictor(config.id, [&](auto row) -> PredictorParams {
    return decltype(row)::draft(config, shape_for<decltype(row)>(dims));
  });
}

std::vector<int> level_of_pass(const PredictorParams& params) {
  return std::visit([](const auto& p) { return p.level_of_pass(); }, params);
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

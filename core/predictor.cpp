#include "core/predictor.hpp"

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

PredictorParams draft_predictor(const PredictorConfig& config, const Extents3& extents) {
  return with_predictor(config.id, [&](auto row) -> PredictorParams {
    return decltype(row)::draft(config, extents);
  });
}

void write_predictor(const PredictorParams& params, ByteWriter& out) {
  out.put(id_of(params));
  std::visit([&](const auto& p) { p.write(out); }, params);
}

PredictorParams read_predictor(ByteReader& in, const Extents3& extents, DType dtype) {
  return with_predictor(in.get<PredictorId>(), [&](auto row) -> PredictorParams {
    return decltype(row)::read(in, extents, dtype);
  });
}

}  // namespace cuszi

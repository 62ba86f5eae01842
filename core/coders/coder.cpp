#include "core/coders/coder.hpp"

#include "core/base/param_table.hpp"

namespace cuszi {

namespace {

template <class F>
auto with_coder(CoderId id, const F& f) {
  return with_row<CoderParams>(id, "entropy coder", f);
}

}  // namespace

CoderId id_of(const CoderParams& params) {
  return std::visit([](const auto& p) { return p.id; }, params);
}

std::string_view name_of(CoderId id) {
  return with_coder(id, [](auto row) { return decltype(row)::name; });
}

std::string_view name_of(const CoderParams& params) { return name_of(id_of(params)); }

bool uses_contexts(const CoderParams& params) {
  return std::visit([](const auto& p) { return p.uses_contexts; }, params);
}

CoderParams coder_params(CoderId id, const FrameConfig& config, std::uint32_t centre) {
  return with_coder(id,
                    [&](auto row) -> CoderParams { return decltype(row)::draft(config, centre); });
}

void write_coder(const CoderParams& params, ByteWriter& out) {
  out.put(id_of(params));
  std::visit([&](const auto& p) { p.write(out); }, params);
}

CoderParams read_coder(ByteReader& in) {
  return with_coder(in.get<CoderId>(),
                    [&](auto row) -> CoderParams { return decltype(row)::read(in); });
}

}  // namespace cuszi

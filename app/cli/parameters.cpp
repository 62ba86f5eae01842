#include "app/cli/parameters.hpp"

#include <algorithm>

#include "app/cli/json.hpp"
#include "codec/settings/limits.hpp"
#include "core/base/error.hpp"
#include "core/cells/chain.hpp"
#include "core/cells/head.hpp"
#include "core/cells/quantiser.hpp"
#include "core/coders/ans_chain.hpp"
#include "core/multilevel/schedule.hpp"

namespace cuszi::app {

namespace {

Json describe_params(const LorenzoParams& params) {
  return {{"name", params.name},
          {"chunk", params.chunk},
          {"radius", params.radius},
          {"half_step", params.half_step}};
}

Json describe_params(const InterpParams& params) {
  Json cubic;
  for (const Cubic c : params.cubic) cubic.push_back(name_of(c));
  std::string order;
  for (const std::uint8_t axis : params.order) order += interp_axes.at(axis);
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

Json describe_params(const MultilevelParams& params) {
  Json roles;
  for (const AxisRole role : params.lattice.roles) roles.push_back(name_of(role));
  const auto is_fitted = [](const Coefficients& c) { return !c.empty(); };
  return {{"name", params.name},
          {"extents", params.lattice.extents},
          {"axes", roles},
          {"levels", params.lattice.levels},
          {"slice_levels", params.lattice.slice_levels},
          {"reach", params.reach},
          {"alpha", params.alpha / 64.0},
          {"beta", params.beta / 64.0},
          {"fitted_classes",
           std::count_if(params.coefficients.begin(), params.coefficients.end(), is_fitted)},
          {"snap", static_cast<double>(params.snap) / snap_units},
          {"background", params.background},
          {"radius", params.radius},
          {"half_step", params.half_step}};
}

Json describe_params(const TilesParams& params) {
  return {{"name", params.name}, {"half_step", params.half_step}};
}

Json describe_params(const CellsParams& params) {
  Json described{{"name", params.name},
                 {"tile_rank", params.rank},
                 {"half_step", params.half_step},
                 {"background", params.background}};
  if (params.floor) described["floor"] = *params.floor;
  if (params.ceiling) described["ceiling"] = *params.ceiling;
  return described;
}

Json describe_params(const ZfpCoding& params) {
  return {{"name", params.name},
          {"min_bits", params.zfp.min_bits},
          {"max_bits", params.zfp.max_bits},
          {"max_precision", params.zfp.max_precision},
          {"min_exponent", params.zfp.min_exponent},
          {"index", name_of(params.index)},
          {"chunk", params.chunk},
          {"partition", params.partition}};
}

Json describe_params(const LogTransform& params) {
  return {{"name", params.name}, {"centre", params.centre}};
}

Json describe_params(const SymlogTransform& params) {
  return {{"name", params.name}, {"knee", params.knee.magnitude}};
}

Json describe_params(const LogLinearTransform& params) {
  return {{"name", params.name}, {"knee", params.knee.magnitude}};
}

Json describe_params(const NoCoderParams& /*params*/) { return {{"name", NoCoderParams::name}}; }

Json describe_params(const AnsParams& params) {
  return {{"name", params.name},
          {"centre", params.centre},
          {"index", name_of(params.index)},
          {"partition", params.partition}};
}

Json describe_params(const HuffmanParams& params) {
  return {{"name", params.name},
          {"chunk", params.chunk},
          {"index", name_of(params.index)},
          {"partition", params.partition}};
}

/// Odd axes, slowest first, and slice stage: "zy", "x/2"; "-" for anchors.
std::string class_name(const PointClass& points) {
  constexpr std::string_view letters = "wzyx";
  std::string name;
  for (unsigned axis = 0; axis < max_axes; ++axis) {
    if (points.is_odd(axis)) name += letters[axis];
  }
  if (name.empty()) name.push_back('-');
  if (points.stage == 0) return name;
  name += '/';
  name += std::to_string(points.stage);
  return name;
}

Json describe_pass(const MultilevelParams& params, const Schedule& schedule, const Pass& pass) {
  std::size_t coefficients = 0;
  std::string classes;
  for (const PointClass& points : schedule.classes_of(pass)) {
    coefficients += params.coefficients[points.index].size();
    if (!classes.empty()) classes += ' ';
    classes += class_name(points);
  }
  return {{"level", pass.level},          {"spacing", std::uint64_t{1} << (pass.level - 1)},
          {"classes", classes},           {"points", pass.points},
          {"coefficients", coefficients}, {"half_step", params.half_step_of(pass.level)}};
}

/// Throws ArchiveError.
std::vector<Sections> sections_of_passes(const FrameHeader& header,
                                         std::span<const int> level_of_pass, Bytes payload) {
  std::vector<Sections> all;
  for (std::size_t level = 0; level < header.levels.size(); ++level) {
    const auto passes =
        std::count(level_of_pass.begin(), level_of_pass.end(), static_cast<int>(level));
    const auto sections =
        read_passes(header.levels[level], static_cast<std::size_t>(passes), payload);
    all.insert(all.end(), sections.begin(), sections.end());
    payload = payload.subspan(header.levels[level].size());
  }
  if (all.size() < level_of_pass.size()) throw ArchiveError("a frame lacks a level");
  return all;
}

/// The chains of a pass of `cells`: lanes, and the steps of one at most.
struct CellChains {
  std::uint64_t lanes = 0;
  std::uint32_t class_steps = 0;
  std::uint32_t code_steps = 0;

  /// `index`: empty if the pass has no codes.
  CellChains(int rank, int pass, std::uint64_t tiles, std::uint32_t blocks_of_lane, Bytes index) {
    if (index.empty()) return;
    const std::uint64_t of_classes = class_segments(rank, pass, tiles);
    const std::uint64_t segments = index.size() / sizeof(std::uint32_t);
    if (segments < of_classes) throw ArchiveError("the index of a frame is too short");
    const auto run = std::min<std::uint64_t>(run_of_classes(rank, pass), tiles);
    lanes = most_lanes * (segments - of_classes);
    class_steps = static_cast<std::uint32_t>(run * blocks_of_pass(rank, pass));
    code_steps = blocks_of_lane_in(rank, pass, tiles, blocks_of_lane) * cell_block_codes;
  }
};

/// Anchors with coarse levels, then one pass per level. Steps are those until a pass is decoded:
/// the classes of all passes up to it, then its codes.
Json describe_passes(const CellsParams& params, const FrameHeader& header, const Dims& dims,
                     Bytes payload) {
  Json passes = Json::array();
  const auto sections = sections_of_passes(header, params.level_of_pass(), payload);
  const CellsHead head = CellsHead::read(sections.front().at(SectionId::codebook), params.rank);
  const std::uint64_t tiles = cell_grid(params.rank, dims.as_3d()).count();
  std::uint64_t points_before = 0;
  std::uint32_t class_steps = 0;
  for (std::size_t pass = 0; pass < sections.size(); ++pass) {
    auto spacing = std::uint64_t{1} << (sections.size() - 1 - pass);
    std::uint64_t points = 1;
    for (const std::uint64_t extent : dims.as_3d()) points *= ceil_div(extent, spacing);
    const int level = level_of_spacing(static_cast<int>(spacing));
    const auto number = static_cast<int>(pass);
    const CellChains chains(params.rank, number, tiles, head.blocks_of_lane,
                            sections[pass].find(SectionId::index));
    class_steps += chains.class_steps;
    passes.push_back({{"level", level + 1},
                      {"spacing", spacing},
                      {"classes", pass == 0 ? "and all coarser ones" : "all"},
                      {"points", points - points_before},
                      {"coefficients", 0},
                      {"half_step", half_step_of_level(params.half_step, level)},
                      {"bytes", sections[pass].size()},
                      {"coded_points", points - points_before},
                      {"slots", tiles * blocks_of_pass(params.rank, number) * cell_block_codes},
                      {"lanes", chains.lanes},
                      {"steps", chains.lanes == 0 ? 0 : class_steps + chains.code_steps}});
    points_before = points;
  }
  return passes;
}

std::uint64_t points_of_level(const Schedule& schedule, std::span<const int> level_of_pass,
                              std::size_t first) {
  std::uint64_t points = 0;
  for (std::size_t i = first; i < level_of_pass.size() && level_of_pass[i] == level_of_pass[first];
       ++i) {
    points += schedule.passes[i].points;
  }
  return points;
}

/// Chain of the level that starts at pass `first`; empty for other coders.
ChainPlan chain_of_level(const FrameHeader& header, std::span<const int> level_of_pass,
                         std::size_t first, const Sections& sections) {
  const Bytes codes = sections.find(SectionId::codes);
  if (id_of(*header.coder) != CoderId::ans || codes.empty() || header.is_packed()) return {};
  const auto passes = std::count(level_of_pass.begin(), level_of_pass.end(), level_of_pass[first]);
  const auto shapes = pass_shapes(*header.predictor, 0);
  BitReader head(codes, "the head of a chain");
  return ChainPlan::read(std::span(shapes).subspan(first, static_cast<std::size_t>(passes)), head);
}

}  // namespace

Json describe(const PredictorParams& params) {
  return std::visit([](const auto& p) { return describe_params(p); }, params);
}

Json describe(const FrameTransform& transform) {
  Json json = std::visit([](const auto& p) { return describe_params(p); }, transform.params);
  json["min"] = transform.min;
  json["max"] = transform.max;
  json["kept"] = transform.kept;
  return json;
}

Json describe(const FrameBounds& bounds) {
  return {{"largest", bounds.largest}, {"least", bounds.least}, {"kept", bounds.kept}};
}

Json describe_schedule(const FrameHeader& header, const Dims& dims, Bytes payload) {
  Json passes = Json::array();
  const auto* const cells =
      header.predictor ? std::get_if<CellsParams>(&*header.predictor) : nullptr;
  if (cells != nullptr) return describe_passes(*cells, header, dims, payload);
  const auto* const params =
      header.predictor ? std::get_if<MultilevelParams>(&*header.predictor) : nullptr;
  if (params == nullptr) return passes;
  const Schedule schedule = make_schedule(params->lattice);
  const std::vector<int> level_of_pass = params->level_of_pass();
  const std::vector<Sections> sections = sections_of_passes(header, level_of_pass, payload);
  const bool is_ans = id_of(*header.coder) == CoderId::ans;
  std::size_t first = 0;  // of the level
  ChainPlan chain;        // of the level
  for (std::size_t i = 0; i < schedule.passes.size(); ++i) {
    if (i == 0 || level_of_pass[i] != level_of_pass[first]) {
      first = i;
      chain = chain_of_level(header, level_of_pass, first, sections[first]);
    }
    const bool begins_chain = i == first && !chain.passes.empty();
    Json pass = describe_pass(*params, schedule, schedule.passes[i]);
    pass["bytes"] = sections[i].size();
    pass["coded_points"] = !is_ans      ? schedule.passes[i].points
                           : i == first ? points_of_level(schedule, level_of_pass, first)
                                        : 0;
    pass["slots"] = chain.passes.empty() ? 0 : chain.slots_of(i - first);
    pass["lanes"] = begins_chain ? chain.lanes() : 0;
    pass["steps"] = begins_chain ? chain.steps() : 0;
    passes.push_back(std::move(pass));
  }
  return passes;
}

Json describe(const CoderParams& params) {
  return std::visit([](const auto& p) { return describe_params(p); }, params);
}

}  // namespace cuszi::app

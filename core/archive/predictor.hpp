#pragma once

#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "core/cells/params.hpp"
#include "core/coders/ans_chain.hpp"
#include "core/interp/interp.hpp"
#include "core/lorenzo/lorenzo.hpp"
#include "core/multilevel/multilevel.hpp"
#include "core/tiles/tiles.hpp"
#include "core/zfp/zfp_coding.hpp"

namespace cuszi {

/// In the order of PredictorId. A new predictor is a row here, a file of the same name in core and
/// in each backend, and its tests. A row has
///
///     id, name            in archives and on the command line
///     has_own_coder       see below
///     draft(), choose()   the encoder's parameters before and after it has sampled the frame
///     level_of_pass()     the payload level of each pass, ascending from 0
///     is_usable()         false: the frame is stored losslessly
///     write(), read()     its part of the frame's header
///
/// Without its own coder, a predictor makes quant-codes. It has `radius`, the code of an error of
/// 0, and `codes_missing_points`: whether missing points have codes. Each backend implements
/// predict_quantise() and reconstruct() (frame_work.hpp).
///
/// If it has its own coder, it makes and reads whole sections, with CoderId::none. Each backend
/// implements (with a Work& in front on a device)
///
///     template <class T>
///     std::vector<OwnCoded> encode_values(const Params&, double bound, const FrameInput<T>&);
///     template <class T>
///     void decode_values(const Params&, std::span<const Sections>, const FrameOutput<T>&);
///
/// It enforces the bound itself, by exact values in its sections. The caller codes the mask and
/// restores masked points. `final_params` of the first pass are the parameters to write. With
/// several passes, the first ones restore the points at FrameOutput's stride; with one pass,
/// OwnCoded and Sections stand for the lists.
using PredictorParams = std::variant<LorenzoParams, InterpParams, MultilevelParams, TilesParams,
                                     ZfpCoding, CellsParams>;

inline PredictorId id_of(const PredictorParams& params) {
  return std::visit([](const auto& p) { return p.id; }, params);
}
std::string_view name_of(PredictorId id);
std::optional<PredictorId> predictor_named(std::string_view name);
bool has_own_coder(PredictorId id);

/// The coder for a predictor. Throws UsageError if it needs one and `asked` is none.
CoderId coder_for(PredictorId predictor, CoderId asked);

/// The quant-code of an error of 0; 0 if the predictor has no quant-codes.
std::uint32_t centre_of(const PredictorParams& params);

/// Above 1 only for `multilevel`, with a dead zone.
double bound_over_half_step_of(const PredictorParams& params, const PredictorConfig& config);

PredictorParams draft_predictor(const FrameConfig& config, const Dims& dims);

/// The payload level of each pass, ascending from 0.
std::vector<int> level_of_pass(const PredictorParams& params);

PassShape shape_of(const Pass& pass, const MultilevelParams& params);

std::vector<PassShape> pass_shapes(const PredictorParams& params, std::uint64_t points);

void write_predictor(const PredictorParams& params, ByteWriter& out);
PredictorParams read_predictor(ByteReader& in, const Dims& dims, DType dtype);

template <class Params>
inline constexpr bool has_one_pass =
    !Params::has_own_coder && !std::is_same_v<Params, MultilevelParams>;

/// Throws std::logic_error if the predictor has not one pass.
template <class F>
void visit_one_pass(const PredictorParams& params, const F& f) {
  std::visit(
      [&]<class Params>(const Params& p) {
        if constexpr (has_one_pass<Params>) {
          f(p);
        } else {
          throw std::logic_error(std::string(Params::name) +
                                 " does not have exactly one pass of quant-codes");
        }
      },
      params);
}

/// Returns f(params). Throws std::logic_error if the predictor has no coder of its own.
template <class F>
auto visit_own_coder(const PredictorParams& params, const F& f) {
  return std::visit(
      [&]<class Params>(const Params& p) -> std::invoke_result_t<F, const TilesParams&> {
        if constexpr (Params::has_own_coder) {
          return f(p);
        } else {
          throw std::logic_error(std::string(Params::name) + " needs a coder");
        }
      },
      params);
}

}  // namespace cuszi

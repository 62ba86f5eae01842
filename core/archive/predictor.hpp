#pragma once

#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "core/cells/params.hpp"
#include "core/coders/pass_shape.hpp"
#include "core/interp/interp.hpp"
#include "core/lorenzo/lorenzo.hpp"
#include "core/multilevel/multilevel.hpp"
#include "core/tiles/tiles.hpp"
#include "core/zfp/zfp_coding.hpp"

namespace cuszi {

/// The table of predictors, in the order of PredictorId: what an archive says of each. A new
/// predictor is one more row here, a file of the same name in core and in each backend, and its
/// tests. A row is a struct of parameters with
///
///     id, name            as in archives and on the command line
///     has_own_coder        see below
///     draft(), choose()   the encoder's choices: geometry before the look at a frame, the rest
///                         after
///     level_of_pass()     the level of the payload that each pass belongs to, ascending from 0
///     is_usable()         false: a frame of these parameters is to be kept losslessly
///     write(), read()     what stands in a frame's header
///
/// and one of two ways from values to sections:
///
/// A predictor that makes quant-codes has `radius`, the code of an error of 0, and
/// `codes_missing_points`: whether missing points stand in the stream too. Each backend has
/// predict_quantise() and reconstruct() for it (frame_work.hpp says of what), and any coder codes
/// what it makes.
///
/// A predictor with `has_own_coder` makes the sections of all passes of values, and values of the
/// sections of the first passes, at once: no quant-codes, no contexts, and CoderId::none for a
/// coder. Each backend has encode_values() and decode_values() for it:
///
///     template <class T>
///     std::vector<OwnCoded> encode_values(const Params&, double bound, const FrameInput<T>&);
///     template <class T>
///     void decode_values(const Params&, std::span<const Sections>, const FrameOutput<T>&);
///
/// (on a device with a Work& in front). What the parameters leave open until the sections are known
/// is in `final_params` of the first pass. It keeps the laws of the bound by itself: what it cannot
/// express stands in its sections as exact bits. Missing points are the caller's: the mask
/// is coded before and put back after, and what decode_values() leaves there does not matter. Where
/// a predictor has several passes, the first of them restore the points at a stride, and
/// FrameOutput tells which. A predictor of one pass has OwnCoded and Sections instead of lists of
/// them.
using PredictorParams = std::variant<LorenzoParams, InterpParams, MultilevelParams, TilesParams,
                                     ZfpCoding, CellsParams>;

inline PredictorId id_of(const PredictorParams& params) {
  return std::visit([](const auto& p) { return p.id; }, params);
}
std::string_view name_of(PredictorId id);
std::optional<PredictorId> predictor_named(std::string_view name);
/// Whether the predictor makes whole sections, without quant-codes and without a coder.
bool has_own_coder(PredictorId id);

/// The coder of frames of this predictor: the one asked for, none if it codes itself. Throws
/// UsageError if it needs a coder and none is asked for.
CoderId coder_for(PredictorId predictor, CoderId asked);

/// The code of an error of 0; 0 for a predictor without codes.
std::uint32_t centre_of(const PredictorParams& params);

/// The bound over the half step that a predictor has chosen: more than 1, of `multilevel` alone, is
/// room for zones without error.
double bound_over_half_step_of(const PredictorParams& params, const PredictorConfig& config);

/// What is known of the parameters before the field is looked at: its geometry.
PredictorParams draft_predictor(const FrameConfig& config, const Dims& dims);

/// For each pass the level of the payload that it belongs to, ascending from 0.
std::vector<int> level_of_pass(const PredictorParams& params);

PassShape shape_of(const Pass& pass, const MultilevelParams& params);

/// The shape of every pass of a frame of `points` points, in the order of coding.
std::vector<PassShape> pass_shapes(const PredictorParams& params, std::uint64_t points);

void write_predictor(const PredictorParams& params, ByteWriter& out);
PredictorParams read_predictor(ByteReader& in, const Dims& dims, DType dtype);

/// Whether a predictor makes the quant-codes of all points in one pass.
template <class Params>
inline constexpr bool has_one_pass =
    !Params::has_own_coder && !std::is_same_v<Params, MultilevelParams>;

/// Calls `f` with the parameters of a predictor that has one pass. Throws std::logic_error for any
/// other predictor.
template <class F>
void visit_one_pass(const PredictorParams& params, const F& f) {
  std::visit(
      [&]<class Params>(const Params& p) {
        if constexpr (has_one_pass<Params>) {
          f(p);
        } else {
          throw std::logic_error(std::string(Params::name) + " has not one pass of quant-codes");
        }
      },
      params);
}

/// Returns what `f` returns for the parameters of a predictor with a coder of its own. Throws
/// std::logic_error for any other predictor.
template <class F>
auto visit_own_coder(const PredictorParams& params, const F& f) {
  return std::visit(
      [&]<class Params>(const Params& p) -> std::invoke_result_t<F, const TilesParams&> {
        if constexpr (Params::has_own_coder) {
          return f(p);
        } else {
          throw std::logic_error(std::string(Params::name) + " does not code itself");
        }
      },
      params);
}

}  // namespace cuszi

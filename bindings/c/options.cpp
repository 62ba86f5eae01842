#include "bindings/c/options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <span>
#include <string_view>

#include "codec/settings/limits.hpp"
#include "codec/settings/presets.hpp"
#include "core/base/error.hpp"
#include "core/field/quantizer.hpp"
#include "core/multilevel/multilevel.hpp"

namespace cuszi::api {

namespace {

/// The options of the first version end here.
constexpr std::size_t least_options_size = offsetof(cuszi_options, zfp_mode);

template <class Number>
[[noreturn]] void refuse(std::string_view member, Number value, std::string_view accepted) {
  throw UsageError(fmt::format("{} {} is not {}", member, value, accepted));
}

/// The choice that a member's number stands for.
template <class Choice, std::size_t count>
const Choice& choose(std::string_view member, std::int32_t number,
                     const std::array<Choice, count>& choices, int first = 0) {
  if (number < first || static_cast<std::size_t>(number - first) >= count) {
    refuse(
        member, number,
        fmt::format("a number from {} to {}", first, count - 1 + static_cast<std::size_t>(first)));
  }
  return choices[static_cast<std::size_t>(number - first)];
}

/// Throws unless a member is in its range. 0, which leaves it open, is passed by the caller.
template <class Number>
Number within(std::string_view member, Number value, Number least, Number most) {
  if (value >= least && value <= most) return value;  // NaN is not
  refuse(member, value, fmt::format("from {} to {}", least, most));
}

std::uint32_t power_of_two(std::string_view member, std::uint32_t value, std::uint32_t least,
                           std::uint32_t most) {
  if (std::has_single_bit(value) && value >= least && value <= most) return value;
  refuse(member, value, fmt::format("a power of two from {} to {}", least, most));
}

std::optional<double> level_factor(std::string_view member, double factor) {
  if (factor == 0) return std::nullopt;
  return within(member, factor, 1.0, max_level_factor);
}

void set_own_bound(const cuszi_options& options, double own, FieldSettings& settings) {
  if (target_of(options)) refuse("mode", options.mode, "for zfp_mode CUSZI_ZFP_ACCURACY alone");
  if (own == 0 && options.bound != 0) {
    refuse("bound", options.bound, "0, which CUSZI_ZFP_REVERSIBLE comes to");
  }
  settings.mode = ErrorMode::absolute;
  settings.bound = own;
}

void set_bound(const cuszi_options& options, FieldSettings& settings) {
  const auto own = own_bound(settings.frame.predictor);
  if (own && (options.bound == 0 || *own == 0 || target_of(options))) {
    set_own_bound(options, *own, settings);
    return;
  }
  if (target_of(options)) return;
  settings.mode =
      choose("mode", options.mode, std::array{ErrorMode::relative, ErrorMode::absolute});
  settings.bound = options.bound;
  if (!is_possible_bound(settings.bound, settings.mode)) {
    refuse("bound", settings.bound,
           settings.mode == ErrorMode::relative
               ? "a share of the value range, from 0 to below 1; CUSZI_ABS takes any"
               : "a finite number of at least 0");
  }
  if (options.has_range == 0) return;
  const bool possible = std::isfinite(options.range_min) && std::isfinite(options.range_max) &&
                        options.range_min <= options.range_max;
  if (!possible) {
    refuse("range_min", options.range_min,
           fmt::format("finite and at most range_max, {}", options.range_max));
  }
  settings.range = {options.range_min, options.range_max, true};
}

void set_fills(const cuszi_options& options, FillValues& fills) {
  if (options.fill_count == 0) return;
  within<std::uint32_t>("fill_count", options.fill_count, 0, CUSZI_MAX_FILLS);
  if (options.fills == nullptr) throw UsageError("fills is NULL, but fill_count is not 0");
  for (const double fill : std::span(options.fills, options.fill_count)) {
    if (std::isnan(fill)) refuse("fills", fill, "a number; NaN always means missing");
    fills.add(fill);
  }
}

void set_interp(const cuszi_options& options, InterpConfig& interp) {
  const std::span<const std::uint64_t, 3> tile(options.interp_tile);
  if (std::any_of(tile.begin(), tile.end(), [](std::uint64_t extent) { return extent != 0; })) {
    interp.tile.emplace();
    std::copy(tile.begin(), tile.end(), interp.tile->begin());
  }
  if (options.interp_anchor != 0) {
    interp.anchor = power_of_two("interp_anchor", options.interp_anchor, least_anchor, most_anchor);
  }
  if (options.interp_alpha != 0) {
    interp.alpha = within("interp_alpha", options.interp_alpha, 1.0, most_interp_alpha);
  }
  if (options.interp_cubic != 0) {
    interp.cubic = choose("interp_cubic", options.interp_cubic,
                          std::array{Cubic::not_a_knot, Cubic::natural}, 1);
  }
  const std::string_view order(options.interp_order, ::strnlen(options.interp_order, 4));
  if (order.empty()) return;
  constexpr std::string_view letters = "zyx";
  if (!std::is_permutation(order.begin(), order.end(), letters.begin(), letters.end())) {
    refuse("interp_order", order, "the letters z, y and x in some order");
  }
  interp.order.emplace();
  std::transform(order.begin(), order.end(), interp.order->begin(),
                 [&](char letter) { return static_cast<std::uint8_t>(letters.find(letter)); });
}

void set_multilevel(const cuszi_options& options, MultilevelConfig& multilevel) {
  multilevel.effort =
      choose("effort", options.effort, std::array{Effort::normal, Effort::fast, Effort::best});
  if (options.axes != 0) {
    multilevel.axes = {
        choose("axes", options.axes,
               std::array{AxisRole::lattice, AxisRole::independent, AxisRole::layered}, 1),
        within("axis", options.axis, 0, CUSZI_MAX_RANK - 1)};
  }
  if (options.reach != 0) {
    if (options.reach != 3 && options.reach != 5 && options.reach != 7) {
      refuse("reach", options.reach, "0 (automatic), 3, 5 or 7");
    }
    multilevel.reach = options.reach;
  }
  multilevel.alpha = level_factor("alpha", options.alpha);
  multilevel.beta = level_factor("beta", options.beta);
}

void set_zfp(const cuszi_options& options, PredictorConfig& predictor) {
  using Kind = ZfpMode::Kind;
  if (options.zfp_mode != CUSZI_ZFP_ACCURACY && predictor.id != PredictorId::zfp) {
    refuse("zfp_mode", options.zfp_mode, "0, which other predictors than zfp have");
  }
  ZfpConfig& zfp = predictor.zfp;
  zfp.mode.kind = choose("zfp_mode", options.zfp_mode,
                         std::array{Kind::accuracy, Kind::precision, Kind::rate, Kind::reversible});
  zfp.mode.amount = options.zfp_amount;
  if (!is_possible(zfp.mode)) {
    refuse("zfp_amount", options.zfp_amount,
           zfp.mode.kind == Kind::rate ? "above 0 and up to 64 bits per value"
                                       : "a whole number of bit planes from 1 to 64");
  }
  if (options.zfp_chunk != 0) {
    zfp.chunk = within<std::uint32_t>("zfp_chunk", options.zfp_chunk, 1, most_zfp_chunk);
  }
}

void set_coding(const cuszi_options& options, HuffmanConfig& huffman, IndexConfig& index) {
  if (options.index != 0) {
    index.kind = choose(
        "index", options.index,
        std::array{IndexKind::none, IndexKind::offset, IndexKind::length, IndexKind::hybrid}, 1);
  }
  if (options.chunk != 0) {
    huffman.chunk = power_of_two("chunk", options.chunk, least_chunk, most_chunk);
  }
  if (options.partition != 0) {
    index.partition = within<std::uint32_t>("partition", options.partition, 1, most_partition);
  }
  switch (options.huffman_width) {
    case 0: break;
    case 32: huffman.width = HuffmanWidth::u32; break;
    case 64: huffman.width = HuffmanWidth::u64; break;
    default: refuse("huffman_width", options.huffman_width, "0 (automatic), 32 or 64");
  }
}

void set_method(const cuszi_options& options, FrameConfig& frame) {
  apply(choose("preset", options.preset, presets), frame);
  if (options.predictor != 0) {
    apply(choose("predictor", options.predictor,
                 std::array<PredictorChoice, 6>{{automatic_predictor,
                                                 {PredictorId::lorenzo},
                                                 {PredictorId::interp},
                                                 {PredictorId::multilevel},
                                                 {PredictorId::tiles},
                                                 {PredictorId::zfp}}},
                 1),
          frame.predictor);
  }
  if (options.coder != 0) {
    apply(choose("coder", options.coder,
                 std::array<CoderChoice, 3>{{automatic_coder, {CoderId::huffman}, {CoderId::ans}}},
                 1),
          frame);
  }
  frame.lossless =
      choose("lossless", options.lossless, std::array{Lossless::none, Lossless::bitcomp});
  if (options.radius != 0) {
    frame.predictor.radius = within<std::uint32_t>("radius", options.radius, 1, max_radius);
  }
  set_multilevel(options, frame.predictor.multilevel);
  set_interp(options, frame.predictor.interp);
  set_zfp(options, frame.predictor);
  set_coding(options, frame.huffman, frame.index);
}

}  // namespace

cuszi_options read_options(const cuszi_options* options) {
  cuszi_options known = cuszi_default_options();
  if (options == nullptr) return known;
  if (options->version != CUSZI_OPTIONS_VERSION || options->size < least_options_size) {
    throw UsageError(
        fmt::format("options of version {} and {} bytes; begin with cuszi_default_options() "
                    "(version {}, {} bytes)",
                    options->version, options->size, CUSZI_OPTIONS_VERSION, sizeof known));
  }
  if (options->size > sizeof known) {
    throw UsageError(fmt::format("options of {} bytes, of a later libcuszi; this one knows {}",
                                 options->size, sizeof known));
  }
  std::memcpy(&known, options, options->size);
  return known;
}

RunSettings run_settings(const cuszi_options& options) {
  using Kind = DeviceChoice::Kind;
  RunSettings run;
  run.device.kind =
      choose("device", options.device, std::array{Kind::automatic, Kind::cpu, Kind::cuda});
  run.device.index = within("device_index", options.device_index, 0, 1023);
  if (options.memory_limit != 0) run.memory_limit = options.memory_limit;
  if (options.threads != 0) run.threads = within("threads", options.threads, 1, most_threads);
  run.stream = options.stream;
  return run;
}

std::optional<Target> target_of(const cuszi_options& options) {
  const int mode = choose("mode", options.mode,
                          std::array<int, 4>{CUSZI_REL, CUSZI_ABS, CUSZI_PSNR, CUSZI_RATIO});
  if (mode == CUSZI_REL || mode == CUSZI_ABS) return std::nullopt;
  const bool psnr = mode == CUSZI_PSNR;
  const Target target{psnr ? Target::Kind::psnr : Target::Kind::ratio, options.bound};
  if (is_possible(target)) return target;
  refuse("bound", options.bound,
         psnr ? fmt::format("a PSNR above 0 and up to {} dB", most_psnr)
              : fmt::format("a ratio from 1 to {}", most_ratio));
}

FieldSettings field_settings(const cuszi_options& options) {
  FieldSettings settings;
  set_method(options, settings.frame);
  set_bound(options, settings);
  set_fills(options, settings.fills);
  if (options.frame_bytes != 0) settings.frame_bytes = options.frame_bytes;
  return settings;
}

Preview preview_of(const cuszi_part* part, const FieldCuts& plan) {
  if (part == nullptr) throw UsageError("part is NULL");
  if (part->size < sizeof(cuszi_part)) {
    throw UsageError(fmt::format("part of {} bytes; begin with cuszi_whole_field() ({} bytes)",
                                 part->size, sizeof(cuszi_part)));
  }
  Box box;
  for (std::size_t axis = 0; axis < CUSZI_MAX_RANK; ++axis) {
    box.first[axis] = part->first[axis];
    if (part->end[axis] != 0) box.end[axis] = part->end[axis];
  }
  const std::uint64_t stride = std::max<std::uint64_t>(part->stride, 1);
  if (!std::has_single_bit(stride) || stride > most_stride) {
    refuse("stride", stride, fmt::format("a power of two from 1 to {}", most_stride));
  }
  return {plan, stride, box};
}

FieldLayout field_layout(const cuszi_field* field) {
  if (field == nullptr) throw UsageError("field is NULL");
  FieldLayout layout;
  layout.dtype = choose("dtype", field->dtype, std::array{DType::f32, DType::f64});
  const auto rank =
      static_cast<std::size_t>(within("rank", field->rank, 1, std::int32_t{CUSZI_MAX_RANK}));
  const auto dims = Dims::make(std::span(field->dims).first(rank));
  if (!dims) {
    throw UsageError(fmt::format("dims {}: each must be at least 1, their product below 2^60",
                                 fmt::join(std::span(field->dims).first(rank), "x")));
  }
  layout.dims = *dims;
  layout.byte_order = ByteOrder::little;
  return layout;
}

cuszi_field field_of(DType dtype, const Dims& dims) {
  cuszi_field field{};
  field.dtype = dtype == DType::f32 ? CUSZI_F32 : CUSZI_F64;
  field.rank = dims.rank();
  std::copy(dims.extents().begin(), dims.extents().end(), std::begin(field.dims));
  return field;
}

}  // namespace cuszi::api

#include "codec/settings/settings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <span>
#include <string_view>

#include "codec/settings/limits.hpp"
#include "codec/settings/option_table.hpp"
#include "codec/settings/option_text.hpp"
#include "codec/settings/presets.hpp"
#include "core/base/error.hpp"
#include "core/field/stored_type.hpp"

namespace cuszi {

namespace {

// Some numbers are offset by 1.
static_assert(CUSZI_DEVICE_CUDA == static_cast<int>(DeviceChoice::Kind::cuda));
static_assert(CUSZI_LOSSLESS_BITCOMP == static_cast<int>(Lossless::bitcomp));
static_assert(CUSZI_ZFP_RATE == static_cast<int>(ZfpMode::Kind::rate));
static_assert(CUSZI_ZFP_REVERSIBLE == static_cast<int>(ZfpMode::Kind::reversible));
static_assert(CUSZI_AXES_INDEPENDENT == static_cast<int>(AxisRole::independent) + 1);
static_assert(CUSZI_AXES_LAYERED == static_cast<int>(AxisRole::layered) + 1);
static_assert(CUSZI_CUBIC_NATURAL == static_cast<int>(Cubic::natural) + 1);
static_assert(CUSZI_INDEX_LENGTH == static_cast<int>(IndexKind::length) + 1);
static_assert(CUSZI_INDEX_HYBRID == static_cast<int>(IndexKind::hybrid) + 1);

constexpr std::array<PredictorChoice, 7> predictors{{automatic_predictor,
                                                     {PredictorId::lorenzo},
                                                     {PredictorId::interp},
                                                     {PredictorId::multilevel},
                                                     {PredictorId::tiles},
                                                     {PredictorId::zfp},
                                                     {PredictorId::cells}}};
constexpr std::array coders{CoderId::ans, CoderId::huffman, CoderId::ans};  // auto first
constexpr std::array modes{CUSZI_ABS, CUSZI_REL, CUSZI_PWREL, CUSZI_ABS_OR_PWREL,
                           CUSZI_ABS_AND_PWREL};  // by ErrorMode
constexpr std::array efforts{Effort::normal, Effort::fast};
constexpr std::array huffman_widths{HuffmanWidth::automatic, HuffmanWidth::u32, HuffmanWidth::u64};

template <class Choice, std::size_t count>
const Choice& chosen(const std::array<Choice, count>& choices, int number) {
  return choices.at(static_cast<std::size_t>(number));
}

void apply_isovalues(const cuszi_options& options, IsoValues& isovalues) {
  constexpr std::uint32_t most = CUSZI_MAX_ISOVALUES;
  const std::uint32_t count = within("isovalue_count", options.isovalue_count, 0, most);
  for (const double isovalue : std::span(options.isovalues).first(count)) {
    if (!std::isfinite(isovalue)) {
      refuse_value("isovalues", fmt::format("{}", isovalue), "finite numbers");
    }
    isovalues.add(isovalue);
  }
  if (options.keep_sign != 0) isovalues.add(0);
}

void check_bound_field(const cuszi_options& options) {
  const bool has_bounds = options.bound_field != nullptr;
  if (has_bounds != (options.bound_count != 0)) {
    refuse_value("bound_count", fmt::format("{}", options.bound_count),
                 has_bounds ? "the number of bounds in bound_field" : "0, as bound_field is NULL");
  }
  const std::span blocks(options.bound_blocks);
  const auto extent = std::find_if(blocks.begin(), blocks.end(), [](auto n) { return n != 0; });
  if (has_bounds || extent == blocks.end()) return;
  refuse_value("bound_blocks", fmt::format("{}", *extent), "0, as bound_field is NULL");
}

/// Borrows the options' pointers.
BoundsByPlace places_in(const cuszi_options& options) {
  constexpr std::uint32_t most = CUSZI_MAX_REGIONS;
  const std::uint32_t count = within("region_count", options.region_count, 0, most);
  BoundsByPlace places;
  for (const cuszi_region& region : std::span(options.regions).first(count)) {
    BoundRegion& part = places.regions.emplace_back();
    std::copy_n(std::begin(region.first), part.box.first.size(), part.box.first.begin());
    std::replace_copy(std::begin(region.end), std::end(region.end), part.box.end.begin(),
                      std::uint64_t{0}, Box::no_end);
    part.bound = region.bound;
    if (part.bound >= 0 && std::isfinite(part.bound)) continue;
    refuse_value("regions", fmt::format("{}", part.bound), "bounds of at least 0");
  }
  check_bound_field(options);
  if (options.bound_field == nullptr) return places;
  places.field.bounds = {options.bound_field, options.bound_count};
  for (std::size_t axis = 0; axis < places.field.block.size(); ++axis) {
    places.field.block[axis] = std::max<std::uint64_t>(options.bound_blocks[axis], 1);
  }
  return places;
}

template <class Number>
std::optional<Number> unless_zero(Number value) {
  return value == 0 ? std::nullopt : std::optional(value);
}

void apply_fills(const cuszi_options& options, FillValues& fills) {
  constexpr std::uint32_t most = CUSZI_MAX_FILLS;
  const std::uint32_t count = within("fill_count", options.fill_count, 0, most);
  const std::uint32_t more = within("more_fill_count", options.more_fill_count, 0, most);
  if (count != 0 && options.fills == nullptr) {
    throw UsageError("fills is NULL, but fill_count is not 0");
  }
  const auto add = [&](double fill) {
    if (std::isnan(fill)) refuse_value("fills", "NaN", "a number; NaN always marks missing points");
    fills.add(fill);
  };
  for (const double fill : std::span(options.fills, count)) add(fill);
  for (const double fill : std::span(options.more_fills).first(more)) add(fill);
}

void apply_interp(const cuszi_options& options, InterpConfig& interp) {
  const std::span<const std::uint64_t, 3> tile(options.interp_tile);
  if (std::any_of(tile.begin(), tile.end(), [](std::uint64_t extent) { return extent != 0; })) {
    interp.tile.emplace();
    std::copy(tile.begin(), tile.end(), interp.tile->begin());
  }
  interp.anchor = unless_zero(options.interp_anchor);
  interp.alpha = unless_zero(options.interp_alpha);
  if (options.interp_cubic != 0) interp.cubic = static_cast<Cubic>(options.interp_cubic - 1);
  const std::string_view order(options.interp_order, ::strnlen(options.interp_order, 4));
  if (order.empty()) return;
  if (!std::is_permutation(order.begin(), order.end(), interp_axes.begin(), interp_axes.end())) {
    refuse_value("interp_order", order, "the letters z, y and x in some order");
  }
  interp.order.emplace();
  std::transform(order.begin(), order.end(), interp.order->begin(),
                 [](char letter) { return static_cast<std::uint8_t>(interp_axes.find(letter)); });
}

void apply_multilevel(const cuszi_options& options, MultilevelConfig& multilevel) {
  multilevel.effort = chosen(efforts, options.effort);
  if (options.axes != 0) {
    multilevel.axes = {
        static_cast<AxisRole>(within("axes", options.axes, 1, CUSZI_AXES_LAYERED) - 1),
        within("axis", options.axis, 0, CUSZI_MAX_RANK - 1)};
  }
  multilevel.reach = unless_zero(options.reach);
  multilevel.alpha = unless_zero(options.alpha);
  multilevel.beta = unless_zero(options.beta);
}

void apply_zfp(const cuszi_options& options, ZfpConfig& zfp) {
  zfp.mode.kind =
      static_cast<ZfpMode::Kind>(within("zfp_mode", options.zfp_mode, 0, CUSZI_ZFP_REVERSIBLE));
  zfp.mode.amount = options.zfp_amount;
  if (!is_possible(zfp.mode)) {
    refuse_value("zfp_amount", fmt::format("{}", options.zfp_amount),
                 zfp.mode.kind == ZfpMode::Kind::rate
                     ? "above 0 and up to 64 bits per value"
                     : "a whole number of bit planes from 1 to 64");
  }
  zfp.chunk = unless_zero(options.zfp_chunk);
}

void apply_method(const cuszi_options& options, FrameConfig& frame) {
  PredictorConfig& predictor = frame.predictor;
  apply(chosen(presets, options.preset), frame);
  if (options.predictor != 0) apply(chosen(predictors, options.predictor - 1), predictor);
  if (options.coder != 0) frame.coder = chosen(coders, options.coder - 1);
  frame.lossless = static_cast<Lossless>(options.lossless);
  predictor.radius = unless_zero(options.radius);
  apply_multilevel(options, predictor.multilevel);
  apply_interp(options, predictor.interp);
  if (predictor.id == PredictorId::zfp) apply_zfp(options, predictor.zfp);
  if (options.index != 0) frame.index.kind = static_cast<IndexKind>(options.index - 1);
  if (options.partition != 0) frame.index.partition = options.partition;
  if (options.chunk != 0) frame.huffman.chunk = options.chunk;
  frame.huffman.width = chosen(huffman_widths, options.huffman_width / 32);
}

std::optional<ValueRange> range_in(const cuszi_options& options) {
  if (options.has_range == 0 || options.mode != CUSZI_REL) return std::nullopt;
  const bool possible = std::isfinite(options.range_min) && std::isfinite(options.range_max) &&
                        options.range_min <= options.range_max;
  if (possible) return ValueRange{options.range_min, options.range_max, true};
  refuse_value("range_min", fmt::format("{}", options.range_min),
               fmt::format("finite and at most range_max, {}", options.range_max));
}

int mode_in(const cuszi_options& options) {
  return within("mode", options.mode, 0, CUSZI_ABS_AND_PWREL);
}

}  // namespace

FieldSettings method_settings(const cuszi_options& options) {
  for (const Option& option : option_table()) option.check(options);
  FieldSettings settings;
  apply_method(options, settings.frame);
  apply_fills(options, settings.fills);
  apply_isovalues(options, settings.frame.isovalues);
  settings.range = range_in(options);
  if (options.has_padding != 0) settings.padding = options.padding;
  settings.frame_bytes = unless_zero(options.frame_bytes);
  return settings;
}

/// Pointwise bounds code logarithms.
void refuse_by_zfp(PredictorId predictor, ErrorMode mode, std::string_view label) {
  if (mode < ErrorMode::pointwise || predictor != PredictorId::zfp) return;
  throw UsageError(
      fmt::format("zfp supports no bound relative to each value ({}mode {}); use another preset",
                  dashes_of(label), name_of(mode)));
}

void refuse_share(const cuszi_options& options, std::string_view label) {
  if (options.pw == 0) return;
  throw UsageError(
      fmt::format("{0}pw {1} has no effect here; it needs {0}mode abs-or-pwrel or abs-and-pwrel",
                  dashes_of(label), options.pw));
}

namespace {

/// Requires a predictor that takes local bounds, and a bound of the field.
void apply_places(const cuszi_options& options, std::string_view label, FieldSettings& settings) {
  settings.places = places_in(options);
  if (!settings.places.any()) return;
  const std::string_view dashes = dashes_of(label);
  if (!takes_local_bounds(settings.frame.predictor.id)) {
    throw UsageError(fmt::format(
        "bounds of regions need {0}preset ratio or balanced, or {0}predictor multilevel or cells",
        dashes));
  }
  if (target_of(options) || error_mode_of(options) >= ErrorMode::pointwise) {
    throw UsageError(fmt::format(
        "bounds of regions need {0}mode rel or abs and a bound for the whole field", dashes));
  }
  settings.frame.predictor.automatic = false;
}

}  // namespace

AskedBound asked_bound(const cuszi_options& options, std::string_view label) {
  const ErrorMode mode = error_mode_of(options);
  if (!has_two_bounds(mode)) refuse_share(options, label);
  const AskedBound asked{options.bound, mode, options.pw};
  check_bound(asked, label);
  return asked;
}

FieldSettings field_settings(const cuszi_options& options, bool has_bound, std::string_view label) {
  FieldSettings settings = method_settings(options);
  apply_places(options, label, settings);
  const bool has_target = target_of(options).has_value();
  const auto own = own_bound(settings.frame.predictor);
  if (own && has_target) {
    throw UsageError(fmt::format("{0}target needs {0}zfp-mode accuracy", dashes_of(label)));
  }
  if (own && !has_bound) {
    settings.mode = ErrorMode::absolute;
    settings.bound = *own;
  } else if (own == 0.0) {
    throw UsageError(
        fmt::format("{} has no effect with {}zfp-mode reversible, which is lossless; leave it out",
                    label, dashes_of(label)));
  } else if (!has_target) {
    const AskedBound asked = asked_bound(options, label);
    settings.mode = asked.mode;
    settings.bound = asked.bound;
    settings.share = asked.share;
    refuse_by_zfp(settings.frame.predictor.id, settings.mode, label);
    return settings;
  }
  refuse_share(options, label);
  return settings;
}

std::vector<int> DeviceChoice::numbers(int count) const {
  if (set == 0) return {index};
  std::vector<int> those;
  for (int number = 0; number < (set == all ? count : most_shared_devices); ++number) {
    if (includes(number)) those.push_back(number);
  }
  return those.empty() ? std::vector{0} : those;
}

RunSettings run_settings(const cuszi_options& options) {
  find_option("threads").check(options);
  RunSettings run;
  run.device = {
      static_cast<DeviceChoice::Kind>(within("device", options.device, 0, CUSZI_DEVICE_CUDA)),
      within("device_index", options.device_index, 0, most_device_index),
      options.device == CUSZI_DEVICE_CUDA ? options.devices : 0};
  run.threads = unless_zero(options.threads);
  run.memory_limit = unless_zero(options.memory_limit);
  run.stream = options.stream;
  return run;
}

std::optional<Target> target_of(const cuszi_options& options) {
  const int mode = mode_in(options);
  if (mode != CUSZI_PSNR && mode != CUSZI_RATIO) return std::nullopt;
  const bool psnr = mode == CUSZI_PSNR;
  const Target target{psnr ? Target::Kind::psnr : Target::Kind::ratio, options.bound};
  if (is_possible(target)) return target;
  refuse_value("bound", fmt::format("{}", options.bound),
               psnr ? fmt::format("a PSNR above 0 and up to {} dB", most_psnr)
                    : fmt::format("a ratio from 1 to {}", most_ratio));
}

ErrorMode error_mode_of(const cuszi_options& options) {
  const auto* const mode = std::find(modes.begin(), modes.end(), mode_in(options));
  return mode == modes.end() ? ErrorMode::absolute : static_cast<ErrorMode>(mode - modes.begin());
}

int mode_number(ErrorMode mode) { return modes.at(static_cast<std::size_t>(mode)); }

void check_type(DType dtype, const FieldSettings& settings) {
  const auto name = name_of(dtype);
  for (const double fill : std::span(settings.fills.values).first(settings.fills.count)) {
    if (is_stored_value(dtype, fill)) continue;
    throw UsageError(fmt::format("fill value {} is not a value of {}", fill, name),
                     Setting::fill_values);
  }
  if (!is_wide_integer(dtype)) return;
  if (settings.mode != ErrorMode::absolute && settings.bound != 0) {
    throw UsageError(fmt::format(
        "fields of {} take an absolute bound, or a bound of 0, which is lossless", name));
  }
  if (settings.places.any() || settings.frame.isovalues.count != 0) {
    throw UsageError(fmt::format("fields of {} take neither local bounds nor isovalues", name));
  }
}

}  // namespace cuszi

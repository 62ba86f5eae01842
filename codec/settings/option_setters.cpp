#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string>
#include <vector>

#include "codec/settings/limits.hpp"
#include "codec/settings/option_table.hpp"
#include "codec/settings/option_text.hpp"
#include "codec/settings/settings.hpp"
#include "core/base/dims.hpp"
#include "core/base/error.hpp"

namespace cuszi {

namespace {

/// "16x16"; empty if malformed.
std::vector<std::uint64_t> extents_in(std::string_view text) {
  try {
    const Dims dims = Dims::parse(text);
    return {dims.extents().begin(), dims.extents().end()};
  } catch (const UsageError&) {
    return {};
  }
}

/// "all" or "0,1"; nullopt if malformed.
std::optional<std::uint64_t> device_set(std::string_view text) {
  if (text == "all") return DeviceChoice::all;
  if (text.find(',') == text.npos) return std::nullopt;
  std::uint64_t set = 0;
  for (bool more = true; more;) {
    more = text.find(',') != text.npos;
    const auto number = number_in<std::int32_t>(cut(text, ','));
    if (!number || *number < 0 || *number >= most_shared_devices) return std::nullopt;
    set |= std::uint64_t{1} << *number;
  }
  return set;
}

/// Appends to a list of the options.
template <class T, std::size_t most>
T& next_of(T (&list)[most], std::uint32_t& count, std::string_view label, std::string_view text) {
  if (count >= most) refuse(label, text, fmt::format("allowed: at most {} can be given", most));
  return list[count++];
}

}  // namespace

void set_bound(std::string_view label, std::string_view text, cuszi_options& options) {
  const auto number = number_in<double>(text);
  if (!number || std::isnan(*number)) {
    refuse(label, text,
           fmt::format("a number like 1e-3, a fraction of the value range with {0}mode rel "
                       "(default), absolute with {0}mode abs",
                       dashes_of(label)));
  }
  options.bound = *number;
  if (options.mode == CUSZI_PSNR || options.mode == CUSZI_RATIO) options.mode = CUSZI_REL;
}

void set_mode(std::string_view label, std::string_view text, cuszi_options& options) {
  options.mode = mode_number(parse_error_mode(label, text));
}

void set_target(std::string_view label, std::string_view text, cuszi_options& options) {
  std::string_view rest = text;
  const std::string_view kind = cut(rest, ':');
  const bool is_psnr = kind == "psnr";
  const auto value = number_in<double>(rest);
  if (!value || (!is_psnr && kind != "ratio") ||
      !is_possible(Target{is_psnr ? Target::Kind::psnr : Target::Kind::ratio, *value})) {
    refuse(label, text, "psnr:DB (up to 400) or ratio:FACTOR (from 1), like psnr:80 or ratio:50");
  }
  options.mode = is_psnr ? CUSZI_PSNR : CUSZI_RATIO;
  options.bound = *value;
}

void set_axes(std::string_view label, std::string_view text, cuszi_options& options) {
  std::string_view rest = text;
  const std::string_view role = cut(rest, ':');
  const auto number =
      static_cast<std::int32_t>(parse_word(label, role, "auto|lattice|independent|layered"));
  const bool takes_axis = number >= CUSZI_AXES_INDEPENDENT;
  const auto axis = number_in<std::int32_t>(takes_axis ? rest : "0");
  if (takes_axis == (role == text) || !axis || *axis < 0 || *axis >= CUSZI_MAX_RANK) {
    refuse(label, text, "auto, lattice, layered:AXIS or independent:AXIS (0 is the slowest axis)");
  }
  options.axes = number;
  options.axis = *axis;
}

void set_interp(std::string_view label, std::string_view text, cuszi_options& options) {
  for (std::string_view rest = text; !rest.empty();) {
    std::string_view value = cut(rest, ',');
    const std::string_view key = cut(value, '=');
    parse_word(label, key, "tile|anchor|alpha|cubic|order");
    find_option(fmt::format("interp-{}", key))
        .set(fmt::format("{} {}=", label, key), value, options);
  }
}

void set_interp_tile(std::string_view label, std::string_view text, cuszi_options& options) {
  const auto extents = extents_in(text);
  if (extents.empty() || extents.size() > std::size(options.interp_tile)) {
    refuse(label, text, "a tile of 1 to 3 positive extents, like 8x8x32");
  }
  std::fill(std::begin(options.interp_tile), std::end(options.interp_tile), 1);
  std::copy_backward(extents.begin(), extents.end(), std::end(options.interp_tile));
}

void set_interp_order(std::string_view label, std::string_view text, cuszi_options& options) {
  std::string order(interp_axes);
  std::erase_if(order, [&](char axis) { return text.find(axis) != std::string_view::npos; });
  order += text;
  if (!std::is_permutation(order.begin(), order.end(), interp_axes.begin(), interp_axes.end())) {
    refuse(label, text, "an order of the axes z (slowest), y, x, each once, like zyx");
  }
  std::copy(order.begin(), order.end(), std::begin(options.interp_order));
  options.interp_order[interp_axes.size()] = '\0';
}

void set_zfp_mode(std::string_view label, std::string_view text, cuszi_options& options) {
  std::string_view rest = text;
  const std::string_view name = cut(rest, ':');
  const auto number =
      static_cast<std::int32_t>(parse_word(label, name, "accuracy|precision|rate|reversible"));
  const bool takes_amount = number == CUSZI_ZFP_PRECISION || number == CUSZI_ZFP_RATE;
  const auto amount = takes_amount ? number_in<double>(rest) : std::optional(0.0);
  if (!amount || (!takes_amount && name != text) ||
      !is_possible(ZfpMode{static_cast<ZfpMode::Kind>(number), *amount})) {
    refuse(label, text,
           "accuracy, precision:PLANES (1 to 64), rate:BITS (per value, up to 64) or reversible");
  }
  options.zfp_mode = number;
  options.zfp_amount = *amount;
}

void set_device(std::string_view label, std::string_view text, cuszi_options& options) {
  std::string_view rest = text;
  const std::string_view kind = cut(rest, ':');
  const bool is_cuda = kind == "cuda";
  const auto set = is_cuda && kind != text ? device_set(rest) : std::optional(std::uint64_t{0});
  const auto index = is_cuda && kind != text && !set ? number_in<std::int32_t>(rest)
                                                     : std::optional(std::int32_t{0});
  const bool possible = is_cuda ? index && *index >= 0 && *index <= most_device_index
                                : text == "auto" || text == "cpu";
  if (!possible) refuse(label, text, "auto, cpu, cuda, cuda:N, cuda:N,M... or cuda:all");
  options.device = kind == "auto"  ? CUSZI_DEVICE_AUTO
                   : kind == "cpu" ? CUSZI_DEVICE_CPU
                                   : CUSZI_DEVICE_CUDA;
  options.device_index = *index;
  options.devices = set.value_or(0);
}

void add_fill(std::string_view label, std::string_view text, cuszi_options& options) {
  const auto value = text == "netcdf" ? std::optional(netcdf_fill_value) : number_in<double>(text);
  if (!value) refuse(label, text, "a number or netcdf");
  if (std::isnan(*value)) return;
  next_of(options.more_fills, options.more_fill_count, label, text) = *value;
}

void set_padding(std::string_view label, std::string_view text, cuszi_options& options) {
  const auto value = number_in<double>(text);
  if (!value) refuse(label, text, "a number");
  options.has_padding = 1;
  options.padding = *value;
}

void add_isovalue(std::string_view label, std::string_view text, cuszi_options& options) {
  const auto value = number_in<double>(text);
  if (!value || !std::isfinite(*value)) refuse(label, text, "a finite number");
  next_of(options.isovalues, options.isovalue_count, label, text) = *value;
}

void add_region(std::string_view label, std::string_view text, cuszi_options& options) {
  const std::size_t at = text.rfind('=');
  const auto bound = number_in<double>(at == text.npos ? "" : text.substr(at + 1));
  if (!bound || !(*bound >= 0) || !std::isfinite(*bound)) {
    refuse(label, text, "RANGES=BOUND, like 0:8,100:200,:=1e-4, with a bound of at least 0");
  }
  const Box box = parse_box(label, text.substr(0, at));
  for (std::size_t axis = 0; axis < box.end.size(); ++axis) {  // as 0 means open
    if (box.end[axis] <= box.first[axis]) refuse(label, text, "a box with non-empty ranges");
  }
  cuszi_region& region = next_of(options.regions, options.region_count, label, text);
  std::copy(box.first.begin(), box.first.end(), std::begin(region.first));
  std::copy(box.end.begin(), box.end.end(), std::begin(region.end));
  region.bound = *bound;
}

void set_bound_blocks(std::string_view label, std::string_view text, cuszi_options& options) {
  const auto extents = extents_in(text);
  if (extents.empty()) refuse(label, text, "1 to 4 positive extents, like 16x16x16");
  std::fill(std::begin(options.bound_blocks), std::end(options.bound_blocks), 0);
  std::copy(extents.begin(), extents.end(), std::begin(options.bound_blocks));
}

void set_range(std::string_view label, std::string_view text, cuszi_options& options) {
  std::string_view rest = text;
  const auto min = number_in<double>(cut(rest, ','));
  const auto max = number_in<double>(rest);
  if (!min || !max || !std::isfinite(*min) || !std::isfinite(*max) || *min > *max) {
    refuse(label, text, "MIN,MAX: two finite numbers, the smaller first");
  }
  options.has_range = 1;
  options.range_min = *min;
  options.range_max = *max;
}

}  // namespace cuszi

#include "app/cli/option_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>

#include "codec/settings/limits.hpp"
#include "core/field/mask.hpp"
#include "core/field/quantizer.hpp"
#include "core/multilevel/multilevel.hpp"

namespace cuszi::app {

namespace {

template <class Number>
std::optional<Number> number_in(std::string_view text) {
  Number number{};
  const char* const end = text.data() + text.size();
  const auto [next, status] = std::from_chars(text.data(), end, number);
  if (status != std::errc{} || next != end) return std::nullopt;
  return number;
}

/// Cuts off and returns what stands in front of `separator`, or all if it is not there.
std::string_view cut(std::string_view& text, char separator) {
  const std::size_t at = text.find(separator);
  const std::string_view head = text.substr(0, at);
  text = at == std::string_view::npos ? std::string_view{} : text.substr(at + 1);
  return head;
}

/// Slow axes that are not given have an extent of 1.
Extents3 parse_tile(std::string_view option, std::string_view text) {
  constexpr std::string_view accepted = "a tile of 1 to 3 positive extents, like 8x8x32";
  Dims dims;
  try {
    dims = Dims::parse(text);
  } catch (const UsageError&) {
    refuse(option, text, accepted);
  }
  if (dims.rank() > 3) refuse(option, text, accepted);
  Extents3 tile{1, 1, 1};
  std::copy_backward(dims.extents().begin(), dims.extents().end(), tile.end());
  return tile;
}

/// Axes that are not named go first.
std::array<std::uint8_t, 3> parse_order(std::string_view option, std::string_view text) {
  std::array<std::uint8_t, 3> order{};
  std::size_t next = 0;
  for (std::size_t axis = 0; axis < axis_letters.size(); ++axis) {
    const auto times = std::count(text.begin(), text.end(), axis_letters[axis]);
    if (times > 1) refuse(option, text, "an order that names each of z, y, x once");
    if (times == 0 && next < order.size()) order.at(next++) = static_cast<std::uint8_t>(axis);
  }
  for (const char letter : text) {
    const std::size_t axis = axis_letters.find(letter);
    if (axis == std::string_view::npos) {
      refuse(option, text, "an order of the axes z (slowest), y, x, like zyx");
    }
    order.at(next++) = static_cast<std::uint8_t>(axis);
  }
  return order;
}

}  // namespace

void refuse(std::string_view option, std::string_view text, std::string_view accepted) {
  throw UsageError(fmt::format("{} '{}' is not {}", option, text, accepted));
}

double parse_number(std::string_view option, std::string_view text) {
  const auto number = number_in<double>(text);
  if (!number || std::isnan(*number)) refuse(option, text, "a number");
  return *number;
}

double parse_bound(std::string_view option, std::string_view text) {
  const auto number = number_in<double>(text);
  if (number && !std::isnan(*number)) return *number;
  refuse(
      option, text,
      "a number like 1e-3, which --mode rel (default) takes as a share of the value range, --mode "
      "abs as it is");
}

std::uint64_t parse_count(std::string_view option, std::string_view text, std::uint64_t least,
                          std::uint64_t most) {
  const auto number = number_in<std::uint64_t>(text);
  if (!number || *number < least || *number > most) {
    refuse(option, text, fmt::format("a whole number from {} to {}", least, most));
  }
  return *number;
}

std::uint32_t parse_power_of_two(std::string_view option, std::string_view text,
                                 std::uint64_t least, std::uint64_t most) {
  const auto number = number_in<std::uint64_t>(text);
  if (!number || *number < least || *number > most || !std::has_single_bit(*number)) {
    refuse(option, text, fmt::format("a power of two from {} to {}", least, most));
  }
  return static_cast<std::uint32_t>(*number);
}

ByteCount parse_size(std::string_view option, std::string_view text) {
  constexpr std::string_view units = "KMGT";
  constexpr ByteCount most = ByteCount{1} << 50;
  const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  const auto number = number_in<ByteCount>(text.substr(0, digits));
  const std::string_view unit = text.substr(digits);
  const bool ending_ok = unit.size() <= 1 || unit.substr(1) == "B" || unit.substr(1) == "iB";
  const std::size_t power = unit.empty() ? 0 : units.find(unit.front()) + 1;
  if (!number || *number == 0 || *number > most || !ending_ok || (!unit.empty() && power == 0) ||
      *number > most >> (10 * power)) {
    refuse(option, text, "a size from 1 byte to 1024T, like 4096, 64K, 256MiB or 1G");
  }
  return *number << (10 * power);
}

void check_bound(double bound, ErrorMode mode, std::string_view option) {
  if (is_possible_bound(bound, mode)) return;
  const bool relative = mode == ErrorMode::relative;
  refuse(option, fmt::format("{}", bound),
         !relative ? "a finite number of at least 0"
         : bound >= 0
             ? "a share of the value range, from 0 to below 1; --mode abs takes any number "
               "of at least 0"
             : "a share of the value range, from 0 (lossless) to below 1");
}

Target parse_target(std::string_view option, std::string_view text) {
  std::string_view rest = text;
  const std::string_view kind = cut(rest, ':');
  const auto value = number_in<double>(rest);
  if (value && (kind == "psnr" || kind == "ratio")) {
    const Target target{kind == "psnr" ? Target::Kind::psnr : Target::Kind::ratio, *value};
    if (is_possible(target)) return target;
  }
  refuse(option, text, "psnr:DB (up to 400) or ratio:FACTOR (from 1), like psnr:80 or ratio:50");
}

ZfpMode parse_zfp_mode(std::string_view option, std::string_view text) {
  using Kind = ZfpMode::Kind;
  if (text == "accuracy") return {Kind::accuracy, 0};
  if (text == "reversible") return {Kind::reversible, 0};
  std::string_view rest = text;
  const std::string_view kind = cut(rest, ':');
  const auto amount = number_in<double>(rest);
  if (amount && (kind == "precision" || kind == "rate")) {
    const ZfpMode mode{kind == "rate" ? Kind::rate : Kind::precision, *amount};
    if (is_possible(mode)) return mode;
  }
  refuse(option, text,
         "accuracy, precision:PLANES (1 to 64), rate:BITS (per value, up to 64) or reversible");
}

VariableBound parse_variable_bound(std::string_view option, std::string_view text) {
  constexpr std::string_view accepted = "NAME=BOUND, like T=0.01, T=abs:0.01 or T=rel:1e-3";
  const std::size_t at = text.rfind('=');
  if (at == 0 || at == std::string_view::npos) refuse(option, text, accepted);
  VariableBound bound;
  bound.name = text.substr(text.starts_with('/') ? 1 : 0, at - (text.starts_with('/') ? 1 : 0));
  std::string_view value = text.substr(at + 1);
  if (value.find(':') != std::string_view::npos) {
    bound.mode = parse_error_mode(option, cut(value, ':'));
  }
  const auto number = number_in<double>(value);
  if (!number || std::isnan(*number)) refuse(option, text, accepted);
  bound.bound = *number;
  return bound;
}

Box parse_box(std::string_view option, std::string_view text) {
  constexpr std::string_view accepted =
      "ranges of up to 4 axes, slowest first, like 0:8,100:200,: (FIRST:END, the end not included)";
  Box box;
  std::string_view rest = text;
  for (std::size_t axis = 0; axis == 0 || !rest.empty(); ++axis) {
    std::string_view end = cut(rest, ',');
    const bool single = end.find(':') == std::string_view::npos;
    const std::string_view first = cut(end, ':');
    const auto low = first.empty() && !single ? 0 : number_in<std::uint64_t>(first);
    const auto high = single && low ? *low + 1
                      : end.empty() ? Box::no_end
                                    : number_in<std::uint64_t>(end);
    if (axis >= Dims::max_rank || !low || !high) refuse(option, text, accepted);
    box.first.at(axis) = *low;
    box.end.at(axis) = *high;
  }
  return box;
}

SliceChoice parse_slice(std::string_view option, std::string_view text) {
  std::string_view rest = text;
  const std::string_view axis = cut(rest, '=');
  const auto index = number_in<std::uint64_t>(rest);
  if (axis.size() != 1 || picture_axes.find(axis) == std::string_view::npos || !index) {
    refuse(option, text, "an axis and an index, like z=10; axes are x (the fastest), y, z and w");
  }
  return {axis.front(), *index};
}

ValueRange parse_range(std::string_view option, std::string_view text) {
  std::string_view rest = text;
  const auto min = number_in<double>(cut(rest, ','));
  const auto max = number_in<double>(rest);
  if (!min || !max || !std::isfinite(*min) || !std::isfinite(*max) || *min > *max) {
    refuse(option, text, "MIN,MAX: two finite numbers, the smaller first");
  }
  return {*min, *max, true};
}

double parse_fill_value(std::string_view option, std::string_view text) {
  if (text == "netcdf") return netcdf_fill_value;
  const auto number = number_in<double>(text);
  if (!number) refuse(option, text, "a number or netcdf");
  return *number;
}

ErrorMode parse_error_mode(std::string_view option, std::string_view text) {
  for (const Named<ErrorMode>& alias : error_mode_aliases) {
    if (alias.name == text) return alias.value;
  }
  return parse_name(option, text, error_mode_names);
}

std::optional<std::uint32_t> parse_radius(std::string_view option, std::string_view text) {
  if (text == "auto") return std::nullopt;
  return static_cast<std::uint32_t>(parse_count(option, text, 1, max_radius));
}

std::optional<AxisChoice> parse_axes(std::string_view option, std::string_view text) {
  if (text == "auto") return std::nullopt;
  std::string_view rest = text;
  const std::string_view name = cut(rest, ':');
  AxisChoice choice{parse_name(option, name, axis_role_names), 0};
  if (choice.role == AxisRole::lattice && name == text) return choice;
  const auto axis = number_in<int>(rest);
  if (!axis || *axis < 0 || choice.role == AxisRole::lattice) {
    refuse(option, text, "auto, lattice, layered:AXIS or independent:AXIS (0 is the slowest axis)");
  }
  choice.axis = *axis;
  return choice;
}

std::optional<int> parse_reach(std::string_view option, std::string_view text) {
  if (text == "auto") return std::nullopt;
  const auto reach = number_in<int>(text);
  if (!reach || (*reach != 3 && *reach != 5 && *reach != 7))
    refuse(option, text, "auto, 3, 5 or 7");
  return reach;
}

std::optional<double> parse_level_factor(std::string_view option, std::string_view text) {
  if (text == "auto") return std::nullopt;
  const double factor = parse_number(option, text);
  if (!(factor >= 1 && factor <= max_level_factor)) {
    refuse(option, text, fmt::format("auto or a number from 1 to {}", max_level_factor));
  }
  return factor;
}

DeviceChoice parse_device(std::string_view option, std::string_view text) {
  using Kind = DeviceChoice::Kind;
  if (text == "auto") return {Kind::automatic, 0};
  if (text == "cpu") return {Kind::cpu, 0};
  std::string_view rest = text;
  const std::string_view kind = cut(rest, ':');
  const auto index = kind == text ? std::optional<int>(0) : number_in<int>(rest);
  if (kind != "cuda" || !index || *index < 0) refuse(option, text, "auto, cpu, cuda or cuda:N");
  return {Kind::cuda, *index};
}

InterpConfig parse_interp(std::string_view option, std::string_view text) {
  InterpConfig config;
  for (std::string_view rest = text; !rest.empty();) {
    std::string_view value = cut(rest, ',');
    const std::string key(cut(value, '='));
    const std::string place = fmt::format("{} {}=", option, key);
    if (key == "tile") {
      config.tile = parse_tile(place, value);
    } else if (key == "anchor") {
      config.anchor = parse_power_of_two(place, value, least_anchor, most_anchor);
    } else if (key == "alpha") {
      config.alpha = parse_number(place, value);
      if (!(*config.alpha >= 1 && *config.alpha <= most_interp_alpha))
        refuse(place, value, "a number from 1 to 16");
    } else if (key == "cubic") {
      config.cubic = parse_name(place, value, cubic_names);
    } else if (key == "order") {
      config.order = parse_order(place, value);
    } else {
      refuse(option, key, "one of tile, anchor, alpha, cubic, order");
    }
  }
  return config;
}

}  // namespace cuszi::app

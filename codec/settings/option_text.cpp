#include "codec/settings/option_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "codec/settings/limits.hpp"
#include "core/base/error.hpp"

namespace cuszi {

std::string_view cut(std::string_view& text, char separator) {
  const std::size_t at = text.find(separator);
  const std::string_view head = text.substr(0, at);
  text = at == std::string_view::npos ? std::string_view{} : text.substr(at + 1);
  return head;
}

void refuse(std::string_view label, std::string_view text, std::string_view accepted) {
  throw UsageError(fmt::format("{} '{}' is not {}", label, text, accepted));
}

void refuse_value(std::string_view label, std::string_view value, std::string_view accepted) {
  if (!dashes_of(label).empty()) refuse(label, value, accepted);
  throw UsageError(fmt::format("{} {} is not {}", label, value, accepted));
}

double parse_number(std::string_view label, std::string_view text) {
  const auto number = number_in<double>(text);
  if (!number || std::isnan(*number)) refuse(label, text, "a number");
  return *number;
}

std::uint64_t parse_count(std::string_view label, std::string_view text, std::uint64_t least,
                          std::uint64_t most) {
  const auto number = number_in<std::uint64_t>(text);
  if (number && *number >= least && *number <= most) return *number;
  refuse(label, text, fmt::format("a whole number from {} to {}", least, most));
}

std::uint32_t parse_power_of_two(std::string_view label, std::string_view text, std::uint64_t least,
                                 std::uint64_t most) {
  const auto number = number_in<std::uint32_t>(text);
  if (number && *number >= least && *number <= most && std::has_single_bit(*number)) return *number;
  refuse(label, text, fmt::format("a power of two from {} to {}", least, most));
}

ByteCount parse_size(std::string_view label, std::string_view text) {
  constexpr std::string_view units = "KMGT";
  constexpr ByteCount most = ByteCount{1} << 50;
  const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  const auto number = number_in<ByteCount>(text.substr(0, digits));
  const std::string_view unit = text.substr(digits);
  const bool ending_ok = unit.size() <= 1 || unit.substr(1) == "B" || unit.substr(1) == "iB";
  const std::size_t power = unit.empty() ? 0 : units.find(unit.front()) + 1;
  if (!number || *number == 0 || *number > most || !ending_ok || (!unit.empty() && power == 0) ||
      *number > most >> (10 * power)) {
    refuse(label, text, "a size from 1 byte to 1024T, like 4096, 64K, 256MiB or 1G");
  }
  return *number << (10 * power);
}

std::size_t parse_word(std::string_view label, std::string_view text, std::string_view words) {
  std::string accepted;
  for (std::size_t i = 0; !words.empty(); ++i) {
    const std::string_view word = cut(words, '|');
    if (word == text) return i;
    accepted += fmt::format("{}{}", i == 0 ? "" : ", ", word);
  }
  refuse(label, text, "one of " + accepted);
}

ErrorMode parse_error_mode(std::string_view label, std::string_view text) {
  if (text == "REL" || text == "r2r" || text == "vr_rel") return ErrorMode::relative;
  if (text == "ABS") return ErrorMode::absolute;
  if (text == "PW_REL" || text == "pw_rel") return ErrorMode::pointwise;
  if (text == "ABS_OR_PW_REL" || text == "abs_or_pw_rel") return ErrorMode::absolute_or_pointwise;
  if (text == "ABS_AND_PW_REL" || text == "abs_and_pw_rel") {
    return ErrorMode::absolute_and_pointwise;
  }
  constexpr std::array modes{ErrorMode::relative, ErrorMode::absolute, ErrorMode::pointwise,
                             ErrorMode::absolute_or_pointwise, ErrorMode::absolute_and_pointwise};
  return modes.at(parse_word(label, text, mode_words));
}

Box parse_box(std::string_view label, std::string_view text) {
  constexpr std::string_view accepted =
      "ranges of up to 4 axes, slowest first, like 0:8,100:200,: (FIRST:END, the end not included)";
  constexpr std::uint64_t most_index = std::uint64_t{1} << 60;  // of any field
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
    const bool is_beyond = low && *low >= most_index;
    if (axis >= Dims::max_rank || !low || !high || is_beyond ||
        (!end.empty() && *high > most_index)) {
      refuse(label, text, accepted);
    }
    box.first.at(axis) = *low;
    box.end.at(axis) = *high;
  }
  return box;
}

void check_bound(const AskedBound& asked, std::string_view label) {
  const auto [bound, mode, share] = asked;
  if (has_two_bounds(mode)) {
    if (!std::isfinite(bound) || !(bound > 0)) {
      refuse_value(label, fmt::format("{}", bound),
                   fmt::format("a finite number above 0, as {}mode {} needs", dashes_of(label),
                               name_of(mode)));
    }
    if (share > 0 && share < 1) return;
    refuse_value(fmt::format("{}pw", dashes_of(label)), fmt::format("{}", share),
                 fmt::format("a fraction of each value, above 0 and below 1, as {}mode {} needs",
                             dashes_of(label), name_of(mode)));
  }
  if (is_possible_bound(bound, mode)) return;
  const std::string accepted =
      mode == ErrorMode::pointwise  ? "a fraction of each value, from 0 (lossless) to below 1"
      : mode == ErrorMode::absolute ? "a finite number of at least 0"
      : bound >= 0                  ? fmt::format(
                                          "a fraction of the value range, from 0 to below 1; {}mode abs takes any "
                                                           "number of at least 0",
                                          dashes_of(label))
                   : "a fraction of the value range, from 0 (lossless) to below 1";
  refuse_value(label, fmt::format("{}", bound), accepted);
}

}  // namespace cuszi

#pragma once

#include <fmt/format.h>

#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>
#include <type_traits>

#include "core/base/units.hpp"
#include "core/field/bound.hpp"
#include "core/field/selection.hpp"

namespace cuszi {

// Given a label (the user's name of the option), throws a one-line UsageError with label, text and
// what is accepted.

/// The text as a number; nullopt if it is not entirely one.
template <class Number>
std::optional<Number> number_in(std::string_view text) {
  Number number{};
  const char* const end = text.data() + text.size();
  const auto [next, status] = std::from_chars(text.data(), end, number);
  if (status != std::errc{} || next != end) return std::nullopt;
  return number;
}

/// Removes and returns the text before `separator`.
std::string_view cut(std::string_view& text, char separator);

/// Throws UsageError.
[[noreturn]] void refuse(std::string_view label, std::string_view text, std::string_view accepted);

/// Throws UsageError; quotes the value if the label is an option's.
[[noreturn]] void refuse_value(std::string_view label, std::string_view value,
                               std::string_view accepted);

/// For members of structures without a row in the option table. Throws UsageError.
template <class Number>
Number within(std::string_view member, Number value, std::type_identity_t<Number> least,
              std::type_identity_t<Number> most) {
  if (value >= least && value <= most) return value;
  refuse_value(member, fmt::format("{}", value), fmt::format("from {} to {}", least, most));
}

/// Not NaN; may be infinite.
double parse_number(std::string_view label, std::string_view text);

/// Parses an integer from `least` to `most`.
std::uint64_t parse_count(std::string_view label, std::string_view text, std::uint64_t least,
                          std::uint64_t most);

std::uint32_t parse_power_of_two(std::string_view label, std::string_view text, std::uint64_t least,
                                 std::uint64_t most);

/// Parses bytes: "4096", "64K", "256MiB"; powers of 1024.
ByteCount parse_size(std::string_view label, std::string_view text);

/// Index of the text among words separated by "|".
std::size_t parse_word(std::string_view label, std::string_view text, std::string_view words);

/// "rel", "abs", or other compressors' names.
ErrorMode parse_error_mode(std::string_view label, std::string_view text);

/// "0:8,100:200,:"; no negative indices, missing axes are whole.
Box parse_box(std::string_view label, std::string_view text);

/// Throws UsageError unless the bound is at least 0 (two bounds: above 0) and below 1 if relative.
void check_bound(const AskedBound& asked, std::string_view label);

/// "--" on the command line.
inline std::string_view dashes_of(std::string_view label) {
  return label.starts_with("--") ? "--" : "";
}

}  // namespace cuszi

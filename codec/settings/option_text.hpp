#pragma once

#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>

#include "core/base/units.hpp"
#include "core/field/bound.hpp"
#include "core/field/selection.hpp"

namespace cuszi {

// Values of options as text. Functions that take a label throw UsageError: one line with the label,
// which is what the user calls the option, the text and what would be accepted.

/// The number that is the whole text; nothing if it is none or does not fit.
template <class Number>
std::optional<Number> number_in(std::string_view text) {
  Number number{};
  const char* const end = text.data() + text.size();
  const auto [next, status] = std::from_chars(text.data(), end, number);
  if (status != std::errc{} || next != end) return std::nullopt;
  return number;
}

/// Cuts off and returns what stands in front of `separator`, or all if it is not there.
std::string_view cut(std::string_view& text, char separator);

/// Throws UsageError: `text` is none of what `accepted` describes.
[[noreturn]] void refuse(std::string_view label, std::string_view text, std::string_view accepted);

/// Throws the UsageError of a value that is not accepted. The value is quoted as text where the
/// label is an option's, and not where it is a member's.
[[noreturn]] void refuse_value(std::string_view label, std::string_view value,
                               std::string_view accepted);

/// A number that is not NaN; infinities are numbers only where the caller accepts them.
double parse_number(std::string_view label, std::string_view text);

/// A whole number from `least` to `most`.
std::uint64_t parse_count(std::string_view label, std::string_view text, std::uint64_t least,
                          std::uint64_t most);

/// A power of two from `least` to `most`.
std::uint32_t parse_power_of_two(std::string_view label, std::string_view text, std::uint64_t least,
                                 std::uint64_t most);

/// A number of bytes: "4096", "64K", "256MiB", "1G", in powers of 1024.
ByteCount parse_size(std::string_view label, std::string_view text);

/// The place of `text` among words that "|" divides.
std::size_t parse_word(std::string_view label, std::string_view text, std::string_view words);

/// "rel", "abs" and so on, or what other compressors call them.
ErrorMode parse_error_mode(std::string_view label, std::string_view text);

/// "0:8,100:200,:", as in NumPy without negative indices; axes that are not named are whole. Throws
/// UsageError.
Box parse_box(std::string_view label, std::string_view text);

/// Throws UsageError unless a bound is at least 0, a relative one below 1; of two, both above 0.
void check_bound(const AskedBound& asked, std::string_view label);

/// "--" for the label of an option on the command line, else "".
inline std::string_view dashes_of(std::string_view label) {
  return label.starts_with("--") ? "--" : "";
}

}  // namespace cuszi

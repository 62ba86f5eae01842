#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "app/cli/names.hpp"
#include "codec/archive/field_summary.hpp"
#include "codec/frames/backend_choice.hpp"
#include "codec/settings/target.hpp"
#include "core/base/error.hpp"
#include "core/field/config.hpp"
#include "core/field/selection.hpp"

namespace cuszi::app {

// What stands after an option, as a value. Every function throws UsageError, naming the option, the
// text and what would be accepted.

/// The axes in `--interp order=`, slowest first.
inline constexpr std::string_view axis_letters = "zyx";

/// A number that is not NaN; infinities are numbers only where the caller accepts them.
double parse_number(std::string_view option, std::string_view text);

/// A bound: a number, or infinite; its size is left to check_bound().
double parse_bound(std::string_view option, std::string_view text);

/// A whole number from `least` to `most`.
std::uint64_t parse_count(std::string_view option, std::string_view text, std::uint64_t least,
                          std::uint64_t most);

/// A power of two from `least` to `most`.
std::uint32_t parse_power_of_two(std::string_view option, std::string_view text,
                                 std::uint64_t least, std::uint64_t most);

/// A number of bytes: "4096", "64K", "256MiB", "1G", in powers of 1024.
ByteCount parse_size(std::string_view option, std::string_view text);

/// Throws UsageError unless a bound is at least 0, a relative one below 1.
void check_bound(double bound, ErrorMode mode, std::string_view option = "--error-bound");

/// "psnr:DB" or "ratio:FACTOR".
Target parse_target(std::string_view option, std::string_view text);

/// "accuracy", "precision:PLANES", "rate:BITS" or "reversible".
ZfpMode parse_zfp_mode(std::string_view option, std::string_view text);

/// "NAME=0.01", "NAME=abs:0.01" or "NAME=rel:1e-3".
VariableBound parse_variable_bound(std::string_view option, std::string_view text);

/// "0:8,100:200,:", as in NumPy without negative indices; axes that are not named are whole.
Box parse_box(std::string_view option, std::string_view text);

/// "z=10": an axis of picture_axes and an index.
SliceChoice parse_slice(std::string_view option, std::string_view text);

/// "MIN,MAX".
ValueRange parse_range(std::string_view option, std::string_view text);

/// A number, NaN too, or "netcdf".
double parse_fill_value(std::string_view option, std::string_view text);

/// "rel" or "abs", or what other compressors call them.
ErrorMode parse_error_mode(std::string_view option, std::string_view text);

/// "auto" or a radius.
std::optional<std::uint32_t> parse_radius(std::string_view option, std::string_view text);

/// "auto", "lattice", "layered:AXIS" or "independent:AXIS".
std::optional<AxisChoice> parse_axes(std::string_view option, std::string_view text);

/// "auto", "3", "5" or "7".
std::optional<int> parse_reach(std::string_view option, std::string_view text);

/// "auto" or a factor of level-wise bounds.
std::optional<double> parse_level_factor(std::string_view option, std::string_view text);

/// "auto", "cpu", "cuda" or "cuda:N".
DeviceChoice parse_device(std::string_view option, std::string_view text);

/// "tile=16x16x16,anchor=16,alpha=1.5,cubic=natural,order=zyx", any of them.
InterpConfig parse_interp(std::string_view option, std::string_view text);

/// Throws UsageError: `text` is none of what `accepted` describes.
[[noreturn]] void refuse(std::string_view option, std::string_view text, std::string_view accepted);

/// One of a table's names.
template <class Enum, std::size_t count>
Enum parse_name(std::string_view option, std::string_view text,
                const std::array<Named<Enum>, count>& names) {
  std::string accepted;
  for (const Named<Enum>& named : names) {
    if (named.name == text) return named.value;
    accepted += (accepted.empty() ? "" : ", ") + std::string(named.name);
  }
  refuse(option, text, "one of " + accepted);
}

}  // namespace cuszi::app

#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>

#include "cuszi/cuszi.h"

namespace cuszi {

/// Throws UsageError with `label` (the user's name of the option), text and what is accepted.
using OptionSetter = void(std::string_view label, std::string_view text, cuszi_options& options);

OptionSetter set_bound;         ///< clears the target
OptionSetter set_mode;          ///< "rel", "abs", or other compressors' names
OptionSetter set_target;        ///< "psnr:DB" or "ratio:FACTOR"; clears bound and mode
OptionSetter set_axes;          ///< "auto", "lattice", "layered:AXIS", "independent:AXIS"
OptionSetter set_interp;        ///< "tile=16x16x16,anchor=16": options interp-KEY
OptionSetter set_interp_tile;   ///< "16x16", slow extents default to 1
OptionSetter set_interp_order;  ///< "zyx", missing axes first
OptionSetter set_zfp_mode;      ///< "accuracy", "precision:PLANES", "rate:BITS", "reversible"
OptionSetter set_device;        ///< "auto", "cpu", "cuda", "cuda:N,M..." or "cuda:all"
OptionSetter add_fill;          ///< number or "netcdf"; ignores NaN
OptionSetter add_isovalue;      ///< finite number
OptionSetter add_region;        ///< "0:8,100:200,:=1e-4"
OptionSetter set_padding;       ///< "0"
OptionSetter set_bound_blocks;  ///< "16x16x16"
OptionSetter set_range;         ///< "MIN,MAX"

/// In the order of --help.
namespace option_group {
inline constexpr const char* main = "Main options";
inline constexpr const char* predictor = "Predictor";
inline constexpr const char* coder = "Coder";
inline constexpr const char* device = "Device";
inline constexpr const char* files = "Files and formats";
inline constexpr const char* safety = "Safety";
inline constexpr const char* report = "Report";
inline constexpr std::array all{main, predictor, coder, device, files, safety, report};
}  // namespace option_group

/// What must be chosen for an option to have an effect.
enum class OptionUse {
  any,
  interp,
  multilevel,
  regions,
  zfp,
  coder,
  index,
  hybrid,
  huffman,
  relative
};

/// Where a text goes: a member, or a parser.
struct OptionTarget {
  double (*get)(const cuszi_options& options) = nullptr;
  void (*put)(double number, cuszi_options& options) = nullptr;
  OptionSetter* set = nullptr;
  bool repeats = false;  ///< each text adds a value
};

struct Option {
  cuszi_option info;  ///< for the C API
  OptionTarget target;
  OptionUse use = OptionUse::any;
  char letter = '\0';  ///< on the command line

  /// Throws UsageError naming `label`.
  void set(std::string_view label, std::string_view text, cuszi_options& options) const;

  /// Throws UsageError if the name is unknown.
  void check(const cuszi_options& options) const;

  /// Limits and default: "1 to 16, default auto".
  std::string range() const;
};

std::span<const Option> option_table();

/// By option or member name. Throws UsageError.
const Option& find_option(std::string_view name);

}  // namespace cuszi

#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>

#include "codec/settings/option_setters.hpp"

namespace cuszi {

/// The groups of options in the order in which help prints them.
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

/// What has to be chosen for an option to have an effect.
enum class OptionUse { any, interp, multilevel, zfp, coder, index, hybrid, huffman, relative };

/// Where the text of an option goes: the member of cuszi_options that gets its number, 0 for the
/// default; or a function that reads the text.
struct OptionTarget {
  double (*get)(const cuszi_options& options) = nullptr;
  void (*put)(double number, cuszi_options& options) = nullptr;
  OptionSetter* set = nullptr;
  bool repeats = false;  ///< each text adds a value
};

/// One row of the table.
struct Option {
  cuszi_option info;  ///< what the C API shows of it
  OptionTarget target;
  OptionUse use = OptionUse::any;
  char letter = '\0';  ///< of the command line

  /// Sets what the text says. `label` is what the user calls the option. Throws UsageError.
  void set(std::string_view label, std::string_view text, cuszi_options& options) const;

  /// Throws UsageError if the member has a number that no text gives.
  void check(const cuszi_options& options) const;

  /// "1 to 16, default auto": limits of numbers, and the default.
  std::string range() const;
};

/// All options of the library.
std::span<const Option> option_table();

/// The option of this name, or with a member of this name. Throws UsageError if there is none.
const Option& find_option(std::string_view name);

}  // namespace cuszi

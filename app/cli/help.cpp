#include "app/cli/help.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <sstream>
#include <utility>

#include "app/commit.hpp"
#include "codec/files/container.hpp"
#include "codec/frames/backend_choice.hpp"
#include "codec/settings/option_table.hpp"
#include "core/archive/archive.hpp"
#include "cpu_ref/session/cpu_backend.hpp"

namespace cuszi::app {

namespace {

constexpr std::size_t width = 100;        ///< columns
constexpr std::size_t name_columns = 34;  ///< before descriptions

/// Wraps at spaces.
std::string wrapped(const std::string& text, std::size_t columns) {
  std::string lines;
  std::string line;
  std::string word;
  for (std::istringstream rest(text); std::getline(rest, line);) {
    std::size_t column = 0;
    if (!lines.empty()) lines += '\n';
    for (std::istringstream words(line); words >> word; column += word.size()) {
      const bool fits = column + 1 + word.size() <= columns;
      if (column != 0) lines += fits ? ' ' : '\n';
      column = column != 0 && fits ? column + 1 : 0;
      lines += word;
    }
  }
  return lines;
}

}  // namespace

HelpFormatter::HelpFormatter() { column_width(name_columns); }

std::string HelpFormatter::make_subcommand(const CLI::App* sub) const {
  const std::string description = sub->get_description();
  return fmt::format("  {:<{}}{}\n", sub->get_name(), name_columns - 2,
                     description.substr(0, description.find('\n')));
}

std::string HelpFormatter::make_description(const CLI::App* app) const {
  return wrapped(app->get_description(), width) + '\n';
}

std::string HelpFormatter::make_help(const CLI::App* app, std::string name,
                                     CLI::AppFormatMode mode) const {
  std::string text =
      make_description(app) + make_usage(app, std::move(name)) + make_positionals(app);
  for (const std::string group : option_group::all) {
    const auto options = app->get_options([&](const CLI::Option* option) {
      return option->nonpositional() && option->get_group() == group;
    });
    if (!options.empty()) text += make_group(group, false, options);
  }
  return text + make_subcommands(app, mode) + '\n' + make_footer(app);
}

std::string HelpFormatter::make_option_opts(const CLI::Option* option) const {
  const std::string values = option->get_type_size() == 0 ? "" : option->get_type_name();
  const bool repeats = option->get_expected_max() == CLI::detail::expected_max_vector_size;
  return (values.empty() ? "" : ' ' + values) + (repeats ? " ..." : "");
}

std::string HelpFormatter::make_option_desc(const CLI::Option* option) const {
  return wrapped(option->get_description(), width - name_columns);
}

std::string version_text() {
  std::string text = "cuszi " CUSZI_VERSION;
  if (!commit.empty()) text += fmt::format(", commit {}", commit);
  text += fmt::format("\narchive format {}\nSIMD {}\n", format_version, cpu::simd_in_use());
  const auto toolkit = cuda_toolkit();
  text += toolkit ? fmt::format("CUDA {}", *toolkit) : "without CUDA";
  const auto add = [&](const char* library, const std::optional<std::string>& version) {
    if (version) text += fmt::format("\n{} {}", library, *version);
  };
  add("HDF5", container_library(Format::hdf5));
  add("NetCDF", container_library(Format::netcdf));
  add("nvCOMP", nvcomp_version());
  return text;
}

}  // namespace cuszi::app

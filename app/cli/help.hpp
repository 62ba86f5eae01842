#pragma once

#include <CLI/Formatter.hpp>
#include <string>

namespace cuszi::app {

/// Help of at most 100 columns, grouped.
class HelpFormatter final : public CLI::Formatter {
 public:
  HelpFormatter();

  /// Only the first line.
  std::string make_subcommand(const CLI::App* sub) const override;
  std::string make_description(const CLI::App* app) const override;
  std::string make_help(const CLI::App* app, std::string name,
                        CLI::AppFormatMode mode) const override;
  std::string make_option_opts(const CLI::Option* option) const override;
  std::string make_option_desc(const CLI::Option* option) const override;
};

/// Tool, format, libraries and device, in a few lines.
std::string version_text();

}  // namespace cuszi::app

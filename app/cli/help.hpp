#pragma once

#include <CLI/Formatter.hpp>
#include <string>

namespace cuszi::app {

/// Prints help in at most 100 columns, options by their groups.
class HelpFormatter final : public CLI::Formatter {
 public:
  HelpFormatter();

  /// By the first line of what a subcommand says of itself.
  std::string make_subcommand(const CLI::App* sub) const override;
  std::string make_description(const CLI::App* app) const override;
  std::string make_help(const CLI::App* app, std::string name,
                        CLI::AppFormatMode mode) const override;
  /// The text that an option takes.
  std::string make_option_opts(const CLI::Option* option) const override;
  std::string make_option_desc(const CLI::Option* option) const override;
};

}  // namespace cuszi::app

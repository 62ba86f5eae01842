#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

namespace cuszi::app {

/// Where the results of several inputs go: to `output`, a file, or a folder if there are several
/// inputs or if it is one; without it, to the names that the command gives them. "-" is standard
/// input and output.
class OutputPlan {
 public:
  /// Creates the folder. Throws UsageError if so many inputs cannot go there, OutputError if there
  /// can be no such folder.
  OutputPlan(std::vector<std::string> inputs, std::optional<std::string> output);

  /// The path for the result of `input`, whose name without further wishes is `name`. Throws
  /// UsageError if that would overwrite an input or the result of another one.
  std::string claim(const std::string& input, const std::string& name);

 private:
  std::string path_for(const std::string& input, const std::string& name) const;

  std::vector<std::string> inputs_;
  std::optional<std::string> output_;
  bool is_folder_ = false;
  std::set<std::string> claimed_;
};

}  // namespace cuszi::app

#include "app/output_plan.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "codec/byte_source.hpp"
#include "core/error.hpp"

namespace cuszi::app {

namespace {

namespace fs = std::filesystem;

void create_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (!error && fs::is_directory(folder, error)) return;
  throw OutputError(folder.string() + ": cannot be made a folder; several inputs need one as -o");
}

bool same_file(const std::string& a, const std::string& b) {
  std::error_code no_such_file;
  return a == b || fs::equivalent(a, b, no_such_file);
}

}  // namespace

OutputPlan::OutputPlan(std::vector<std::string> inputs, std::optional<std::string> output)
    : inputs_(std::move(inputs)), output_(std::move(output)) {
  const bool several = inputs_.size() > 1;
  if (several && std::any_of(inputs_.begin(), inputs_.end(), is_standard_stream)) {
    throw UsageError("standard input (-) cannot be one of several inputs");
  }
  if (!output_ || is_standard_stream(*output_)) {
    if (!output_ || !several) return;
    throw UsageError("several inputs cannot go to standard output; give a folder as -o");
  }
  if (several) create_folder(*output_);
  std::error_code no_such_file;
  is_folder_ = fs::is_directory(*output_, no_such_file);
}

std::string OutputPlan::claim(const std::string& input, const std::string& name) {
  std::string path = path_for(input, name);
  if (is_standard_stream(path)) return path;
  if (std::any_of(inputs_.begin(), inputs_.end(),
                  [&](const std::string& other) { return same_file(other, path); })) {
    throw UsageError(path + ": is an input, which is never changed; give another -o");
  }
  if (!claimed_.insert(path).second) {
    throw UsageError(path + ": has just been written from another input of the same name");
  }
  return path;
}

std::string OutputPlan::path_for(const std::string& input, const std::string& name) const {
  if (!is_folder_) return output_.value_or(is_standard_stream(input) ? "-" : name);
  if (is_standard_stream(input)) {
    throw UsageError("standard input has no name for a file in the folder " + *output_ +
                     "; give a file as -o");
  }
  return fs::path(*output_) / fs::path(name).filename();
}

}  // namespace cuszi::app

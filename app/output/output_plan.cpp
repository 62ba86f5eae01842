#include "app/output/output_plan.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "codec/files/field_path.hpp"
#include "codec/io/byte_source.hpp"
#include "core/base/error.hpp"

namespace cuszi::app {

namespace {

namespace fs = std::filesystem;

std::optional<FileIdentity> identity_of(const std::string& path, int standard_stream) {
  struct stat status {};
  const int failed =
      is_standard_stream(path) ? ::fstat(standard_stream, &status) : ::stat(path.c_str(), &status);
  if (failed != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  return FileIdentity{status.st_dev, status.st_ino};
}

}  // namespace

std::vector<FileIdentity> identities_of(const std::vector<std::string>& paths) {
  std::vector<FileIdentity> identities;
  for (const std::string& path : paths) {
    if (const auto identity = identity_of(path, STDIN_FILENO)) identities.push_back(*identity);
  }
  return identities;
}

void refuse_among(const std::vector<FileIdentity>& kept, const std::string& output) {
  const auto identity = identity_of(output, STDOUT_FILENO);
  if (!identity || std::find(kept.begin(), kept.end(), *identity) == kept.end()) return;
  throw UsageError(is_standard_stream(output)
                       ? "standard output is also an input; redirect it elsewhere"
                       : output + ": is also an input; give another -o");
}

std::string end_of_links(const std::string& path) {
  constexpr int most_links = 40;
  fs::path place = path;
  std::error_code not_a_link;
  for (int i = 0; i < most_links; ++i) {
    const fs::path target = fs::read_symlink(place, not_a_link);
    if (not_a_link) break;
    place = place.parent_path() / target;
  }
  return place;
}

namespace {

namespace fs = std::filesystem;

void create_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (!error && fs::is_directory(folder, error)) return;
  throw OutputError(folder.string() + ": cannot be created; several inputs need a folder as -o");
}

bool is_folder(const std::string& path) {
  std::error_code no_such_file;
  return fs::is_directory(path, no_such_file);
}

/// An existing folder, or a name without extension.
void require_folder(const std::string& output) {
  if (is_folder(output)) return;
  std::error_code unreadable;
  if (fs::exists(output, unreadable)) {
    throw OutputError(output + ": is not a folder; several inputs need a folder as -o");
  }
  if (output.ends_with('/') || fs::path(output).extension().empty()) return;
  throw UsageError(fmt::format(
      "{}: looks like a file, but several inputs need a folder as -o; use {}/ for a folder", output,
      output));
}

/// Canonical path.
std::string place_of(const std::string& path) {
  std::error_code unreadable;
  const std::string end = end_of_links(path);
  const fs::path place = fs::weakly_canonical(end, unreadable);
  return unreadable ? end : place.string();
}

}  // namespace

OutputPlan::OutputPlan(const std::vector<std::string>& inputs, std::vector<std::string> folders,
                       std::optional<std::string> output, const std::vector<std::string>& others)
    : kept_(identities_of(inputs)), folders_(std::move(folders)), output_(std::move(output)) {
  const std::vector<FileIdentity> more = identities_of(others);
  kept_.insert(kept_.end(), more.begin(), more.end());
  refuse_among(kept_, "-");  // for reports or data
  const bool several = inputs.size() > 1 || !folders_.empty();
  if (several && std::any_of(inputs.begin(), inputs.end(), is_standard_stream)) {
    throw UsageError("standard input (-) cannot be one of several inputs");
  }
  is_stream_ =
      is_standard_stream(output_.value_or(several || inputs.empty() ? "" : inputs.front()));
  if (!output_ || is_standard_stream(*output_)) {
    if (!output_ || !several) return;
    throw UsageError("several inputs cannot go to standard output; give a folder as -o");
  }
  if (several) require_folder(*output_);
  is_folder_ = several || output_->ends_with('/') || is_folder(*output_);
  if (!is_folder_) refuse_among(kept_, *output_);
}

void refuse_foreign_name(const std::string& output, std::string_view what,
                         std::string_view remedy) {
  const bool is_foreign = format_in_name(output) != Format::raw || output.ends_with(".npz") ||
                          output.ends_with(".zarr");
  if (!is_foreign || is_folder(output)) return;
  throw UsageError(
      fmt::format("{}: {}, not a NumPy, NetCDF, HDF5 or Zarr file; {}", output, what, remedy));
}

std::string OutputPlan::claim(const std::string& input, const std::string& name) {
  std::string path = path_for(input, name);
  if (is_standard_stream(path)) return path;
  refuse_among(kept_, path);
  if (!claimed_.insert(place_of(path)).second) {
    throw UsageError(path + ": is the output of two inputs; give different names");
  }
  return path;
}

std::string OutputPlan::path_for(const std::string& input, const std::string& name) const {
  if (!is_folder_) return output_.value_or(is_standard_stream(input) ? "-" : name);
  if (is_standard_stream(input)) {
    throw UsageError("standard input has no file name to use in the folder " + *output_ +
                     "; give a file as -o");
  }
  return fs::path(folder_for(input)) / fs::path(name).filename();
}

void OutputPlan::make_room_for(const std::string& path) const {
  if (is_folder_) create_folder(fs::path(path).parent_path());
}

std::string OutputPlan::folder_for(const std::string& input) const {
  for (const std::string& folder : folders_) {
    const fs::path within = fs::path(input).parent_path().lexically_relative(folder);
    if (!within.empty() && within != "." && *within.begin() != "..") return *output_ / within;
  }
  return *output_;
}

}  // namespace cuszi::app

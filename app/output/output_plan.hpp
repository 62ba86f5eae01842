#pragma once

#include <sys/types.h>

#include <compare>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace cuszi::app {

/// Equal for all names of a file.
struct FileIdentity {
  dev_t device = 0;
  ino_t inode = 0;

  auto operator<=>(const FileIdentity&) const = default;
};

/// Only regular files. Follows links; "-" is standard input.
std::vector<FileIdentity> identities_of(const std::vector<std::string>& paths);

/// Throws UsageError if `output` is among `kept`, the run's inputs; "-" is standard output.
void refuse_among(const std::vector<FileIdentity>& kept, const std::string& output);

/// Target of links, existing or not; of a cycle, any member.
std::string end_of_links(const std::string& path);

/// Output paths. `output` is a file, or a folder if it is one, ends in a slash, or inputs are
/// several; by default, commands name files. Files found in folders keep their relative path. "-"
/// is standard input and output.
class OutputPlan {
 public:
  /// `folders` were searched for inputs; `others` are also read. Throws UsageError if `output` is
  /// an input, or no folder for several inputs; OutputError if a file is in its place.
  OutputPlan(const std::vector<std::string>& inputs, std::vector<std::string> folders,
             std::optional<std::string> output, const std::vector<std::string>& others = {});

  /// `name` is the default. Throws UsageError if the path is read or claimed.
  std::string claim(const std::string& input, const std::string& name);

  /// Creates the folder of a claimed path, if needed. Throws OutputError.
  void make_room_for(const std::string& path) const;

  /// Whether results go to standard output.
  bool is_stream() const { return is_stream_; }

 private:
  std::string path_for(const std::string& input, const std::string& name) const;
  std::string folder_for(const std::string& input) const;

  std::vector<FileIdentity> kept_;
  std::vector<std::string> folders_;
  std::optional<std::string> output_;
  bool is_stream_ = false;
  bool is_folder_ = false;
  std::set<std::string> claimed_;  ///< paths
};

/// Throws UsageError with `remedy` for names of NumPy, NetCDF, HDF5 or Zarr files.
void refuse_foreign_name(const std::string& output, std::string_view what, std::string_view remedy);

}  // namespace cuszi::app

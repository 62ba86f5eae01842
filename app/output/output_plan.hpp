#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "app/output/file_identity.hpp"

namespace cuszi::app {

/// Where the results of several inputs go: to `output`, a file, or a folder if there are several
/// inputs, if it is one or if it ends in a slash; without it, to the names that the command gives
/// them. What was found in a folder goes to the same place within the output folder. "-" is
/// standard input and output.
class OutputPlan {
 public:
  /// Plans where the results of `inputs` go. `folders` are those that inputs were found in,
  /// `others` further files that the run reads. Throws UsageError if several inputs cannot go
  /// there, if the output is a file that is read, or if several would go to a new folder that is
  /// named like a file; OutputError if there is a file in the folder's place.
  OutputPlan(const std::vector<std::string>& inputs, std::vector<std::string> folders,
             std::optional<std::string> output, const std::vector<std::string>& others = {});

  /// The path for the result of `input`, whose name without further wishes is `name`. Throws
  /// UsageError if that would overwrite a file that is read or the result of another input.
  std::string claim(const std::string& input, const std::string& name);

  /// Makes the folder of a path that was claimed, if results go to folders. Throws OutputError.
  void make_room_for(const std::string& path) const;

  /// True if results go to standard output.
  bool is_stream() const { return is_stream_; }

 private:
  std::string path_for(const std::string& input, const std::string& name) const;
  std::string folder_for(const std::string& input) const;

  std::vector<FileIdentity> kept_;
  std::vector<std::string> folders_;
  std::optional<std::string> output_;
  bool is_stream_ = false;
  bool is_folder_ = false;
  std::set<std::string> claimed_;  ///< where results go
};

/// Throws UsageError, with the `remedy`, if the file `output` is named like one of NumPy, NetCDF,
/// HDF5 or Zarr, which `what` is not.
void refuse_foreign_name(const std::string& output, std::string_view what, std::string_view remedy);

}  // namespace cuszi::app

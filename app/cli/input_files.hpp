#pragma once

#include <functional>
#include <string>
#include <vector>

namespace cuszi::app {

/// What a user names as inputs.
struct InputFiles {
  std::vector<std::string> names;  ///< files; folders too if `recursive`
  std::vector<std::string> lists;  ///< files with a name in each line
  bool recursive = false;          ///< takes the files that are in folders
};

/// What was named, and found in folders.
struct FoundFiles {
  std::vector<std::string> files;
  std::vector<std::string> folders;  ///< that files were found in
};

/// What is wanted of a file in a folder: it, nothing, or several parts of it.
using Wanted = std::function<std::vector<std::string>(const std::string& file)>;

/// The files in their order, those of a folder sorted by name. Of a folder's files only what is
/// `wanted`, and none that are hidden. Throws InputError if a list or folder cannot be read or
/// has none, UsageError if there are no files at all.
FoundFiles files_of(const InputFiles& inputs, const Wanted& wanted);

}  // namespace cuszi::app

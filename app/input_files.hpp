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

/// The files in their order, those of a folder sorted by name. Of a folder's files only those that
/// are `wanted`, and none that are hidden. Throws InputError if a list or folder cannot be read or
/// has none, UsageError if there are no files at all.
FoundFiles files_of(const InputFiles& inputs,
                    const std::function<bool(const std::string&)>& wanted);

}  // namespace cuszi::app

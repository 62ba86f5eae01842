#pragma once

#include <functional>
#include <string>
#include <vector>

namespace cuszi::app {

struct InputFiles {
  std::vector<std::string> names;  ///< folders only if `recursive`
  std::vector<std::string> lists;  ///< one name per line
  bool recursive = false;          ///< search folders
};

struct FoundFiles {
  std::vector<std::string> files;
  std::vector<std::string> folders;  ///< with files
};

/// What to take of a file in a folder.
using Wanted = std::function<std::vector<std::string>(const std::string& file)>;

/// In the given order, those of a folder by name, without hidden or unwanted ones. Throws
/// InputError for unreadable or empty lists and folders, UsageError without files.
FoundFiles files_of(const InputFiles& inputs, const Wanted& wanted);

}  // namespace cuszi::app

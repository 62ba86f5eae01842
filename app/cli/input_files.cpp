#include "app/cli/input_files.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string_view>
#include <utility>

#include "codec/io/byte_source.hpp"
#include "core/base/error.hpp"

namespace cuszi::app {

namespace {

namespace fs = std::filesystem;

void add_lines(const std::string& list, std::istream& from, std::vector<std::string>& names) {
  constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
  bool is_first = true;
  for (std::string line; std::getline(from, line);) {
    if (std::exchange(is_first, false)) {
      if (line.starts_with("\xFF\xFE") || line.starts_with("\xFE\xFF")) {
        throw InputError(
            input_name(list) +
            ": is UTF-16; a list of files must be UTF-8 or contain the bytes of the names");
      }
      if (line.starts_with(byte_order_mark)) line.erase(0, byte_order_mark.size());
    }
    if (!line.empty() && line.back() == '\r') line.pop_back();
    if (!line.empty()) names.push_back(line);
  }
  if (from.bad()) throw InputError(input_name(list) + ": cannot be read to its end");
}

void add_list(const std::string& list, std::vector<std::string>& names) {
  if (is_standard_stream(list)) {
    add_lines(list, std::cin, names);
    return;
  }
  std::ifstream file(list);
  if (!file || fs::is_directory(list))
    throw InputError(list + ": cannot be read as a list of files");
  add_lines(list, file, names);
}

bool is_hidden(const fs::path& path) { return path.filename().string().starts_with('.'); }

void add_folder(const std::string& folder, const Wanted& wanted, std::vector<std::string>& files) {
  std::vector<std::string> found;
  try {
    for (auto at = fs::recursive_directory_iterator(folder); at != fs::end(at); ++at) {
      if (at->is_directory()) {
        if (is_hidden(at->path())) at.disable_recursion_pending();
      } else if (!is_hidden(at->path())) {
        found.push_back(at->path().string());
      }
    }
  } catch (const fs::filesystem_error& error) {
    throw InputError(folder + ": cannot be read: " + error.code().message());
  }
  std::sort(found.begin(), found.end());
  const std::size_t before = files.size();
  for (const std::string& file : found) {
    const std::vector<std::string> parts = wanted(file);
    files.insert(files.end(), parts.begin(), parts.end());
  }
  if (files.size() == before) throw InputError(folder + ": contains no matching file");
}

}  // namespace

FoundFiles files_of(const InputFiles& inputs, const Wanted& wanted) {
  std::vector<std::string> names = inputs.names;
  for (const std::string& list : inputs.lists) add_list(list, names);
  if (names.empty()) throw UsageError("no input; give files or --filelist");
  FoundFiles found;
  std::error_code unreadable;
  for (const std::string& name : names) {
    if (inputs.recursive && fs::is_directory(name, unreadable)) {
      add_folder(name, wanted, found.files);
      found.folders.push_back(name);
    } else {
      found.files.push_back(name);
    }
  }
  return found;
}

}  // namespace cuszi::app

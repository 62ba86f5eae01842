#pragma once

#include <sys/types.h>

#include <compare>
#include <optional>
#include <string>
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

}  // namespace cuszi::app

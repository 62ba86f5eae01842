#pragma once

#include <sys/types.h>

#include <compare>
#include <optional>
#include <string>
#include <vector>

namespace cuszi::app {

/// Which file a name stands for: the same for all names of one.
struct FileIdentity {
  dev_t device = 0;
  ino_t inode = 0;

  auto operator<=>(const FileIdentity&) const = default;
};

/// The identities of the regular files among `paths`. Links are followed; "-" is standard input.
std::vector<FileIdentity> identities_of(const std::vector<std::string>& paths);

/// Throws UsageError if the regular file that `output` is ("-" for standard output) is among
/// `kept`: files that the run reads.
void refuse_among(const std::vector<FileIdentity>& kept, const std::string& output);

/// Where the links at `path` lead, even if there is nothing yet. Of a circle, a part of it.
std::string end_of_links(const std::string& path);

}  // namespace cuszi::app

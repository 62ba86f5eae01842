#include "app/output/file_identity.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

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

}  // namespace cuszi::app

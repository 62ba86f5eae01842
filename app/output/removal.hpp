#pragma once

#include <string>

#include "app/cli/options.hpp"
#include "codec/io/file_descriptor.hpp"

namespace cuszi::app {

/// Throws UsageError unless archives can replace the inputs: regular files with one name, archived
/// in regular files with a bound. Ignores unreadable inputs.
void require_removable_inputs(const CompressOptions& options);

/// Throws UsageError if the output cannot be read again.
void require_lasting_output(const std::string& output);

/// Name and folder of an input to remove.
class RemovableInput {
 public:
  /// Call before opening the input. Throws InputError if its folder cannot be opened.
  explicit RemovableInput(const std::string& path);

  /// Throws InputError if the name no longer belongs to `file`, OutputError on failure.
  void remove(int file) const;

 private:
  std::string path_;
  std::string name_;
  FileDescriptor folder_;
};

}  // namespace cuszi::app

#pragma once

#include <string>

#include "app/cli/options.hpp"
#include "codec/io/file_descriptor.hpp"

namespace cuszi::app {

/// Throws UsageError unless archives made with these options can be all that is left of the inputs:
/// regular files of one name that archives in other regular files hold with a bound. Looks at no
/// values. Inputs that cannot be opened are left to who opens them.
void require_removable_inputs(const CompressOptions& options);

/// Throws UsageError if the result at `output` could not be read again, like that in a pipe.
void require_lasting_output(const std::string& output);

/// The name of an input that is to be removed, in the folder that has it now.
class RemovableInput {
 public:
  /// Before the input is opened. Throws InputError if its folder cannot be opened.
  explicit RemovableInput(const std::string& path);

  /// Removes the name if `file`, the input as it was opened, still has it. Throws InputError if it
  /// has not, OutputError if that cannot be done.
  void remove(int file) const;

 private:
  std::string path_;
  std::string name_;
  FileDescriptor folder_;
};

}  // namespace cuszi::app

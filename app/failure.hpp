#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "app/exit_code.hpp"
#include "codec/byte_source.hpp"

namespace cuszi::app {

/// To be called where an exception is being handled: tells it in one line on stderr, naming
/// `subject` (a file) unless the message does so itself or there is none. Returns the exit code
/// that the exception stands for.
ExitCode tell_failure(std::string_view subject) noexcept;

/// Tells the user, even if all is to be quiet, that the result is not what was asked for.
void tell_warning(std::string_view line) noexcept;

/// Does `work` for every file, goes on after a failure, which is told, and returns the first
/// failure's code.
template <class Work>
ExitCode for_each_file(const std::vector<std::string>& files, const Work& work) {
  ExitCode result = ExitCode::ok;
  for (const std::string& file : files) {
    try {
      work(file);
    } catch (...) {
      const ExitCode code = tell_failure(input_name(file));
      if (result == ExitCode::ok) result = code;
    }
  }
  return result;
}

}  // namespace cuszi::app

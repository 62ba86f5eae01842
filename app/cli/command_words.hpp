#pragma once

#include <span>
#include <string>
#include <vector>

namespace cuszi::app {

/// The words of a command line, from the program's name on.
using Words = std::vector<std::string>;

/// The words as a user would type them, quoted where a shell needs that.
std::string typed(std::span<const std::string> words);

/// What `cuszi help COMMAND` and `cuszi help` stand for: the same with --help.
Words without_help_command(Words words);

/// Throws UsageError, with the command that was meant, if options stand in front of one of
/// `commands` or another word, such as a file, where one should.
void refuse_misplaced_command(const Words& words, const std::vector<std::string>& commands);

}  // namespace cuszi::app

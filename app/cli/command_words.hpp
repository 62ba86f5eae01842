#pragma once

#include <span>
#include <string>
#include <vector>

namespace cuszi::app {

/// argv, including the program's name.
using Words = std::vector<std::string>;

/// Joined, with shell quotes where needed.
std::string typed(std::span<const std::string> words);

/// Turns `cuszi help [COMMAND]` into --help.
Words without_help_command(Words words);

/// Throws UsageError with the corrected command if a word precedes one of `commands`.
void refuse_misplaced_command(const Words& words, const std::vector<std::string>& commands);

}  // namespace cuszi::app

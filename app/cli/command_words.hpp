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

/// Throws UsageError with our option for bounds and dims in other compressors' syntax: -rel 1e-3,
/// -M REL 1e-3, -A 0.1, -psnr 80, -3 500 500 100, -l 500x500x100.
void refuse_foreign_options(const Words& words);

}  // namespace cuszi::app

#include "app/cli/command_words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string_view>

#include "core/base/error.hpp"

namespace cuszi::app {

namespace {

/// Quotes a word for a shell.
std::string quoted(const std::string& word) {
  constexpr std::string_view plain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+./:=,@%";
  if (!word.empty() && word.find_first_not_of(plain) == std::string::npos) return word;
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? "'\\''" : std::string(1, c);
  return text + '\'';
}

bool is_file(const std::string& word) {
  std::error_code unreadable;
  return std::filesystem::exists(word, unreadable);
}

}  // namespace

std::string typed(std::span<const std::string> words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + quoted(word);
  return text;
}

Words without_help_command(Words words) {
  if (words.size() < 2 || words[1] != "help") return words;
  words.erase(words.begin() + 1);
  words.resize(std::min<std::size_t>(words.size(), 2));
  words.emplace_back("--help");
  return words;
}

void refuse_misplaced_command(const Words& words, const std::vector<std::string>& commands) {
  if (words.size() < 2) return;
  const auto is_command = [&](const std::string& word) {
    return std::find(commands.begin(), commands.end(), word) != commands.end();
  };
  const std::string& first = words[1];
  if (is_command(first) || first == "-h" || first == "--help") return;
  const auto command = std::find_if(words.begin() + 2, words.end(), is_command);
  if (command != words.end()) {
    Words meant{"cuszi", *command};
    meant.insert(meant.end(), words.begin() + 1, command);
    meant.insert(meant.end(), command + 1, words.end());
    throw UsageError(fmt::format("the command must precede options and files: {}", typed(meant)));
  }
  if (first[0] == '-') return;
  if (!is_file(first)) {
    throw UsageError(fmt::format("unknown command '{}'; see cuszi --help", first));
  }
  Words meant{"cuszi", first.ends_with(".cuszi") ? "decompress" : "compress"};
  meant.insert(meant.end(), words.begin() + 1, words.end());
  throw UsageError(
      fmt::format("no command before the file '{}'; did you mean: {}", first, typed(meant)));
}

}  // namespace cuszi::app

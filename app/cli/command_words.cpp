#include "app/cli/command_words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
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

/// An option of other compressors, and ours with {} in place of its values.
struct ForeignOption {
  std::string_view word;
  std::string_view ours;
  std::size_t values = 1;  ///< joined as dims
};

constexpr std::string_view relative = "--mode rel --error-bound {}";
constexpr std::string_view absolute = "--mode abs --error-bound {}";
constexpr std::string_view extents = "--dims-xyz {}, fastest first";
constexpr ForeignOption foreign_options[] = {{"-rel", relative},
                                             {"-r2r", relative},
                                             {"-vr_rel", relative},
                                             {"-R", relative},
                                             {"-abs", absolute},
                                             {"-A", absolute},
                                             {"-a", absolute},
                                             {"-pw_rel", "--mode pwrel --error-bound {}"},
                                             {"-M", "--mode MODE --error-bound BOUND", 0},
                                             {"-eb", "--error-bound {}"},
                                             {"-err", "--error-bound {}"},
                                             {"-tol", "--error-bound {}"},
                                             {"-tolerance", "--error-bound {}"},
                                             {"-psnr", "--target psnr:{}"},
                                             {"-l", extents},
                                             {"-1", extents},
                                             {"-2", extents, 2},
                                             {"-3", extents, 3},
                                             {"-4", extents, 4}};

/// A number, or dims.
bool is_value(std::string_view text) {
  return text.find_first_of("0123456789") != std::string_view::npos &&
         text.find_first_not_of("0123456789+-.,eEx") == std::string_view::npos;
}

/// "-rel" for --rel and -REL; single letters keep their case.
std::string plain(std::string_view word) {
  std::string text(word.substr(word.starts_with("--") ? 1 : 0));
  if (text.size() > 2) {
    std::ranges::transform(text, text.begin(),
                           [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  }
  return text;
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

void refuse_foreign_options(const Words& words) {
  for (std::size_t i = 2; i < words.size() && words[i] != "--"; ++i) {
    const std::size_t equals = words[i].find('=');
    const auto* const found =
        std::ranges::find(foreign_options, plain(words[i].substr(0, equals)), &ForeignOption::word);
    if (found == std::end(foreign_options)) continue;
    Words values;
    if (equals != std::string::npos) values = {words[i].substr(equals + 1)};
    while (equals == std::string::npos && values.size() < found->values &&
           i + values.size() + 1 < words.size()) {
      values.push_back(words[i + values.size() + 1]);
    }
    if (values.size() != found->values || !std::ranges::all_of(values, is_value)) continue;
    std::string text = fmt::format("{}", fmt::join(values, "x"));
    std::ranges::replace(text, ',', 'x');
    throw UsageError(fmt::format("'{}' is the syntax of other compressors; use {}", words[i],
                                 fmt::format(fmt::runtime(found->ours), text)));
  }
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

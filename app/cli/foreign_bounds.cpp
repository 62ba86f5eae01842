#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <string>
#include <string_view>

#include "app/cli/command_words.hpp"
#include "core/base/error.hpp"

namespace cuszi::app {

namespace {

/// Meaning of a word that a value follows.
struct ForeignOption {
  std::string_view word;
  std::string_view mode;    ///< of the bound; empty: default
  std::string_view target;  ///< replaces a bound
};

constexpr std::array<ForeignOption, 16> foreign_options{{{"-rel", "rel", {}},
                                                         {"-abs", "abs", {}},
                                                         {"-r2r", "rel", {}},
                                                         {"-vr_rel", "rel", {}},
                                                         {"-pw_rel", "pwrel", {}},
                                                         {"-m pw_rel", "pwrel", {}},
                                                         {"-m rel", "rel", {}},
                                                         {"-m abs", "abs", {}},
                                                         {"-A", "abs", {}},
                                                         {"-a", "abs", {}},
                                                         {"-R", "rel", {}},
                                                         {"-eb", {}, {}},
                                                         {"-err", {}, {}},
                                                         {"-tol", {}, {}},
                                                         {"-tolerance", {}, {}},
                                                         {"-psnr", {}, "psnr:"}}};

struct Found {
  std::size_t first;
  std::size_t count;
  Words meant;
};

bool is_number(std::string_view text) {
  return !text.empty() && text.find_first_of("0123456789") != std::string_view::npos &&
         text.find_first_not_of("0123456789+-.eE") == std::string_view::npos;
}

/// "-rel" for --rel and -REL; single letters keep their case.
std::string plain(std::string_view word) {
  std::string text(word.substr(word.starts_with("--") ? 1 : 0));
  if (text.size() > 2) {
    std::transform(text.begin(), text.end(), text.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  }
  return text;
}

std::optional<Words> meant_by(std::string_view word, const std::string& value) {
  const std::string text = plain(word);
  const auto* const found =
      std::find_if(foreign_options.begin(), foreign_options.end(),
                   [&](const ForeignOption& option) { return option.word == text; });
  if (found == foreign_options.end() || !is_number(value)) return std::nullopt;
  if (!found->target.empty()) return Words{"--target", std::string(found->target) + value};
  if (found->mode.empty()) return Words{"--error-bound", value};
  return Words{"--mode", std::string(found->mode), "--error-bound", value};
}

/// "-rel 1e-3", "-rel=1e-3", "-M REL 1e-3" or "-M REL -R 1e-3".
std::optional<Found> found_at(const Words& words, std::size_t i) {
  const std::string& word = words[i];
  const std::size_t equals = word.find('=');
  if (equals != std::string::npos) {
    auto meant = meant_by(word.substr(0, equals), word.substr(equals + 1));
    if (meant) return Found{i, 1, std::move(*meant)};
  }
  if (i + 1 < words.size()) {
    if (auto meant = meant_by(word, words[i + 1])) return Found{i, 2, std::move(*meant)};
  }
  if (word != "-M" || i + 2 >= words.size()) return std::nullopt;
  if (auto meant = meant_by(word + ' ' + words[i + 1], words[i + 2])) {
    return Found{i, 3, std::move(*meant)};
  }
  auto last = found_at(words, i + 2);  // -M ABS -A 0.1
  if (last) last = Found{i, last->count + 2, std::move(last->meant)};
  return last;
}

}  // namespace

void refuse_foreign_bounds(const Words& words) {
  constexpr std::array<std::string_view, 3> commands{"compress", "compare", "bench"};
  if (words.size() < 2 || std::find(commands.begin(), commands.end(), words[1]) == commands.end()) {
    return;
  }
  for (std::size_t i = 2; i < words.size() && words[i] != "--"; ++i) {
    const auto found = found_at(words, i);
    if (!found) continue;
    const auto first = words.begin() + static_cast<std::ptrdiff_t>(found->first);
    const auto end = first + static_cast<std::ptrdiff_t>(found->count);
    Words meant(words.begin(), first);
    meant.front() = "cuszi";
    meant.insert(meant.end(), found->meant.begin(), found->meant.end());
    meant.insert(meant.end(), end, words.end());
    throw UsageError(fmt::format("'{}' is the bound syntax of other compressors; use: {}",
                                 typed(Words(first, end)), typed(meant)));
  }
}

}  // namespace cuszi::app

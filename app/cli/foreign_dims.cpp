#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "app/cli/command_words.hpp"
#include "core/base/dims.hpp"
#include "core/base/error.hpp"

namespace cuszi::app {

namespace {

struct ForeignDims {
  std::size_t first;  ///< first word
  std::size_t count;
  std::string program;
  Dims dims;  ///< slowest first
};

std::optional<Dims> dims_in(std::string text) {
  std::replace(text.begin(), text.end(), ',', 'x');
  try {
    return Dims::parse(text);
  } catch (const UsageError&) {
    return std::nullopt;
  }
}

/// "-3 500 500 100"
std::optional<ForeignDims> dims_of_sz(const Words& words, std::size_t i) {
  const std::string& option = words[i];
  if (option.size() != 2 || option[0] != '-' || option[1] < '1' || option[1] > '4') return {};
  const auto rank = static_cast<std::size_t>(option[1] - '0');
  if (i + rank >= words.size()) return {};
  std::string text;
  for (std::size_t k = 1; k <= rank; ++k) text += (k == 1 ? "" : "x") + words[i + k];
  const auto dims = dims_in(text);
  if (!dims || static_cast<std::size_t>(dims->rank()) != rank) return {};
  return ForeignDims{i, rank + 1, "SZ", reversed(*dims)};
}

/// "-l 500x500x100", also with commas.
std::optional<ForeignDims> dims_of_cusz(const Words& words, std::size_t i) {
  if (words[i] != "-l" || i + 1 == words.size()) return {};
  const auto dims = dims_in(words[i + 1]);
  if (!dims) return {};
  return ForeignDims{i, 2, "cuSZ", reversed(*dims)};
}

}  // namespace

Dims reversed(const Dims& dims) {
  const std::vector<std::uint64_t> extents(dims.extents().rbegin(), dims.extents().rend());
  return Dims::make(extents).value();
}

void refuse_foreign_dims(const Words& words) {
  for (std::size_t i = 1; i < words.size(); ++i) {
    auto found = dims_of_sz(words, i);
    if (!found) found = dims_of_cusz(words, i);
    if (!found) continue;
    const auto first = words.begin() + static_cast<std::ptrdiff_t>(found->first);
    const auto end = first + static_cast<std::ptrdiff_t>(found->count);
    Words meant(words.begin(), first);
    meant.front() = "cuszi";
    meant.insert(meant.end(), {"--dims", found->dims.to_string()});
    meant.insert(meant.end(), end, words.end());
    throw UsageError(fmt::format(
        "'{}' is the dims syntax of {}, fastest first; cuszi takes them slowest first: {}",
        typed(Words(first, end)), found->program, typed(meant)));
  }
}

}  // namespace cuszi::app

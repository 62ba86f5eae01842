#include "codec/field/field_name.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <span>
#include <string_view>
#include <vector>

#include "codec/io/byte_source.hpp"
#include "core/base/error.hpp"

namespace cuszi {

namespace {

namespace fs = std::filesystem;

/// Further endings than the names of types.
constexpr std::array<std::string_view, 4> other_endings{".d64", ".dat", ".bin", ".raw"};

struct Ending {
  std::size_t size;  ///< with its dot
  std::optional<DType> dtype;
};

// ASCII in any locale.
constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }
constexpr bool is_letter(char c) { return lower(c) >= 'a' && lower(c) <= 'z'; }

std::optional<Ending> ending_of(std::string_view name) {
  for (const std::string_view ending : other_endings) {
    const auto dtype = ending == ".d64" ? std::optional(DType::f64) : std::nullopt;
    if (ends_with(name, ending)) return Ending{ending.size(), dtype};
  }
  for (std::size_t i = 0; i < dtype_table.size(); ++i) {
    const auto ending = fmt::format(".{}", dtype_table[i].name);
    if (ends_with(name, ending)) return Ending{ending.size(), static_cast<DType>(i)};
  }
  return std::nullopt;
}

std::string_view without_ending(std::string_view name) {
  if (const auto ending = ending_of(name)) name.remove_suffix(ending->size);
  return name;
}

struct Word {
  std::string_view text;
  char before;  ///< 0 at the start
};

std::vector<Word> words_of(std::string_view name) {
  std::vector<Word> words;
  for (std::size_t at = 0; at < name.size();) {
    std::size_t end = at;
    while (end < name.size() && (is_digit(name[end]) || is_letter(name[end]))) ++end;
    if (end > at) words.push_back({name.substr(at, end - at), at == 0 ? '\0' : name[at - 1]});
    at = std::max(end, at + 1);
  }
  return words;
}

std::optional<std::uint64_t> number_in(std::string_view word) {
  std::uint64_t number = 0;
  const char* const end = word.data() + word.size();
  const auto [next, status] = std::from_chars(word.data(), end, number);
  if (status != std::errc{} || next != end) return std::nullopt;
  return number;
}

/// Two or more extents joined by "x" at a word's end.
std::optional<Dims> dims_in_word(std::string_view word) {
  word.remove_prefix(std::min(word.find_first_of("0123456789"), word.size()));
  std::vector<std::uint64_t> extents;
  while (true) {
    const std::size_t cross = word.find_first_of("xX");
    const auto extent = number_in(word.substr(0, cross));
    if (!extent) return std::nullopt;
    extents.push_back(*extent);
    if (cross == std::string_view::npos) break;
    word.remove_prefix(cross + 1);
  }
  return extents.size() > 1 ? Dims::make(extents) : std::nullopt;
}

/// Last first.
std::vector<Dims> crossed_dims(std::string_view name) {
  std::vector<Dims> found;
  for (const Word& word : words_of(name)) {
    if (const auto dims = dims_in_word(word.text)) found.insert(found.begin(), *dims);
  }
  return found;
}

/// Grouped by underscores and hyphens.
std::vector<std::vector<std::uint64_t>> joined_numbers(std::string_view name) {
  std::vector<std::vector<std::uint64_t>> runs;
  bool goes_on = false;
  for (const Word& word : words_of(name)) {
    const auto number = number_in(word.text);
    const bool joined = word.before == '_' || word.before == '-';
    if (number && !(goes_on && joined)) runs.emplace_back();
    if (number) runs.back().push_back(*number);
    goes_on = number.has_value();
  }
  return runs;
}

/// The longest run, last first, whose product is `values`.
std::optional<Dims> dims_of_product(std::span<const std::uint64_t> numbers, std::uint64_t values) {
  for (std::size_t rank = std::min<std::size_t>(numbers.size(), Dims::max_rank); rank > 0; --rank) {
    for (std::size_t end = numbers.size(); end >= rank; --end) {
      const auto dims = Dims::make(numbers.subspan(end - rank, rank));
      if (dims && dims->count() == values) return dims;
    }
  }
  return std::nullopt;
}

std::optional<Dims> with_product(const std::vector<Dims>& claims, std::uint64_t values) {
  const auto found = std::find_if(claims.begin(), claims.end(),
                                  [&](const Dims& dims) { return dims.count() == values; });
  return found == claims.end() ? std::nullopt : std::optional(*found);
}

std::optional<Dims> dims_in_file_name(const std::string& path,
                                      std::optional<std::uint64_t> values) {
  const std::string file = fs::path(path).filename();
  const std::vector<Dims> claims = crossed_dims(without_ending(file));
  if (values) {
    if (const auto dims = with_product(claims, *values)) return dims;
  }
  if (!claims.empty()) return claims.front();
  if (!values) return std::nullopt;
  for (const auto& numbers : joined_numbers(without_ending(file))) {
    if (const auto dims = dims_of_product(numbers, *values)) return dims;
  }
  return std::nullopt;
}

/// Nearest first.
std::vector<Dims> folder_claims(const std::string& path) {
  std::error_code no_working_folder;
  const fs::path whole = fs::absolute(path, no_working_folder);
  fs::path folder = (whole.empty() ? fs::path(path) : whole).lexically_normal().parent_path();
  std::vector<Dims> claims;
  for (; folder.has_filename(); folder = folder.parent_path()) {
    const std::vector<Dims> more = crossed_dims(folder.filename().string());
    claims.insert(claims.end(), more.begin(), more.end());
  }
  return claims;
}

DType dtype_for(const std::string& path, const FieldOptions& options) {
  if (options.dtype) return *options.dtype;
  if (const auto dtype = dtype_in_name(path)) return *dtype;
  throw UsageError(input_name(path) + ": no type in the file name; give --type, like f32 or u16");
}

[[noreturn]] void refuse_without_dims(const std::string& path,
                                      std::optional<std::uint64_t> values) {
  std::string known = values ? fmt::format("the file has {} values", *values) : "";
  const std::vector<Dims> claims = folder_claims(path);
  if (values && !claims.empty()) {
    known += fmt::format("; {} in a folder's name gives {}", claims.front().to_string(),
                         claims.front().count());
  }
  throw UsageError(fmt::format("{}: no dims in the file name{}; give --dims, slowest first",
                               input_name(path), known.empty() ? "" : " (" + known + ')'));
}

}  // namespace

bool ends_with(std::string_view name, std::string_view ending) {
  return name.size() > ending.size() && std::equal(ending.rbegin(), ending.rend(), name.rbegin(),
                                                   [](char a, char b) { return a == lower(b); });
}

bool is_field_name(const std::string& path) {
  const std::string file = fs::path(path).filename();
  return ending_of(file).has_value() && file.find(".restored.") == std::string::npos;
}

std::optional<DType> dtype_in_name(const std::string& path) {
  const std::string file = fs::path(path).filename();
  std::string_view name = file;
  while (const auto ending = ending_of(name)) {
    if (ending->dtype) return ending->dtype;
    name.remove_suffix(ending->size);
  }
  return std::nullopt;
}

std::optional<Dims> dims_in_name(const std::string& path, std::optional<std::uint64_t> values) {
  if (const auto dims = dims_in_file_name(path, values)) return dims;
  return values ? with_product(folder_claims(path), *values) : std::nullopt;
}

FieldLayout layout_of(const std::string& path, const FieldOptions& options,
                      std::optional<ByteCount> file_bytes) {
  FieldLayout layout;
  layout.skip_bytes = options.skip_bytes.value_or(0);
  layout.byte_order = options.byte_order;
  layout.dtype = dtype_for(path, options);
  if (options.dims) {
    layout.dims = *options.dims;
    layout.may_go_on = options.skip_bytes.has_value();
    return layout;
  }
  std::optional<std::uint64_t> values;
  if (file_bytes) {
    values = (*file_bytes - std::min(*file_bytes, layout.skip_bytes)) / size_of(layout.dtype);
  }
  const auto dims = dims_in_name(path, values);
  if (!dims) refuse_without_dims(path, values);
  layout.dims = *dims;
  return layout;
}

std::string field_stem(const std::string& archive_path) {
  constexpr std::string_view archive_ending = ".cuszi";
  std::string_view stem = archive_path;
  if (stem.ends_with(archive_ending)) stem.remove_suffix(archive_ending.size());
  return std::string(without_ending(stem));
}

}  // namespace cuszi

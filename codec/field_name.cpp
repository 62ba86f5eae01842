#include "codec/field_name.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <string_view>
#include <vector>

#include "codec/byte_source.hpp"
#include "core/error.hpp"

namespace cuszi {

namespace {

struct Ending {
  std::string_view text;
  std::optional<DType> dtype;
};

constexpr std::array<Ending, 6> endings{{{".f32", DType::f32},
                                         {".f64", DType::f64},
                                         {".d64", DType::f64},
                                         {".dat", std::nullopt},
                                         {".bin", std::nullopt},
                                         {".raw", std::nullopt}}};

const Ending* ending_of(std::string_view name) {
  const auto* const found = std::find_if(endings.begin(), endings.end(), [&](const Ending& ending) {
    return name.size() > ending.text.size() && name.ends_with(ending.text);
  });
  return found == endings.end() ? nullptr : found;
}

std::string_view without_ending(std::string_view name) {
  if (const Ending* ending = ending_of(name)) name.remove_suffix(ending->text.size());
  return name;
}

/// The numbers that end a name, joined with `separator`, in their order.
std::vector<std::uint64_t> trailing_numbers(std::string_view name, char separator) {
  std::vector<std::uint64_t> numbers;
  while (true) {
    const std::size_t text = name.find_last_not_of("0123456789");
    const std::size_t first = text == std::string_view::npos ? 0 : text + 1;
    std::uint64_t number = 0;
    const char* const end = name.data() + name.size();
    const auto [next, status] = std::from_chars(name.data() + first, end, number);
    const char before = first == 0 ? '_' : name[first - 1];
    const bool apart = before == separator || before == '_' || before == '-' || before == '.';
    if (status != std::errc{} || !apart) break;
    numbers.insert(numbers.begin(), number);
    if (first == 0 || before != separator) break;
    name = name.substr(0, first - 1);
  }
  return numbers;
}

/// The most of the numbers, from the last one on, whose product is `values`.
std::optional<Dims> dims_of_product(std::span<const std::uint64_t> numbers, std::uint64_t values) {
  for (std::size_t rank = std::min<std::size_t>(numbers.size(), Dims::max_rank); rank > 0; --rank) {
    const auto dims = Dims::make(numbers.last(rank));
    if (dims && dims->count() == values) return dims;
  }
  return std::nullopt;
}

DType dtype_for(const std::string& path, const FieldOptions& options) {
  if (options.dtype) return *options.dtype;
  if (const auto dtype = dtype_in_name(path)) return *dtype;
  throw UsageError(input_name(path) + ": its name does not say its type; give --type f32 or f64");
}

}  // namespace

std::optional<DType> dtype_in_name(const std::string& path) {
  const Ending* const ending = ending_of(path);
  return ending == nullptr ? std::nullopt : ending->dtype;
}

std::optional<Dims> dims_in_name(const std::string& path, std::optional<std::uint64_t> values) {
  const std::string file = std::filesystem::path(path).filename();
  const std::string_view stem = without_ending(file);
  const auto crossed = trailing_numbers(stem, 'x');
  if (crossed.size() > 1) return Dims::make(crossed);
  if (!values) return std::nullopt;
  return dims_of_product(trailing_numbers(stem, '_'), *values);
}

FieldLayout layout_of(const std::string& path, const FieldOptions& options,
                      std::optional<ByteCount> file_bytes) {
  FieldLayout layout;
  layout.skip_bytes = options.skip_bytes;
  layout.byte_order = options.byte_order;
  layout.dtype = dtype_for(path, options);
  if (options.dims) {
    layout.dims = *options.dims;
    return layout;
  }
  std::optional<std::uint64_t> values;
  if (file_bytes) {
    values = (*file_bytes - std::min(*file_bytes, layout.skip_bytes)) / size_of(layout.dtype);
  }
  const auto dims = dims_in_name(path, values);
  if (!dims) {
    throw UsageError(fmt::format("{}: its name does not say its dims{}; give --dims, slowest first",
                                 input_name(path),
                                 values ? fmt::format(" (it holds {} values)", *values) : ""));
  }
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

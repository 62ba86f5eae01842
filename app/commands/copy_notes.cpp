#include "app/commands/copy_notes.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ctime>

#include "codec/settings/limits.hpp"
#include "codec/settings/option_table.hpp"
#include "codec/settings/option_text.hpp"

namespace cuszi::app {

namespace {

using Value = decltype(NotedAttribute::value);

std::string preset_name(std::uint32_t preset) {
  std::string_view names = find_option("preset").info.values;
  for (; preset != 0; --preset) cut(names, '|');
  return std::string(cut(names, '|'));
}

/// The name that --mode has for it.
std::string mode_name(ValueBound::Kind kind) {
  constexpr ErrorMode modes[] = {ErrorMode::absolute, ErrorMode::pointwise,
                                 ErrorMode::absolute_or_pointwise,
                                 ErrorMode::absolute_and_pointwise};
  return std::string(name_of(modes[static_cast<std::size_t>(kind)]));
}

/// In the order of --bound.
std::vector<double> numbers_of(const ValueBound& bound) {
  switch (bound.kind) {
    case ValueBound::Kind::absolute: return {bound.bound};
    case ValueBound::Kind::share: return {bound.share};
    default: return {bound.bound, bound.share};
  }
}

Value if_finite(double number) {
  return std::isfinite(number) ? Value(std::vector{number}) : Value();
}

}  // namespace

bool is_lossy(const ValueBound& bound) {
  const std::vector<double> numbers = numbers_of(bound);
  return std::any_of(numbers.begin(), numbers.end(), [](double each) { return each != 0; });
}

NotedVariable notes_on(const FilteredVariable& filtered,
                       const std::optional<MeasuredQuality>& measured) {
  const ValueBound& bound = filtered.bound;
  const std::string version =
      fmt::format("cuszi {}, preset {}", CUSZI_VERSION, preset_name(filtered.preset));
  const Value error = measured ? if_finite(measured->quality.max_error) : Value();
  const Value share =
      measured && bound.goes_with_values() ? if_finite(measured->quality.max_share) : Value();
  return {filtered.variable.name,
          {{"lossy_compression_algorithm", "cuszi"},
           {"lossy_compression_implementation", version},
           {"lossy_compression_mode", mode_name(bound.kind)},
           {"lossy_compression_bound", numbers_of(bound)},
           {"lossy_compression_maximum_absolute_error", error},
           {"lossy_compression_maximum_relative_error", share}}};
}

NotedVariable no_notes_on(const FilteredVariable& filtered) {
  NotedVariable notes = notes_on(filtered, {});
  for (NotedAttribute& attribute : notes.attributes) attribute.value = {};
  return notes;
}

std::string history_line(const std::string& command) {
  std::string line =
      fmt::format("{:%Y-%m-%dT%H:%M:%SZ}: {}", fmt::gmtime(std::time(nullptr)), command);
  std::replace_if(
      line.begin(), line.end(), [](unsigned char c) { return c < ' '; }, '?');
  return line;
}

}  // namespace cuszi::app

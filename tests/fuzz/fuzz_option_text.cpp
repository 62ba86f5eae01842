#include <cstdint>
#include <stdexcept>
#include <string_view>

#include "app/cli/option_groups.hpp"
#include "codec/settings/option_table.hpp"
#include "codec/settings/settings.hpp"
#include "core/base/dims.hpp"
#include "core/base/error.hpp"

namespace {

using namespace cuszi;

constexpr std::string_view label = "--option";

void require(bool kept, const char* promise) {
  if (!kept) throw std::logic_error(promise);
}

void parse_dims(std::string_view text) {
  const Dims dims = Dims::parse(text);
  require(Dims::parse(dims.to_string()) == dims, "dims that are not what they are written as");
}

/// Sets an option of the table. What a text gives is in range: it is what cuszi_options may hold.
void set(const Option& option, std::string_view text) {
  cuszi_options options = cuszi_default_options();
  options.preset = CUSZI_PRESET_ZFP;  // else its options are not looked at
  option.set(label, text, options);
  try {
    method_settings(options);
    run_settings(options);
    target_of(options);
  } catch (const UsageError&) {
    throw std::logic_error("a text gives a number that is out of range");
  }
}

void parse(unsigned kind, std::string_view text) {
  const auto table = option_table();
  if (kind < table.size()) return set(table[kind], text);
  switch (kind - table.size()) {
    case 0: return parse_dims(text);
    case 1: parse_box(label, text); return;
    default: app::parse_variable_bound(label, text, {});
  }
}

}  // namespace

/// Reads the input, but for its first byte, as the value of the option that this byte stands for.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  try {
    parse(data[0] % (static_cast<unsigned>(option_table().size()) + 3U), text);
  } catch (const UsageError&) {  // the only way in which it may be refused
  }
  return 0;
}

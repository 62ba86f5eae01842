#include <cmath>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string_view>

#include "app/cli/option_text.hpp"
#include "core/base/dims.hpp"

namespace {

using namespace cuszi;
using namespace cuszi::app;

constexpr std::string_view option = "--option";

void require(bool kept, const char* promise) {
  if (!kept) throw std::logic_error(promise);
}

void parse_dims(std::string_view text) {
  const Dims dims = Dims::parse(text);
  require(Dims::parse(dims.to_string()) == dims, "dims that are not what they are written as");
}

void parse(unsigned kind, std::string_view text) {
  switch (kind) {
    case 0: return parse_dims(text);
    case 1: return require(!std::isnan(parse_number(option, text)), "a number that is none");
    case 2: return require(parse_count(option, text, 3, 99) - 3 <= 96, "a count out of range");
    case 3: return require(parse_power_of_two(option, text, 2, 64) <= 64, "a power out of range");
    case 4: return require(parse_size(option, text) - 1 < ByteCount{1} << 50, "a size beyond 2^50");
    case 5: return require(parse_target(option, text).value > 0, "a target of nothing");
    case 6: {
      const ValueRange range = parse_range(option, text);
      return require(range.min <= range.max, "an empty range");
    }
    case 7: parse_fill_value(option, text); return;
    case 8: return require(parse_radius(option, text).value_or(1) != 0, "a radius of 0");
    case 9: parse_axes(option, text); return;
    case 10: return require(parse_reach(option, text).value_or(3) % 2 == 1, "an even reach");
    case 11: return require(parse_level_factor(option, text).value_or(1) >= 1, "a factor below 1");
    case 12: return require(parse_device(option, text).index >= 0, "a device below 0");
    case 13: {
      const SliceChoice slice = parse_slice(option, text);
      return require(picture_axes.find(slice.axis) != std::string_view::npos, "no axis");
    }
    default: parse_interp(option, text);
  }
}

}  // namespace

/// Reads the input, but for its first byte, as the value of the option that this byte stands for.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  try {
    parse(data[0] % 15U, text);
  } catch (const UsageError&) {  // the only way in which it may be refused
  }
  return 0;
}

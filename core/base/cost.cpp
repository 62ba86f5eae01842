#include "core/base/cost.hpp"

namespace cuszi {

constinit const std::array<std::uint32_t, std::size_t{1} << log2_mantissa_bits> log2_table = [] {
  std::array<std::uint32_t, std::size_t{1} << log2_mantissa_bits> table{};
  for (std::uint32_t mantissa = 0; mantissa < table.size(); ++mantissa) {
    table[mantissa] = log2_of_mantissa(mantissa);
  }
  return table;
}();

}  // namespace cuszi

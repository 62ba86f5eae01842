#include "core/field/restore_rules.hpp"

#include <string>

#include "core/base/error.hpp"

namespace cuszi {

void IsoValues::add(double value) {
  if (count == max_count) {
    throw UsageError("at most " + std::to_string(max_count) + " isovalues are possible");
  }
  values.at(count++) = value;
}

}  // namespace cuszi

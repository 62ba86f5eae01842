#pragma once

#include "core/base/units.hpp"

namespace cuszi::test {

/// What may become of reading a hostile archive; anything else is a crash or a broken promise.
enum class Outcome {
  refused,
  restored,
  too_large,  ///< it may claim more than 2^14 values; all but restoring them was tried
};

/// Reads an archive that may hold anything in every way there is: whole from a file and from a
/// pipe, as previews, and its last frame alone. Throws std::logic_error if these contradict each
/// other or the archive's own dims.
Outcome read_hostile(Bytes archive);

}  // namespace cuszi::test

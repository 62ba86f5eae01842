#pragma once

#include <vector>

#include "core/base/units.hpp"

namespace cuszi::test {

/// Puts the right checksum at the end of a header, a frame's table or a footer whose body was
/// changed.
void rehash(MutableBytes hashed);

/// Puts the right checksums into an archive that was changed, as whoever makes a hostile one can;
/// as far as the archive makes sense.
void repair_checksums(std::vector<std::byte>& archive);

}  // namespace cuszi::test

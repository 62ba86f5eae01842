#pragma once

#include <vector>

#include "core/base/units.hpp"

// A decoder that follows docs/reference/format.md step by step, point by point, with core alone:
// neither the loops nor the threads of a backend, nor the codecs above them. What it restores shows
// that the document and core say all that a decoder needs.

namespace cuszi::slow {

/// The values of an archive's field. Throws ArchiveError, also for packed sections (Bitcomp), which
/// have no public description.
std::vector<std::byte> decode(Bytes archive);

}  // namespace cuszi::slow

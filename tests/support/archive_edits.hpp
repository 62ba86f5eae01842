#pragma once

#include "test_data/random.hpp"
#include "tests/support/open_archive.hpp"

namespace cuszi::test {

/// Makes one edit: of a section's borders, kind, place or bytes, of levels and frames as a whole,
/// of a frame's statements, of its predictor's or coder's parameters, or of the archive's header.
void edit(OpenArchive& archive, Random& random);

/// Puts something of `other` in the place of its like: a section, a level, a frame, or what is said
/// of one.
void edit_from(OpenArchive& archive, const OpenArchive& other, Random& random);

/// A section that has a place, to be filled with anything; none if a frame, taken at random, has
/// none.
OpenSection* any_section(OpenArchive& archive, Random& random);

}  // namespace cuszi::test

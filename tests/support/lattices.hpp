#pragma once

#include <string>

#include "core/multilevel/multilevel.hpp"
#include "test_data/random.hpp"

namespace cuszi::test {

/// A frame of `multilevel` of a few hundred to a few thousand points: any rank, extents around
/// those of tiles, roles that an encoder may choose, and any reach, level-wise bounds and
/// coefficients.
struct RandomLattice {
  Dims dims;
  MultilevelParams params;

  std::string to_string() const;
};

RandomLattice random_lattice(Random& random);

}  // namespace cuszi::test

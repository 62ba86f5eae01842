#include "tests/support/lattices.hpp"

#include <sstream>
#include <vector>

namespace cuszi::test {

namespace {

constexpr std::uint64_t most_points = 6000;

Dims random_dims(Random& random) {
  std::vector<std::uint64_t> extents(1 + random.below(Dims::max_rank));
  for (std::uint64_t& extent : extents) {
    extent = random.pick<std::uint64_t>({1, 2, 3, 4, 5, 7, 8, 9, 13, 16, 17, 31, 33, 64, 65, 700});
  }
  while (Dims::make(extents)->count() > most_points) {
    std::uint64_t& extent = extents[random.below(extents.size())];
    extent = (extent + 1) / 2;
  }
  return *Dims::make(extents);
}

Roles random_roles(Random& random, int rank) {
  Roles roles{};
  const auto slowest = max_axes - static_cast<unsigned>(rank);
  for (unsigned axis = slowest; axis < max_axes; ++axis) {
    if (random.one_in(4)) roles.at(axis) = AxisRole::independent;
  }
  if (rank == max_axes && roles[0] == AxisRole::lattice) roles[0] = AxisRole::independent;
  if (random.one_in(2)) {
    roles.at(slowest + random.below(static_cast<std::uint64_t>(rank))) = AxisRole::layered;
  }
  return roles;
}

Coefficients random_coefficients(Random& random, const Stencil& stencil) {
  Coefficients some;
  if (random.one_in(4)) return some;
  for (unsigned g = 1; g < stencil.size; ++g) {
    some.push_back(static_cast<std::int16_t>(static_cast<int>(random.below(1200)) - 600));
  }
  return some;
}

}  // namespace

std::string RandomLattice::to_string() const {
  std::ostringstream text;
  text << dims.to_string() << " roles ";
  for (const AxisRole role : params.lattice.roles) text << static_cast<int>(role);
  text << " levels " << params.lattice.levels << " slice levels " << params.lattice.slice_levels
       << " reach " << params.reach << " half step " << params.half_step << " snap "
       << static_cast<int>(params.snap) << " rest " << params.background;
  return text.str();
}

RandomLattice random_lattice(Random& random) {
  RandomLattice result{random_dims(random), {}};
  MultilevelParams& params = result.params;
  const int rank = result.dims.squeezed().rank();
  params.lattice = Lattice::of(result.dims, false, random_roles(random, rank));
  params.reach = random.pick({3, 5, 7});
  params.alpha = static_cast<std::uint8_t>(64 + random.below(100));
  params.beta = static_cast<std::uint8_t>(64 + random.below(150));
  params.half_step = random.pick({1e-1, 1e-2, 1e-3, 1e-5});
  if (random.one_in(2)) {
    params.snap = static_cast<std::uint8_t>(1 + random.below(snap_units));
    params.background = random.pick({0.0, 0.25, -0.125});
  }
  for (const PointClass& points : make_schedule(params.lattice).classes) {
    const Stencil stencil = stencil_of(params.lattice, params.reach, points);
    params.coefficients.push_back(random_coefficients(random, stencil));
  }
  return result;
}

}  // namespace cuszi::test

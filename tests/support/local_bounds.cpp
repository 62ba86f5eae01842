#include "tests/support/local_bounds.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <sstream>

#include "tests/support/promises.hpp"

namespace cuszi::test {

namespace {

Dims random_dims(Random& random) {
  switch (random.below(4)) {
    case 0: return {1 + random.below(5000)};
    case 1: return {1 + random.below(80), 1 + random.below(80)};
    case 2: return {1 + random.below(30), 1 + random.below(30), 1 + random.below(30)};
    default:
      return {1 + random.below(5), 1 + random.below(12), 1 + random.below(20),
              1 + random.below(20)};
  }
}

/// What is asked for a point; infinite if nothing is.
double bound_at(const BoundsByPlace& places, const Dims& dims, std::uint64_t point) {
  std::array<std::uint64_t, Dims::max_rank> at{};
  for (int axis = dims.rank() - 1; axis >= 0; --axis) {
    at.at(static_cast<std::size_t>(axis)) = point % dims[axis];
    point /= dims[axis];
  }
  double bound = std::numeric_limits<double>::infinity();
  if (!places.field.bounds.empty()) {
    std::uint64_t block = 0;
    for (int axis = 0; axis < dims.rank(); ++axis) {
      const auto a = static_cast<std::size_t>(axis);
      const std::uint64_t extent = places.field.block.at(a);
      block = block * ((dims[axis] - 1) / extent + 1) + at.at(a) / extent;
    }
    bound = places.field.bounds[block];
  }
  for (const BoundRegion& region : places.regions) {
    bool inside = true;
    for (std::size_t axis = 0; axis < at.size(); ++axis) {
      inside = inside && at[axis] >= region.box.first[axis] && at[axis] < region.box.end[axis];
    }
    if (inside) bound = region.bound;
  }
  return bound;
}

}  // namespace

BoundRegion random_region(const Dims& dims, double bound, Random& random) {
  BoundRegion region;
  for (int axis = 0; axis < dims.rank(); ++axis) {
    const auto a = static_cast<std::size_t>(axis);
    region.box.first.at(a) = random.below(dims[axis]);
    region.box.end.at(a) =
        region.box.first.at(a) + 1 + random.below(dims[axis] - region.box.first.at(a));
  }
  region.bound = random.one_in(4) ? 0
                                  : bound * std::ldexp(random.uniform() + 0.01,
                                                       -static_cast<int>(random.below(16)));
  return region;
}

std::vector<float> random_bounds(std::uint64_t count, double bound, Random& random) {
  std::vector<float> bounds(count);
  const std::uint64_t kind = random.below(3);
  const double octaves = 1 + 20 * random.uniform();
  const auto run = 1 + random.below(300);
  double of_run = bound;
  for (std::size_t i = 0; i < bounds.size(); ++i) {
    if (kind == 0)
      of_run =
          bound * std::exp2(-octaves * static_cast<double>(i) / static_cast<double>(bounds.size()));
    if (kind == 1 && i % run == 0) of_run = bound * std::exp2(-octaves * random.uniform());
    if (kind == 2) of_run = bound * 2 * random.uniform();
    bounds[i] = static_cast<float>(of_run);
  }
  if (random.one_in(3)) bounds[random.below(bounds.size())] = 0;
  return bounds;
}

std::vector<double> bounds_of_points(const BoundsByPlace& places, const Dims& dims) {
  if (!places.any()) return {};
  std::vector<double> bounds(dims.count());
  for (std::uint64_t point = 0; point < bounds.size(); ++point) {
    bounds[point] = bound_at(places, dims, point);
  }
  return bounds;
}

FrameTask BoundedField::task() const {
  FrameTask task;
  task.shape = shape;
  task.config.predictor.id = predictor;
  task.config.coder = predictor == PredictorId::cells ? CoderId::none : CoderId::ans;
  task.mode = ErrorMode::absolute;
  task.bound = bound;
  task.places = {regions, {bounds, {1, 1, 1, 1}}};
  return task;
}

std::optional<std::uint64_t> BoundedField::first_over_its_bound(Bytes restored) const {
  return first_broken_promise(shape.dtype, values, restored, {}, bound,
                              bounds_of_points(task().places, shape.dims));
}

std::string BoundedField::to_string() const {
  std::ostringstream out;
  out << "seed " << seed << ' ' << shape.dims.to_string() << ' ' << name_of(shape.dtype) << ' '
      << name_of(predictor) << " bound " << bound << " regions " << regions.size() << " bounds "
      << bounds.size();
  return out.str();
}

BoundedField random_bounded_field(std::uint64_t seed, std::optional<Dims> dims) {
  Random random(seed);
  BoundedField field;
  field.seed = seed;
  const Dims of_field = dims ? *dims : random_dims(random);
  field.shape = {random.one_in(2) ? DType::f32 : DType::f64, of_field};
  const FieldKind kind = random.pick({FieldKind::smooth, FieldKind::rough, FieldKind::steps,
                                      FieldKind::missing, FieldKind::sparse});
  field.values = make_field(dims ? FieldKind::smooth : kind, of_field, field.shape.dtype, seed);
  field.bound = std::pow(10.0, -1 - 4 * random.uniform());
  const bool both = dims || random.one_in(3);
  if (both || random.one_in(2)) field.bounds = random_bounds(of_field.count(), field.bound, random);
  const std::uint64_t count = both || field.bounds.empty() ? 1 + random.below(4) : 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    field.regions.push_back(random_region(of_field, field.bound, random));
  }
  return field;
}

bool has_section(const FrameHeader& header, SectionId id) {
  return std::any_of(header.levels.begin(), header.levels.end(), [&](const LevelEntry& level) {
    return std::any_of(level.sections.begin(), level.sections.end(),
                       [&](const SectionEntry& section) { return section.id == id; });
  });
}

}  // namespace cuszi::test

#include "tests/gpu/multilevel_steps.hpp"

#include "core/base/bytes.hpp"
#include "core/field/sparse_list.hpp"
#include "cpu_ref/multilevel/multilevel.hpp"
#include "test_data/fields.hpp"
#include "tests/gpu/device.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/lattices.hpp"

// Every step of `multilevel` makes the same of each pass on both backends.

namespace cuszi::test {

namespace {

/// Random coefficients for all classes of a lattice of these dims and roles, else as
/// random_lattice().
RandomLattice random_lattice_of(Random& random, const Dims& dims, const Roles& roles) {
  RandomLattice lattice = random_lattice(random);
  lattice.dims = dims;
  MultilevelParams& params = lattice.params;
  params.lattice = Lattice::of(dims, false, roles);
  params.coefficients.clear();
  for (const PointClass& points : make_schedule(params.lattice).classes) {
    Coefficients some;
    const Stencil stencil = stencil_of(params.lattice, params.reach, points);
    for (unsigned g = 1; g < stencil.size; ++g) {
      some.push_back(static_cast<std::int16_t>(static_cast<int>(random.below(600)) - 200));
    }
    params.coefficients.push_back(some);
  }
  return lattice;
}

/// A cube whose regions have and lack neighbours.
RandomLattice random_cube(Random& random) {
  const auto extent = [&] { return 8 + random.below(random.one_in(3) ? 140 : 40); };
  const std::vector<std::uint64_t> extents{extent(), extent(), extent()};
  return random_lattice_of(random, *Dims::make(extents), Roles{});
}

/// A cube whose rows are read a vector at a time away from its faces.
RandomLattice random_wide_cube(Random& random) {
  const auto extent = [&] { return 64 + random.below(20); };
  const std::vector<std::uint64_t> extents{extent(), extent(), 520 + 8 * random.below(40)};
  return random_lattice_of(random, *Dims::make(extents), Roles{});
}

/// One slice or several, layered or independent, whose regions have and lack neighbours.
RandomLattice random_slices(Random& random) {
  const auto extent = [&] { return 8 + random.below(random.one_in(3) ? 400 : 90); };
  std::vector<std::uint64_t> extents{extent(), extent()};
  Roles roles{};
  for (std::uint64_t axes = random.below(3); axes > 0; --axes) {
    extents.insert(extents.begin(), 1 + random.below(random.one_in(2) ? 5 : 24));
  }
  for (unsigned axis = 0; axis < 2; ++axis) roles[axis] = AxisRole::independent;
  if (random.one_in(2)) roles[random.below(2)] = AxisRole::layered;
  return random_lattice_of(random, *Dims::make(extents), roles);
}

template <class T>
StepFrame<T> random_step_frame(Random& random, const RandomLattice& lattice) {
  StepFrame<T> frame{lattice.dims, lattice.params, {}, {}, 0, 0, 0};
  const FieldKind kind = random.pick(
      {FieldKind::smooth, FieldKind::rough, FieldKind::sparse, FieldKind::steps, FieldKind::ramp});
  const auto bytes = make_field(kind, lattice.dims, dtype_of<T>, random.next());
  frame.values = {reinterpret_cast<const T*>(bytes.data()),
                  reinterpret_cast<const T*>(bytes.data() + bytes.size())};
  frame.min = static_cast<double>(*std::min_element(frame.values.begin(), frame.values.end()));
  frame.max = static_cast<double>(*std::max_element(frame.values.begin(), frame.values.end()));
  if (random.one_in(2)) {
    frame.params.snap = static_cast<std::uint8_t>(random.below(17));
    frame.params.background = static_cast<double>(frame.values[random.below(frame.values.size())]);
  }
  frame.bound = lattice.params.half_step * (random.one_in(3) ? 1 : 1.0001);
  if (random.one_in(3)) {
    frame.mask.words.resize(ceil_div(frame.values.size(), 64));
    for (std::size_t i = 0; i < frame.values.size(); ++i) {
      if (!random.one_in(5)) continue;
      frame.mask.words[i / 64] |= std::uint64_t{1} << (i % 64);
      ++frame.mask.count;
    }
  }
  return frame;
}

/// The steps of a frame as the CPU backend makes them.
template <class T>
FrameSteps<T> steps_on_host(const StepFrame<T>& frame) {
  const cpu::FrameInput<T> input{frame.dims.as_3d(), frame.values, frame.mask, frame.min,
                                 frame.max,          frame.dims,   {}};
  FrameSteps<T> steps;
  const auto engine = cpu::make_encoder(frame.params, Tolerance{frame.bound}, input);
  const auto passes = static_cast<int>(make_schedule(frame.params.lattice).passes.size());
  for (int number = 0; number < passes; ++number) {
    PassSteps& pass = steps.passes.emplace_back();
    pass.codes.resize(engine->pass(number).points);
    std::vector<SparseEntry> outliers;
    engine->predict_quantise(number, pass.codes, outliers);
    pass.outliers = outliers.size();
    pass.outlier_list = SparseList::encode(outliers, pass.codes.size());
    pass.missing = engine->missing(number);
  }
  steps.error_sum = engine->error_sum();
  steps.coarse_hash = engine->coarse_hash();
  for (int number = 0; number < passes; ++number) {
    PassSteps& pass = steps.passes[static_cast<std::size_t>(number)];
    pass.contexts.resize(pass.codes.size());
    pass.weights = engine->fit_contexts(number, pass.contexts);
  }
  steps.decoded.resize(frame.values.size());
  const cpu::FrameOutput<T> output{frame.dims.as_3d(), steps.decoded, frame.mask,
                                   frame.min,          frame.max,     frame.dims};
  const auto decoder = cpu::make_decoder(frame.params, output);
  for (int number = 0; number < passes; ++number) {
    const PassSteps& pass = steps.passes[static_cast<std::size_t>(number)];
    decoder->reconstruct(number, pass.codes,
                         SparseList::decode(pass.outlier_list, pass.codes.size()));
  }
  return steps;
}

template <class T>
void check_steps(const StepFrame<T>& frame) {
  const FrameSteps<T> expected = steps_on_host(frame);
  const FrameSteps<T> made = steps_on_device(frame);
  REQUIRE(made.passes.size() == expected.passes.size());
  for (std::size_t i = 0; i < made.passes.size(); ++i) {
    INFO("pass " << i << " of " << made.passes.size());
    const PassSteps& a = made.passes[i];
    const PassSteps& b = expected.passes[i];
    const auto differs = std::mismatch(a.codes.begin(), a.codes.end(), b.codes.begin());
    INFO("codes differ at " << (differs.first - a.codes.begin()) << " of " << a.codes.size());
    REQUIRE((a.codes == b.codes));
    REQUIRE(a.outliers == b.outliers);
    REQUIRE((a.outlier_list == b.outlier_list));
    REQUIRE((a.missing == b.missing));
    REQUIRE((a.weights == b.weights));
    const auto other = std::mismatch(a.contexts.begin(), a.contexts.end(), b.contexts.begin());
    INFO("contexts differ at " << (other.first - a.contexts.begin()));
    REQUIRE((a.contexts == b.contexts));
  }
  REQUIRE(made.error_sum == expected.error_sum);
  REQUIRE(block_hash(std::as_bytes(std::span(made.coarse_values))) == expected.coarse_hash);
  REQUIRE((made.decoded == expected.decoded));
  REQUIRE((made.encoded == expected.decoded));
}

/// Checks frames of random lattices of a kind.
template <class T>
void check_random(std::uint64_t seed, int frames, RandomLattice (*draw)(Random&)) {
  if (device() == nullptr) return;
  Random random(seed);
  for (int i = 0; i < frames; ++i) {
    const RandomLattice lattice = draw(random);
    INFO(i << ": " << lattice.to_string());
    check_steps(random_step_frame<T>(random, lattice));
  }
}

}  // namespace

TEMPLATE_TEST_CASE("steps of any lattice are the same on both backends", "[gpu][steps]", float,
                   double) {
  check_random<TestType>(21, 150, random_lattice);
}

TEMPLATE_TEST_CASE("steps of cubes are the same on both backends", "[gpu][steps]", float, double) {
  check_random<TestType>(22, 25, random_cube);
}

TEMPLATE_TEST_CASE("steps of cubes read by vectors are the same on both backends", "[gpu][steps]",
                   float, double) {
  check_random<TestType>(25, 8, random_wide_cube);
}

TEMPLATE_TEST_CASE("steps of slices are the same on both backends", "[gpu][steps]", float, double) {
  check_random<TestType>(24, 25, random_slices);
}

TEMPLATE_TEST_CASE("steps of a few small cubes, for memory and race checkers", "[gpu][.checker]",
                   float, double) {
  if (device() == nullptr) return;
  Random random(23);
  for (int i = 0; i < 4; ++i) {
    check_steps(random_step_frame<TestType>(random, random_cube(random)));
    check_steps(random_step_frame<TestType>(random, random_slices(random)));
    check_steps(random_step_frame<TestType>(random, random_lattice(random)));
  }
  check_steps(random_step_frame<TestType>(random, random_wide_cube(random)));
}

}  // namespace cuszi::test

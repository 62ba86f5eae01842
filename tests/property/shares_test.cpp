#include <algorithm>
#include <cmath>
#include <iostream>
#include <limits>

#include "cpu_ref/session/cpu_backend.hpp"
#include "tests/property/random_frame.hpp"
#include "tests/support/bytes.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/promises.hpp"

namespace cuszi::test {

namespace {

/// How the values of a field are drawn.
struct ValueKind {
  int least;       ///< binary exponent of magnitudes
  int binades;     ///< above that
  bool is_smooth;  ///< the next magnitude is near the last one
  std::uint64_t one_zero_in;
  std::uint64_t one_negative_in;
  bool has_plain_bits;  ///< significands of few bits, or of nothing but ones
};

/// The binary exponents of a type, those of subnormal numbers included.
template <class T>
struct Exponents {
  static constexpr int least =
      std::numeric_limits<T>::min_exponent - std::numeric_limits<T>::digits;
  static constexpr int most = std::numeric_limits<T>::max_exponent - 1;
};

template <class T>
int any_exponent(Random& random) {
  return Exponents<T>::least +
         static_cast<int>(random.below(Exponents<T>::most - Exponents<T>::least + 1));
}

/// All magnitudes of the type, some of them, or those at one of its ends.
template <class T>
ValueKind any_kind(Random& random) {
  constexpr int all = Exponents<T>::most - Exponents<T>::least;
  ValueKind kind{};
  kind.binades = random.pick({all, all / 4, 40, 10, 3, 1});
  const int room = all - kind.binades;
  kind.least =
      Exponents<T>::least +
      (random.one_in(3)   ? 0
       : random.one_in(3) ? room
                          : static_cast<int>(random.below(static_cast<std::uint64_t>(room) + 1)));
  kind.is_smooth = !random.one_in(3);
  kind.one_zero_in = random.pick<std::uint64_t>({2, 10, 100, 100'000, 100'000});
  kind.one_negative_in = random.pick<std::uint64_t>({1, 2, 20, 100'000, 100'000});
  kind.has_plain_bits = random.one_in(4);
  return kind;
}

template <class T>
T significand(const ValueKind& kind, Random& random) {
  if (!kind.has_plain_bits) return static_cast<T>(1 + random.uniform());
  return random.pick(
      {T{1}, static_cast<T>(1.5), std::nextafter(T{2}, T{1}), std::nextafter(T{1}, T{2})});
}

template <class T>
std::vector<T> any_values(std::size_t count, Random& random) {
  const ValueKind kind = any_kind<T>(random);
  std::vector<T> values(count);
  double at = random.uniform();
  const double pace = std::ldexp(1.0, -static_cast<int>(random.below(20)));
  for (T& value : values) {
    at = kind.is_smooth ? std::clamp(at + pace * (random.uniform() - 0.5), 0.0, 1.0)
                        : random.uniform();
    const double exponent = kind.least + at * kind.binades;
    const int whole = static_cast<int>(std::floor(exponent));
    const T part = kind.is_smooth && !kind.has_plain_bits
                       ? static_cast<T>(std::exp2(exponent - whole))
                       : significand<T>(kind, random);
    value = std::ldexp(part, std::min(whole, Exponents<T>::most));
    if (!std::isfinite(value)) value = std::numeric_limits<T>::max();
    if (random.one_in(kind.one_zero_in)) value = 0;
    if (random.one_in(kind.one_negative_in)) value = -value;
  }
  return values;
}

/// 0, or down to a few units in the last place.
template <class T>
double any_share(Random& random) {
  if (random.one_in(50)) return 0;
  if (random.one_in(3)) {
    return std::ldexp(1.0, -1 - static_cast<int>(random.below(std::numeric_limits<T>::digits)));
  }
  const double share = random.pick({0.9, 0.1, 1e-2, 1e-2, 1e-3, 1e-3, 1e-4, 1e-4, 1e-5, 1e-6});
  return random.one_in(2) ? share : share * (0.1 + 0.9 * random.uniform());
}

/// Asks for a share of each value alone, or beside an absolute bound of the type's magnitudes.
template <class T>
void ask_for_shares(FrameTask& task, Random& random) {
  task.mode = random.pick({ErrorMode::pointwise, ErrorMode::pointwise,
                           ErrorMode::absolute_or_pointwise, ErrorMode::absolute_and_pointwise});
  task.share = 0;
  task.bound = any_share<T>(random);
  task.places = {};
  if (!has_two_bounds(task.mode)) return;
  task.share = std::max(task.bound, 1e-15);
  task.bound = std::ldexp(1 + random.uniform(), std::max(any_exponent<T>(random), -1074));
}

/// A field of which the values and the bound are drawn here.
template <class T>
RandomFrame any_frame(Random& random, std::vector<T>& values) {
  RandomFrame frame = random_frame(random, 30, 600);
  FrameTask& task = frame.task;
  task.shape.dtype = dtype_of<T>;
  PredictorConfig& predictor = task.config.predictor;
  if (predictor.id == PredictorId::zfp) predictor.id = PredictorId::multilevel;
  predictor.multilevel.effort = random.one_in(32) ? Effort::normal : Effort::fast;
  values = any_values<T>(task.shape.points(), random);
  ask_for_shares<T>(task, random);
  return frame;
}

/// What became of fields whose values' bounds were checked in integers of any length.
struct Checked {
  std::uint64_t fields = 0;
  std::uint64_t values = 0;
  std::uint64_t transformed = 0;  ///< the others were kept, or an absolute bound holds for all
  std::uint64_t broken = 0;       ///< fields of which a value is over its bound
};

template <class T>
void check_shares(std::uint64_t seed, int fields, Checked& checked) {
  const auto backend = cpu::make_backend();
  Random random(seed);
  std::vector<T> drawn;
  for (int i = 0; i < fields; ++i) {
    const RandomFrame frame = any_frame<T>(random, drawn);
    const FrameTask& task = frame.task;
    const Bytes values = bytes_of(drawn);
    const auto [made, bound] = compress(*backend, task, values);
    const auto restored = restore(*backend, task.shape, made.bytes);
    const auto broken = first_broken_promise(task.shape.dtype, values, restored,
                                             {task.fills, task.config.isovalues}, bound);
    ++checked.fields;
    checked.values += task.shape.points();
    checked.transformed += made.header.transform ? 1 : 0;
    if (!broken) continue;
    ++checked.broken;
    FAIL_CHECK("field " << i << " of seed " << seed << ", point " << *broken << ": "
                        << frame.to_string());
  }
}

}  // namespace

TEMPLATE_TEST_CASE("shares of values of any magnitude are kept exactly", "", float, double) {
  Checked checked;
  check_shares<TestType>(1, some_of(2000), checked);
  CHECK(checked.transformed > checked.fields / 4);
}

TEMPLATE_TEST_CASE("shares of values of a million fields are kept exactly", "[.thorough]", float,
                   double) {
  Checked checked;
  for (const std::uint64_t seed : thorough_seeds(100, 100)) {
    check_shares<TestType>(seed, 5000, checked);
    std::cout << name_of(dtype_of<TestType>) << ", seeds to " << seed << ": " << checked.fields
              << " fields, " << checked.values << " values, " << checked.transformed
              << " fields transformed, " << checked.broken << " with a value over its bound"
              << std::endl;
  }
  CHECK(checked.transformed > checked.fields / 4);
}

}  // namespace cuszi::test

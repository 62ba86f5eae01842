#include "core/base/floating_point.hpp"

#include <cfenv>

#include "cpu_ref/session/cpu_backend.hpp"
#include "test_data/random.hpp"
#include "tests/support/archive_codec.hpp"
#include "tests/support/bytes.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/sanitized.hpp"

namespace cuszi::test {

namespace {

#if defined(__SSE2__)
/// A caller's process that flushes subnormal numbers to zero, and rounds up.
class RestlessCaller {
 public:
  static constexpr unsigned odd = 0x1F80 | 0x8040 | 0x4000;
  RestlessCaller() { _mm_setcsr(odd); }
  ~RestlessCaller() { _mm_setcsr(0x1F80); }
  static bool is_as_it_was() { return (_mm_getcsr() & ~0x3FU) == odd; }
};
#endif

}  // namespace

#if defined(__SSE2__)
TEST_CASE("bytes do not depend on how the caller rounds or treats subnormal numbers") {
  Random random(5);
  const Dims dims{20, 30, 40};
  for (const double scale : {0x1p-1070, 0x1p-1030, 1.0}) {
    std::vector<double> values(dims.count());
    for (double& value : values) value = scale * (random.uniform() - 0.3) * 60;
    for (const PredictorId predictor :
         {PredictorId::lorenzo, PredictorId::interp, PredictorId::multilevel}) {
      if (sanitized && predictor == PredictorId::multilevel && scale != 0x1p-1030) continue;
      FieldSettings settings;
      settings.bound = 1e-2;
      settings.frame.predictor.id = predictor;
      const auto expected = make_archive(dims, DType::f64, bytes_of(values), settings);
      const auto restored = restore_archive(expected);
      const RestlessCaller caller;
      const bool same = make_archive(dims, DType::f64, bytes_of(values), settings) == expected;
      const bool same_again = restore_archive(expected) == restored;
      const bool kept = RestlessCaller::is_as_it_was();
      CHECK(same);
      CHECK(same_again);
      CHECK(kept);
    }
  }
}
#endif

}  // namespace cuszi::test

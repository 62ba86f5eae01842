#include "core/field/quantizer.hpp"
#include "tests/support/catch.hpp"

namespace cuszi::test {

TEST_CASE("the radius leaves out next to nothing of the sample") {
  const auto radius_for = [](double error, int count) {
    ErrorOctaves errors;
    for (int i = 0; i < 8000; ++i) errors.add(0.1);
    for (int i = 0; i < count; ++i) errors.add(error);
    return choose_radius({}, errors, 1);
  };
  CHECK(radius_for(0, 0) == 512);
  CHECK(radius_for(1e6, 2) == 512);
  CHECK(radius_for(1e6, 3) == max_radius);
  // An error may be as large as its octave ends; 600 is in the one from 512 on.
  CHECK(radius_for(600, 3) == 2048);
  CHECK(radius_for(200, 100) == 512);
}

TEST_CASE("a radius of the user's is taken") {
  PredictorConfig config;
  config.radius = 77;
  CHECK(choose_radius(config, ErrorOctaves{}, 1) == 77);
}

TEST_CASE("errors are counted by octave") {
  ErrorOctaves errors;
  for (const double error : {0.0, 0.25, 0.3, 0.5, 1.0, 1.9, 2.0, 1e300}) errors.add(error);
  CHECK(errors.beyond(1) == 4);
  CHECK(errors.beyond(1.5) == 4);
  CHECK(errors.beyond(2) == 2);
  CHECK(errors.beyond(0) == 8);
}

}  // namespace cuszi::test

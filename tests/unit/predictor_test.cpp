#include "core/archive/predictor.hpp"

#include "core/base/error.hpp"
#include "core/multilevel/schedule.hpp"
#include "tests/support/bytes.hpp"
#include "tests/support/catch.hpp"

namespace cuszi::test {

TEST_CASE("predictors have names") {
  for (const PredictorId id : {PredictorId::lorenzo, PredictorId::interp, PredictorId::multilevel,
                               PredictorId::tiles, PredictorId::zfp}) {
    CHECK(predictor_named(name_of(id)) == id);
  }
  CHECK(name_of(PredictorId::interp) == "interp");
  CHECK_FALSE(predictor_named("").has_value());
  CHECK_FALSE(predictor_named("Interp").has_value());
}

TEST_CASE("a predictor is read as what it was written") {
  const Dims dims{20, 30, 40};
  for (const PredictorId id : {PredictorId::lorenzo, PredictorId::interp, PredictorId::multilevel,
                               PredictorId::tiles, PredictorId::zfp}) {
    FrameConfig config;
    config.predictor.id = id;
    PredictorParams params = draft_predictor(config, dims);
    FieldScan scan;
    scan.max = 1;
    std::visit([&](auto& p) { p.choose(config.predictor, scan, 1e-3, DType::f32); }, params);
    if (auto* const multilevel = std::get_if<MultilevelParams>(&params)) {
      multilevel->coefficients.resize(make_schedule(multilevel->lattice).classes.size());
    }
    if (auto* const zfp = std::get_if<ZfpCoding>(&params)) *zfp = zfp->with_chosen_chunk(1000, 10);
    ByteWriter out;
    write_predictor(params, out);
    ByteReader in(out.view(), "the test");
    CHECK(id_of(read_predictor(in, dims, DType::f32)) == id);
    CHECK_NOTHROW(in.expect_end());
  }
}

TEST_CASE("an unknown predictor is refused") {
  const auto bytes = to_bytes({99, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0});
  ByteReader in(bytes, "the test");
  CHECK_THROWS_AS(read_predictor(in, {1, 1, 1}, DType::f32), ArchiveError);
}

}  // namespace cuszi::test

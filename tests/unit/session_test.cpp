#include <stdexcept>

#include "core/backend/backend.hpp"
#include "core/base/bytes.hpp"
#include "core/choices/trials.hpp"
#include "core/field/stored_type.hpp"
#include "cpu_ref/session/cpu_backend.hpp"
#include "test_data/fields.hpp"
#include "tests/support/bytes.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/compare_steps.hpp"

namespace cuszi::test {

namespace {

const Dims session_dims{20, 31, 42};
constexpr double frame_bound = 1e-3;

PredictorParams draft_of(PredictorId id) {
  FrameConfig config;
  config.predictor.id = id;
  return draft_predictor(config, session_dims);
}

/// A frame's way to sections.
FrameCoding coding_of(EncodeSession& session, PredictorId id, CoderId coder) {
  FrameConfig config;
  config.predictor.id = id;
  Method method{draft_of(id), coder};
  std::visit([&](auto& p) { p.choose(config.predictor, session.scan(), frame_bound, DType::f32); },
             method.predictor);
  method =
      choose_method(session, std::move(method), config, {DType::f32, session_dims}, frame_bound)
          .method;
  return {method.predictor,
          {frame_bound},
          coder_params(method.coder, config, centre_of(method.predictor)),
          config.huffman};
}

/// The hashes of all sections.
std::vector<std::uint64_t> hashes_of(const std::vector<CodedPass>& passes) {
  std::vector<std::uint64_t> hashes;
  for (const CodedPass& pass : passes) {
    for (const Section& section : pass.sections.list()) {
      hashes.push_back(static_cast<std::uint64_t>(section.id));
      hashes.push_back(block_hash(section.bytes));
    }
  }
  return hashes;
}

}  // namespace

TEST_CASE("a backend has one frame in work at a time") {
  const auto values = make_field(FieldKind::smooth, session_dims, DType::f32, 1);
  const auto backend = cpu::make_backend();
  const auto load = [&] {
    return backend->encode({DType::f32, session_dims}, values, {}, draft_of(PredictorId::lorenzo),
                           {});
  };
  auto session = load();
  CHECK_THROWS_AS(load(), std::logic_error);
  CHECK_THROWS_AS(backend->decode(values), std::logic_error);
  session.reset();
  CHECK_NOTHROW(backend->decode(values));
  CHECK_NOTHROW(load());
}

TEST_CASE("sessions take and give values in their stored type") {
  const auto backend = cpu::make_backend();
  for (const DType dtype : {DType::f16, DType::bf16, DType::i8, DType::u8, DType::i16, DType::u16,
                            DType::i32, DType::u32}) {
    INFO(name_of(dtype));
    const FrameShape shape{dtype, session_dims};
    const auto values = make_field(FieldKind::rough, session_dims, dtype, 1);
    std::vector<std::byte> work(shape.work().bytes());
    to_work(dtype, values, work);
    const auto scan_of = [&](const FrameShape& given, Bytes bytes) {
      return backend->encode(given, bytes, {}, draft_of(PredictorId::lorenzo), {})->scan();
    };
    CHECK(scan_of(shape, values).min == scan_of(shape.work(), work).min);
    CHECK(scan_of(shape, values).max == scan_of(shape.work(), work).max);

    std::vector<std::byte> filled(shape.bytes());
    const double value = is_integer(dtype) ? 99.75 : 0.1;
    const FrameMask none;
    const FrameTarget target{shape, 0, 0, none, filled};
    backend->decode({})->fill(target, bits_of(value, work_of(dtype)));
    with_stored_type_of(dtype, [&](auto zero) {
      using S = decltype(zero);
      const auto nearest = converted_to<WorkOf<S>>(values_of<S>(filled).back());
      CHECK(static_cast<double>(nearest) == nearest_stored(dtype, value));
    });
  }
}

TEST_CASE("distinct values are found by all threads") {
  const auto backend = cpu::make_backend();
  const Dims dims{3'000'000};
  std::vector<std::uint16_t> values(dims.count());
  values[1] = 0xFFFF;
  values[1'500'000] = 0x8001;
  const auto session =
      backend->encode({DType::bf16, dims}, bytes_of(values), {}, draft_of(PredictorId::tiles), {});
  DistinctValues expected;
  expected.add(DType::bf16, bytes_of(std::vector<std::uint16_t>{0, 0xFFFF, 0x8001}));
  CHECK(session->distinct_values().bits == expected.bits);
}

TEST_CASE("how many passes a step takes at once changes no section") {
  auto values = make_values<float>(FieldKind::smooth, session_dims, 1);
  for (std::size_t i = 0; i < values.size(); i += 97) {
    values[i] = std::numeric_limits<float>::quiet_NaN();
  }
  const auto backend = cpu::make_backend();
  const auto session = backend->encode({DType::f32, session_dims}, bytes_of(values), {},
                                       draft_of(PredictorId::multilevel), {});
  const FrameCoding coding = coding_of(*session, PredictorId::multilevel, CoderId::ans);
  const auto passes = static_cast<int>(level_of_pass(coding.predictor).size());
  const auto code = [&](int step) {
    const auto encoder = session->passes(coding);
    for (int first = 0; first < passes; first += step) {
      encoder->predict({first, std::min(first + step, passes)});
      encoder->fit_contexts({first, std::min(first + step, passes)});
    }
    encoder->encode();
    return hashes_of(encoder->finish());
  };
  REQUIRE(passes > 3);
  const auto expected = code(1);
  CHECK(expected.size() > 6);
  CHECK(code(2) == expected);
  CHECK(code(passes) == expected);
}

TEST_CASE("frames go through the steps of two backends alike") {
  for (const PredictorId id :
       {PredictorId::lorenzo, PredictorId::interp, PredictorId::multilevel}) {
    FrameTask task;
    task.shape = {DType::f64, session_dims};
    task.config.predictor.id = id;
    task.config.coder = CoderId::ans;
    compare_steps(*cpu::make_backend(), *cpu::make_backend(), task,
                  make_field(FieldKind::missing, session_dims, DType::f64, 1));
  }
}

TEST_CASE("frames under bounds by place go through the steps of two backends alike") {
  FrameTask task;
  task.shape = {DType::f64, session_dims};
  task.config.predictor.id = PredictorId::multilevel;
  task.config.coder = CoderId::ans;
  task.mode = ErrorMode::absolute;
  task.places.regions = {{{{0, 0, 0, 0}, {8, 8, 8, 1}}, 1e-5}, {{{1, 1, 1, 0}, {2, 2, 9, 1}}, 0}};
  compare_steps(*cpu::make_backend(), *cpu::make_backend(), task,
                make_field(FieldKind::missing, session_dims, DType::f64, 1));
}

TEST_CASE("a predictor is not asked for what it does not do") {
  const auto values = make_field(FieldKind::smooth, session_dims, DType::f32, 1);
  const auto backend = cpu::make_backend();
  const auto session =
      backend->encode({DType::f32, session_dims}, values, {}, draft_of(PredictorId::interp), {});
  const FrameCoding coding = coding_of(*session, PredictorId::interp, CoderId::huffman);
  CHECK_THROWS_AS(session->encode_values(coding), std::logic_error);
  FrameCoding uncoded = coding;
  uncoded.coder = NoCoderParams{};
  const auto encoder = session->passes(uncoded);
  encoder->predict({0, 1});
  CHECK_THROWS_AS(encoder->encode(), std::logic_error);
}

}  // namespace cuszi::test

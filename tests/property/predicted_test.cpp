#include "core/lossless/predicted.hpp"

#include "core/base/error.hpp"
#include "cpu_ref/base/thread_count.hpp"
#include "cpu_ref/session/cpu_backend.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/sanitized.hpp"
#include "tests/support/word_values.hpp"

namespace cuszi::test {

TEST_CASE("any bits come back from predicted frames, whatever the number of threads") {
  const auto backend = cpu::make_backend();
  Random random(1);
  int smaller = 0;
  for (int i = 0; i < some_of(1500); ++i) {
    const FrameShape shape{random.pick({DType::f32, DType::f64}), random_dims(random)};
    INFO("frame " << i << ": " << name_of(shape.dtype) << ' ' << shape.dims.to_string());
    const std::vector<std::byte> values = random_values(shape, random);
    const OwnedWordSections sections = encode_predicted(values, shape, one_by_one);
    const ThreadsScope scope(1 + i % 3);
    const OwnedWordSections parallel = encode_predicted(values, shape, host_work_of(*backend));
    REQUIRE(parallel.head == sections.head);
    REQUIRE(parallel.index == sections.index);
    REQUIRE(parallel.classes == sections.classes);
    REQUIRE(parallel.codes == sections.codes);
    REQUIRE(parallel.raw == sections.raw);
    std::vector<std::byte> restored(values.size());
    decode_predicted(view_of(sections), shape, restored, host_work_of(*backend));
    REQUIRE(restored == values);
    smaller += sections.size() < values.size() ? 1 : 0;
  }
  CHECK(smaller > expected_of(700));
}

TEST_CASE("damaged predicted frames are refused or restore something") {
  Random random(2);
  int refused = 0;
  constexpr int edits = 4000;
  for (int i = 0; i < 40; ++i) {
    const FrameShape shape{random.pick({DType::f32, DType::f64}), random_dims(random)};
    const std::vector<std::byte> values = random_values(shape, random);
    const OwnedWordSections sections = encode_predicted(values, shape, one_by_one);
    std::vector<std::byte> restored(values.size());
    for (int edit = 0; edit < edits / 40; ++edit) {
      OwnedWordSections damaged = sections;
      std::vector<std::byte>* const parts[] = {&damaged.head, &damaged.index, &damaged.classes,
                                               &damaged.codes, &damaged.raw};
      std::vector<std::byte>& part = *parts[edit % 5];
      if (part.empty()) continue;
      if (random.one_in(4))
        part.resize(random.below(part.size()));
      else
        part[random.below(part.size())] ^= static_cast<std::byte>(1U << random.below(8));
      try {
        decode_predicted(view_of(damaged), shape, restored, one_by_one);
      } catch (const ArchiveError&) {
        ++refused;
      }
    }
  }
  CHECK(refused > edits / 2);
}

}  // namespace cuszi::test

#include <algorithm>
#include <optional>

#include "core/base/error.hpp"
#include "cpu_ref/coders/ans.hpp"
#include "gpu/coders/ans.cuh"
#include "gpu/coders/packed_share.cuh"
#include "gpu/runtime/copies.hpp"
#include "test_data/random.hpp"
#include "tests/gpu/device.hpp"
#include "tests/support/catch.hpp"

namespace cuszi::test {

namespace {

struct Pass {
  std::vector<QuantCode> codes;
  std::vector<std::uint8_t> contexts;  ///< none: a single one
  PassShape shape;
};
using Level = std::vector<Pass>;

/// What the codes of a context are like.
struct Habit {
  std::uint64_t one_in;    ///< codes that differ from the centre
  std::uint64_t ones;      ///< of them, how many in 8 have magnitude 1
  unsigned most_bits;      ///< of the others' magnitudes
  std::uint64_t outliers;  ///< one code in this many is an outlier
};

Pass random_pass(Random& random, std::uint64_t most_codes, std::uint32_t centre) {
  Pass pass;
  const std::uint64_t count = random.one_in(8) ? random.below(4) : random.below(most_codes + 1);
  const std::size_t contexts = random.one_in(3) ? 1 : 1 + random.below(random.one_in(9) ? 255 : 48);
  const bool has_contexts = contexts > 1 || random.one_in(2);
  const bool is_silent = random.one_in(8);
  std::vector<Habit> habits(contexts);
  for (Habit& habit : habits) {
    habit = {random.one_in(2) ? 1 : 1 + random.below(random.one_in(2) ? 4 : 300), random.below(9),
             static_cast<unsigned>(1 + random.below(random.one_in(3) ? 15 : 4)),
             random.one_in(3) ? 20U : 3000U};
    if (is_silent) habit.one_in = ~0ULL;
  }
  const std::uint64_t run = 1 + random.below(random.one_in(3) ? 200 : 40);
  std::size_t context = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    if (i % run == 0) context = random.below(contexts);
    const Habit& habit = habits[context];
    std::uint32_t magnitude = 0;
    if (!is_silent && random.one_in(habit.one_in)) {
      magnitude = random.below(8) < habit.ones
                      ? 1
                      : static_cast<std::uint32_t>(random.below(1ULL << habit.most_bits));
    }
    magnitude = std::min(magnitude, centre - 1);
    auto code = static_cast<QuantCode>(random.one_in(2) ? centre + magnitude : centre - magnitude);
    if (!is_silent && random.one_in(habit.outliers)) code = outlier_code;
    pass.codes.push_back(code);
    if (has_contexts) pass.contexts.push_back(static_cast<std::uint8_t>(context));
  }
  pass.shape = {count + random.below(1 + count / 4), contexts};
  return pass;
}

std::vector<Level> random_levels(Random& random, std::uint64_t most_codes, std::uint32_t centre) {
  std::vector<Level> levels(1 + random.below(4));
  for (Level& level : levels) {
    const std::uint64_t passes = 1 + random.below(4);
    for (std::uint64_t i = 0; i < passes; ++i) {
      level.push_back(random_pass(random, most_codes, centre));
    }
    most_codes = std::max<std::uint64_t>(most_codes / 2, 4);
  }
  return levels;
}

AnsParams random_params(Random& random) {
  return {random.pick({1U, 2U, 512U, 20'000U, 32'768U}),
          random.pick({IndexKind::none, IndexKind::offset, IndexKind::length, IndexKind::hybrid}),
          static_cast<std::uint32_t>(1 + random.below(5))};
}

std::vector<PassShape> shapes_of(const Level& level) {
  std::vector<PassShape> shapes;
  for (const Pass& pass : level) shapes.push_back(pass.shape);
  return shapes;
}

std::vector<cpu::AnsStream> encode_on_cpu(const AnsParams& params,
                                          const std::vector<Level>& levels) {
  std::vector<cpu::AnsStream> streams;
  for (const Level& level : levels) {
    Level copy = level;
    std::vector<cpu::PassCodes> passes;
    for (Pass& pass : copy) passes.push_back({pass.codes, pass.contexts, pass.shape});
    streams.push_back(cpu::ans_encode(params, passes));
  }
  return streams;
}

const std::uint8_t* upload_contexts(gpu::DeviceContext& gpu, const Pass& pass) {
  if (pass.contexts.empty()) return nullptr;
  return upload(gpu, pass.contexts.data(), pass.contexts.size());
}

std::vector<gpu::LevelSymbols> upload(gpu::DeviceContext& gpu, const std::vector<Level>& levels) {
  std::vector<gpu::LevelSymbols> on_device;
  for (const Level& level : levels) {
    gpu::LevelSymbols& symbols = on_device.emplace_back();
    for (const Pass& pass : level) {
      symbols.push_back({upload(gpu, pass.codes.data(), pass.codes.size()),
                         upload_contexts(gpu, pass), pass.codes.size(), pass.shape});
    }
  }
  return on_device;
}

std::vector<std::byte> to_host(gpu::DeviceContext& gpu, Bytes bytes) {
  const std::byte* const host = download(gpu, bytes.data(), bytes.size());
  gpu.sync();
  return {host, host + bytes.size()};
}

/// A copy on the device at an address of any alignment.
Bytes upload(gpu::DeviceContext& gpu, Random& random, const std::vector<std::byte>& bytes) {
  if (bytes.empty()) return {};
  std::vector<std::byte> shifted(random.below(8));
  const std::size_t shift = shifted.size();
  shifted.insert(shifted.end(), bytes.begin(), bytes.end());
  return Bytes(upload(gpu, shifted.data(), shifted.size()), shifted.size()).subspan(shift);
}

using Codes = std::vector<std::vector<QuantCode>>;  ///< [pass of all levels]

/// What the device decodes; none if it refuses.
std::optional<Codes> decode_on_gpu(gpu::DeviceContext& gpu, Random& random, const AnsParams& params,
                                   const std::vector<Level>& levels,
                                   const std::vector<cpu::AnsStream>& streams) {
  gpu.reset();
  std::vector<std::vector<PassShape>> shapes;
  std::vector<std::vector<Sections>> sections;
  for (std::size_t i = 0; i < levels.size(); ++i) {
    shapes.push_back(shapes_of(levels[i]));
    sections.emplace_back(levels[i].size());
    const Bytes index = upload(gpu, random, streams[i].index);
    const Bytes codes = upload(gpu, random, streams[i].codes);
    if (!index.empty()) sections.back().front().add(SectionId::index, index);
    if (!codes.empty()) sections.back().front().add(SectionId::codes, codes);
  }
  std::vector<CodedLevel> coded;
  for (std::size_t i = 0; i < levels.size(); ++i) coded.push_back({shapes[i], sections[i]});
  try {
    const gpu::AnsCodes decoded(gpu, params, coded);
    Codes all;
    for (const Level& level : levels) {
      for (const Pass& pass : level) {
        const std::uint64_t count = pass.codes.size();
        auto* const codes = gpu.take<QuantCode>(count);
        decoded.place(all.size(), upload_contexts(gpu, pass), count, codes);
        const QuantCode* const host = download(gpu, codes, count);
        gpu.sync();
        all.emplace_back(host, host + count);
      }
    }
    const std::uint32_t& flaws = *download(gpu, gpu.flaws(), 1);
    gpu.sync();
    if (flaws != 0) return std::nullopt;
    return all;
  } catch (const ArchiveError&) {
    gpu.sync();
    return std::nullopt;
  }
}

std::optional<Codes> decode_on_cpu(const AnsParams& params, const std::vector<Level>& levels,
                                   const std::vector<cpu::AnsStream>& streams) {
  try {
    Codes all;
    for (std::size_t i = 0; i < levels.size(); ++i) {
      const std::vector<PassShape> shapes = shapes_of(levels[i]);
      const cpu::AnsLevel level(params, streams[i].index, streams[i].codes, shapes);
      for (std::size_t pass = 0; pass < shapes.size(); ++pass) {
        std::vector<QuantCode> codes(levels[i][pass].codes.size());
        level.place(pass, levels[i][pass].contexts, codes);
        all.push_back(std::move(codes));
      }
    }
    return all;
  } catch (const ArchiveError&) {
    return std::nullopt;
  }
}

void check_frames(std::uint64_t seed, int frames, std::uint64_t most_codes) {
  if (device() == nullptr) return;
  gpu::DeviceContext gpu;
  Random random(seed);
  for (int i = 0; i < frames; ++i) {
    INFO("frame " << i << " of seed " << seed);
    const AnsParams params = random_params(random);
    const std::vector<Level> levels = random_levels(random, most_codes, params.centre);
    const auto expected = encode_on_cpu(params, levels);
    gpu.reset();
    const auto symbols = upload(gpu, levels);
    const auto made = gpu::ans_encode(gpu, params, symbols);
    REQUIRE(made.size() == expected.size());
    for (std::size_t k = 0; k < made.size(); ++k) {
      INFO("level " << k);
      REQUIRE(to_host(gpu, made[k].index) == expected[k].index);
      REQUIRE(made[k].codes.size() == expected[k].codes.size());
      REQUIRE(to_host(gpu, made[k].codes) == expected[k].codes);
    }
    const std::optional<Codes> decoded = decode_on_gpu(gpu, random, params, levels, expected);
    REQUIRE(decoded);
    std::size_t pass = 0;
    for (const Level& level : levels) {
      for (const Pass& p : level) {
        INFO("pass " << pass);
        REQUIRE((*decoded)[pass++] == p.codes);
      }
    }
  }
}

void check_damaged(std::uint64_t seed, int frames, std::uint64_t most_codes) {
  if (device() == nullptr) return;
  gpu::DeviceContext gpu;
  Random random(seed);
  for (int i = 0; i < frames; ++i) {
    INFO("frame " << i << " of seed " << seed);
    const AnsParams params = random_params(random);
    std::vector<Level> levels = random_levels(random, most_codes, params.centre);
    auto streams = encode_on_cpu(params, levels);
    if (random.one_in(4)) {
      Level& level = levels[random.below(levels.size())];
      Pass& pass = level[random.below(level.size())];
      for (std::uint8_t& context : pass.contexts) {
        if (random.one_in(50)) context = static_cast<std::uint8_t>(random.below(256));
      }
    } else {
      cpu::AnsStream& stream = streams[random.below(streams.size())];
      if (stream.codes.empty()) continue;
      const std::size_t part =
          random.one_in(2) ? std::min<std::size_t>(64, stream.codes.size()) : stream.codes.size();
      std::vector<std::byte>& bytes =
          random.one_in(5) && !stream.index.empty() ? stream.index : stream.codes;
      if (random.one_in(4)) {
        bytes.resize(random.below(bytes.size()));
      } else {
        bytes[random.below(std::min(part, bytes.size()))] ^=
            static_cast<std::byte>(1 + random.below(255));
      }
    }
    const std::optional<Codes> expected = decode_on_cpu(params, levels, streams);
    const std::optional<Codes> decoded = decode_on_gpu(gpu, random, params, levels, streams);
    REQUIRE(decoded.has_value() == expected.has_value());
    if (expected) REQUIRE(*decoded == *expected);
  }
}

}  // namespace

TEST_CASE("small chains of ANS have the same bytes on both backends and come back", "[gpu][ans]") {
  check_frames(1, 300, 3'000);
}

TEST_CASE("chains of ANS have the same bytes on both backends and come back", "[gpu][ans]") {
  check_frames(2, 30, 100'000);
  check_frames(3, 4, 1'500'000);
}

TEST_CASE("damaged chains of ANS are refused where the CPU refuses them", "[gpu][ans]") {
  check_damaged(4, 400, 3'000);
  check_damaged(5, 40, 100'000);
}

TEST_CASE("a few small chains of ANS, for memory and race checkers", "[gpu][.checker]") {
  check_frames(6, 25, 3'000);
  check_frames(7, 1, 100'000);
  check_damaged(8, 60, 3'000);
}

TEST_CASE("tokens are put into a state without a division") {
  Random random(9);
  for (std::uint32_t frequency = 1; frequency <= probability_one; ++frequency) {
    const auto first = static_cast<std::uint32_t>(random.below(probability_one - frequency + 1));
    const TokenShare share{frequency, first};
    const auto packed = gpu::PackedShare::of(share);
    const std::uint64_t end = std::uint64_t{frequency} << (32 - probability_bits);
    for (int i = 0; i < 200; ++i) {
      std::uint64_t state = random.below(end);
      if (i < 4) state = end - 1 - static_cast<unsigned>(i);
      if (i >= 100)
        state = state / frequency * frequency - (i % 2 != 0 && state > frequency ? 1 : 0);
      const auto small = static_cast<std::uint32_t>(state);
      REQUIRE(packed.put(small) == put_token(small, share));
    }
  }
}

}  // namespace cuszi::test

// Device-resident speed of `ans` alone, on synthetic codes and contexts.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "gpu/coders/ans.cuh"
#include "gpu/runtime/copies.hpp"
#include "gpu/runtime/launch.cuh"

namespace cuszi {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::uint32_t centre = 32'768;
constexpr std::size_t groups = 3;
constexpr std::size_t contexts_of_group = 16;

__device__ std::uint64_t hash(std::uint64_t x) {
  x *= 0x9E3779B97F4A7C15U;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9U;
  return (x ^ (x >> 27)) * 0x94D049BB133111EBU;
}

/// Contexts change every few points within a region; codes are exponential with a scale by context.
__global__ void make_codes(QuantCode* codes, std::uint8_t* contexts, std::uint64_t count,
                           float loudness) {
  const std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const auto region = static_cast<int>(hash(i / 4096) >> 61);
  const auto near = static_cast<int>(hash(i / 16 + count) >> 62);
  const int bucket = min(15, region + near);
  contexts[i] = static_cast<std::uint8_t>(bucket + 16 * (hash(i + 77) % groups));
  const float u = (static_cast<float>(hash(i + 1'000'003) >> 40) + 0.5F) * 0x1p-24F;
  const float scale = loudness * exp2f(0.8F * static_cast<float>(bucket));
  const auto magnitude = static_cast<std::uint32_t>(min(-logf(u) * scale + 0.3F, 30'000.F));
  codes[i] =
      static_cast<QuantCode>((hash(i + 5) & 1) != 0 ? centre + magnitude : centre - magnitude);
}

template <class Step>
double median_ms(gpu::DeviceContext& gpu, const Step& step) {
  std::vector<double> times;
  for (int i = 0; i < 11; ++i) {
    gpu.sync();
    const auto start = Clock::now();
    step();
    gpu.sync();
    times.push_back(std::chrono::duration<double, std::milli>(Clock::now() - start).count());
  }
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

void run(std::uint64_t points, float loudness) {
  gpu::DeviceContext input;
  std::vector<gpu::LevelSymbols> levels;
  std::uint64_t all = 0;
  for (std::uint64_t of_level = points * 7 / 8; of_level > 8; of_level /= 8) {
    gpu::LevelSymbols& level = levels.emplace_back();
    for (int pass = 0; pass < 3; ++pass) {
      const std::uint64_t count = of_level / 3;
      level.push_back({input.take<QuantCode>(count),
                       input.take<std::uint8_t>(count),
                       count,
                       {count, groups * contexts_of_group}});
      make_codes<<<gpu::blocks_for(count, 256), 256, 0, input.stream()>>>(
          level.back().codes, const_cast<std::uint8_t*>(level.back().contexts), count, loudness);
      gpu::check_launch("make_codes");
      all += count;
    }
  }
  std::reverse(levels.begin(), levels.end());
  input.sync();

  gpu::DeviceContext gpu;
  const AnsParams params{centre};
  std::vector<gpu::AnsStream> streams;
  const auto encode = [&] {
    gpu.reset();
    streams = gpu::ans_encode(gpu, params, levels);
  };
  encode();
  const double encoding = median_ms(gpu, encode);
  const ByteCount encoder_bytes = gpu.memory().peak();

  ByteCount bytes = 0;
  std::vector<std::vector<PassShape>> shapes;
  std::vector<std::vector<Sections>> sections;
  for (std::size_t i = 0; i < levels.size(); ++i) {
    shapes.emplace_back();
    for (const gpu::PassSymbols& pass : levels[i]) shapes.back().push_back(pass.shape);
    sections.emplace_back(levels[i].size());
    for (const auto& [id, from] : {std::pair{SectionId::index, streams[i].index},
                                   std::pair{SectionId::codes, streams[i].codes}}) {
      auto* const copy = input.take<std::byte>(from.size());
      gpu::start_copy(input, copy, from.data(), from.size());
      if (!from.empty()) sections.back().front().add(id, Bytes(copy, from.size()));
      bytes += from.size();
    }
  }
  input.sync();
  std::vector<CodedLevel> coded;
  for (std::size_t i = 0; i < levels.size(); ++i) coded.push_back({shapes[i], sections[i]});
  QuantCode* const out = input.take<QuantCode>(all);
  const double decoding = median_ms(gpu, [&] {
    gpu.reset();
    const gpu::AnsCodes decoded(gpu, params, coded);
  });
  const double placing = median_ms(gpu, [&] {
    gpu.reset();
    const gpu::AnsCodes decoded(gpu, params, coded);
    std::size_t pass = 0;
    QuantCode* to = out;
    for (const gpu::LevelSymbols& level : levels) {
      for (const gpu::PassSymbols& symbols : level) {
        decoded.place(pass++, symbols.contexts, symbols.count, to);
        to += symbols.count;
      }
    }
  });
  std::vector<QuantCode> made(all);
  std::vector<QuantCode> expected(all);
  gpu::start_copy(input, made.data(), static_cast<const QuantCode*>(out), all);
  std::uint64_t at = 0;
  for (const gpu::LevelSymbols& level : levels) {
    for (const gpu::PassSymbols& symbols : level) {
      gpu::start_copy(input, expected.data() + at, static_cast<const QuantCode*>(symbols.codes),
                      symbols.count);
      at += symbols.count;
    }
  }
  input.sync();
  const double symbols = static_cast<double>(all);
  std::printf(
      "%9.0f codes, %.3f bits each: encode %.3f ms = %.1f G/s; decode %.3f ms; decode and "
      "place %.3f ms = %.1f G/s; arena %.2f / %.2f bytes a code; %s\n",
      symbols, 8 * static_cast<double>(bytes) / symbols, encoding, symbols / encoding / 1e6,
      decoding, placing, symbols / placing / 1e6, static_cast<double>(encoder_bytes) / symbols,
      static_cast<double>(gpu.memory().peak()) / symbols, made == expected ? "same" : "DIFFERENT");
}

}  // namespace

}  // namespace cuszi

int main(int argc, char** argv) {
  const std::uint64_t points = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 16'777'216;
  for (const float loudness : {0.003F, 0.03F, 0.3F}) {
    if (argc > 2 && std::strtof(argv[2], nullptr) != loudness) continue;
    cuszi::run(points, loudness);
  }
}

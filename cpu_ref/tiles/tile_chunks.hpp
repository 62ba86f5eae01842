#pragma once

#include <algorithm>
#include <cstring>
#include <span>
#include <vector>

#include "core/tiles/tiles.hpp"
#include "cpu_ref/base/parallel.hpp"
#include "cpu_ref/base/wide_vectors.hpp"
#include "cpu_ref/base/workspace.hpp"

namespace cuszi::cpu {

class ChunkWriter {
 public:
  void add_head(const TileHead& head) { heads_[tiles_++] = head.word(); }
  void add_words(std::span<const std::uint32_t> words) {
    std::memcpy(words_.data() + word_count_, words.data(), words.size_bytes());
    word_count_ += words.size();
  }
  void add_bytes(std::uint64_t bits, std::uint32_t count) {
    std::memcpy(bytes_.data() + byte_count_, &bits, sizeof bits);
    byte_count_ += count;
  }

  void move_to(std::vector<std::uint32_t>& out) {
    out.insert(out.end(), heads_, heads_ + tiles_);
    out.insert(out.end(), words_.data(), words_.data() + word_count_);
    const std::size_t at = out.size();
    out.resize(at + ceil_div(byte_count_, 4), 0);
    std::memcpy(out.data() + at, bytes_.data(), byte_count_);
    tiles_ = word_count_ = byte_count_ = 0;
  }

 private:
  static constexpr std::size_t room = max_chunk_words<float> + chunk_tiles<float>;
  std::uint32_t heads_[chunk_tiles<float>] = {};
  std::size_t tiles_ = 0;
  std::size_t word_count_ = 0;
  std::size_t byte_count_ = 0;
  std::vector<std::uint32_t> words_ = std::vector<std::uint32_t>(room);
  std::vector<std::uint8_t> bytes_ = std::vector<std::uint8_t>(4 * room);
};

struct ChunkRun {
  static constexpr std::uint64_t most_chunks = 64;

  std::vector<std::uint32_t> begins;
  std::vector<std::uint32_t> words;
};

template <class T, class Encoder>
ChunkRun code_run(const TileGrid& grid, std::uint64_t number, Encoder& encoder,
                  ChunkWriter& writer) {
  ChunkRun run;
  const std::uint64_t first = number * ChunkRun::most_chunks;
  const std::uint64_t end = std::min(grid.chunks, first + ChunkRun::most_chunks);
  for (std::uint64_t chunk = first; chunk < end; ++chunk) {
    run.begins.push_back(static_cast<std::uint32_t>(run.words.size()));
    const std::uint64_t last = std::min(grid.count, (chunk + 1) * chunk_tiles<T>);
    for (std::uint64_t tile = chunk * chunk_tiles<T>; tile < last; ++tile)
      encoder.code(tile, writer);
    writer.move_to(run.words);
  }
  return run;
}

inline std::vector<OwnedSection> join(const std::vector<ChunkRun>& runs, std::uint64_t chunks) {
  std::vector<std::uint64_t> begins(runs.size() + 1);
  for (std::size_t i = 0; i < runs.size(); ++i) begins[i + 1] = begins[i] + runs[i].words.size();
  OwnedSection index{SectionId::index, std::vector<std::byte>(4 * chunks)};
  OwnedSection codes{SectionId::codes, std::vector<std::byte>(4 * begins.back())};
  parallel_for(runs.size(), [&](std::uint64_t i) {
    const ChunkRun& run = runs[i];
    std::memcpy(codes.bytes.data() + 4 * begins[i], run.words.data(), 4 * run.words.size());
    for (std::size_t chunk = 0; chunk < run.begins.size(); ++chunk) {
      const auto begin = static_cast<std::uint32_t>(begins[i] + run.begins[chunk]);
      std::memcpy(index.bytes.data() + 4 * (i * ChunkRun::most_chunks + chunk), &begin, 4);
    }
  });
  std::vector<OwnedSection> sections;
  sections.push_back(std::move(index));
  sections.push_back(std::move(codes));
  return sections;
}

/// Index and codes of a frame's tiles of values of type T. `make` returns an encoder, `finish`
/// takes each of them.
template <class T, class Make, class Finish>
std::vector<OwnedSection> code_chunks(const TileGrid& grid, const Make& make,
                                      const Finish& finish) {
  struct State {
    decltype(make()) encoder;
    ChunkWriter writer = {};
  };
  std::vector<ChunkRun> runs(ceil_div(grid.chunks, ChunkRun::most_chunks));
  parallel_for(
      runs.size(), [&] { return State{make()}; },
      [&](State& state, std::uint64_t i) {
        runs[i] =
            with_wide_vectors([&] { return code_run<T>(grid, i, state.encoder, state.writer); });
      },
      [&](const State& state) { finish(state.encoder); });
  return join(runs, grid.chunks);
}

}  // namespace cuszi::cpu

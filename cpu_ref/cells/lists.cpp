#include <algorithm>
#include <cstring>

#include "core/base/error.hpp"
#include "core/cells/sparse_block.hpp"
#include "cpu_ref/base/parallel.hpp"
#include "cpu_ref/cells/chains.hpp"

namespace cuszi::cpu {

namespace {

constexpr std::uint64_t sparse_group = 4096;  ///< sparse blocks of a thread at a time

/// The bits of the lists of sparse blocks before each of them, and all.
std::vector<std::uint64_t> list_offsets(const CellBlocks& all,
                                        const std::vector<std::uint64_t>& sparse) {
  std::vector<std::uint64_t> offsets{0};
  offsets.reserve(sparse.size() + 1);
  for (const std::uint64_t block : sparse)
    offsets.push_back(offsets.back() + list_bits(all.classes[block]));
  return offsets;
}

}  // namespace

std::vector<std::uint16_t> pack_lists(const CellBlocks& all,
                                      const std::vector<std::uint64_t>& sparse) {
  std::vector<std::uint32_t> lists(sparse.size());
  parallel_for(ceil_div(sparse.size(), sparse_group), [&](std::uint64_t group) {
    const std::size_t end = std::min<std::size_t>((group + 1) * sparse_group, sparse.size());
    for (std::size_t i = group * sparse_group; i < end; ++i) {
      UnitLister units;
      const std::int16_t* const codes = all.codes + sparse[i] * cell_block_codes;
      for (std::uint32_t k = 0; k < cell_block_codes; ++k)
        if (codes[k] != 0) units.add(k, codes[k]);
      lists[i] = units.list();
    }
  });
  const std::vector<std::uint64_t> offsets = list_offsets(all, sparse);
  std::vector<std::uint16_t> words(list_words(offsets.back()) + 2);
  for (std::size_t i = 0; i < sparse.size(); ++i) {
    const std::uint64_t bits = std::uint64_t{lists[i]} << offsets[i] % list_word_bits;
    std::uint16_t* const at = words.data() + offsets[i] / list_word_bits;
    for (unsigned k = 0; k < 3; ++k)
      at[k] |= static_cast<std::uint16_t>(bits >> list_word_bits * k);
  }
  words.resize(words.size() - 2);
  return words;
}

void unpack_lists(const CellBlocks& all, const std::vector<std::uint64_t>& sparse,
                  std::vector<std::uint16_t> carried, Bytes section) {
  const std::vector<std::uint64_t> offsets = list_offsets(all, sparse);
  const std::uint64_t count = list_words(offsets.back());
  if (section.size() != list_bytes(count, carried.size())) throw ArchiveError(cells_damage);
  std::vector<std::uint16_t> words = std::move(carried);
  words.resize(words.size() + section.size() / 2);
  std::memcpy(words.data() + words.size() - section.size() / 2, section.data(), section.size());
  const auto end = words.begin() + static_cast<std::ptrdiff_t>(count);
  if (std::any_of(end, words.end(), [](auto word) { return word != 0; }))
    throw ArchiveError(cells_damage);
  words.resize(count + 2);
  parallel_for(ceil_div(sparse.size(), sparse_group), [&](std::uint64_t group) {
    const std::size_t last = std::min<std::size_t>((group + 1) * sparse_group, sparse.size());
    for (std::size_t i = group * sparse_group; i < last; ++i) {
      std::int16_t* const codes = all.codes + sparse[i] * cell_block_codes;
      std::fill_n(codes, cell_block_codes, std::int16_t{0});
      add_units(list_at(words, offsets[i]), all.classes[sparse[i]], codes);
    }
  });
}

LiveBlocks CellBlocks::live(int pass) const {
  LiveBlocks live;
  const std::uint32_t first = first_block_of_pass(rank, pass);
  const std::uint32_t count = blocks_of_pass(rank, pass);
  for (std::uint64_t tile = 0; tile < tiles; ++tile) {
    const std::uint64_t begin = tile * tile_blocks + first;
    for (std::uint64_t block = begin; block < begin + count; ++block) {
      if (classes[block] == 0) continue;
      const bool is_sparse = is_sparse_block(classes[block], coded_of(block));
      (is_sparse ? live.sparse : live.coded).push_back(block);
    }
  }
  return live;
}

}  // namespace cuszi::cpu

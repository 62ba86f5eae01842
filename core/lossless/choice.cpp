#include "core/lossless/choice.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "core/lossless/word_chains.hpp"
#include "core/tuning/fit_sample.hpp"

namespace cuszi {

namespace {

/// A box for so many points of the frame, within limits.
constexpr std::uint64_t points_of_box = 1U << 15;
constexpr std::uint64_t fewest_boxes = 4;
constexpr std::uint64_t most_boxes = 32;
/// Another choice than first differences along all axes, or than the best so far, must win so much.
constexpr std::uint64_t margin = 128;

/// The map whose word 0 is the median.
template <class Word>
WordMap<Word> centred(WordMap<Word> map, std::span<const Word> base_sample) {
  std::vector<Word> words;
  for (const Word bits : base_sample) words.push_back(map.word_of(bits));
  const auto middle = words.begin() + static_cast<std::ptrdiff_t>(words.size() / 2);
  std::nth_element(words.begin(), middle, words.end());
  map.base = *middle;
  return map;
}

/// What the tokens of a choice, and their tables, cost in boxes.
template <class Word>
Cost cost_of(const Word* bits, const Extents3& extents, std::span<const WordBox> boxes,
             const WordChoice<Word>& choice) {
  const Extents3 block = WordGrid::block_of_rank(rank_of(extents));
  WordCounts counts;
  for (const WordBox& box : boxes) {
    std::vector<Word> words(count_of(box.size));
    predict_box(bits, choice, extents, box, block, words.data());
    std::span<const Word> rest(words);
    for_each_block(box.size, block, [&](const Extents3& at, const Extents3& size) {
      if (is_counted(at, box.size, block))
        count_block(rest.first(count_of(size)), counts.tokens.data());
      rest = rest.subspan(count_of(size));
    });
  }
  WordTables tables;
  return counts.choose(tables) + (counts.raw_bits() << cost_bits);
}

}  // namespace

template <class Word>
void predict_box(const Word* bits, const WordChoice<Word>& choice, const Extents3& extents,
                 const WordBox& box, const Extents3& block, Word* to) {
  const WordMap<Word> map = choice.map;
  std::vector<Word> words(count_of(box.size));
  Word* next = words.data();
  for_each_row_of_block(extents, box.first, box.size, [&](std::uint64_t at, std::uint64_t points) {
    for (std::uint64_t x = 0; x < points; ++x) *next++ = map.word_of(bits[at + x]);
  });
  take_differences(words.data(), box.size, choice.orders);
  for_each_block(box.size, block, [&](const Extents3& at, const Extents3& size) {
    for_each_row_of_block(box.size, at, size, [&](std::uint64_t offset, std::uint64_t points) {
      for (std::uint64_t x = 0; x < points; ++x)
        *to++ = shifted_right(words[offset + x], map.shift());
    });
  });
}

template <class Word>
WordScales ScaleScan<Word>::scales() const {
  const Word lowest = seen & (Word{0} - seen);
  const int zeros = seen == 0 ? WordMap<Word>::digits : static_cast<int>(bit_width_of(lowest)) - 1;
  WordScales found{std::min(zeros, WordMap<Word>::digits - 1), {}};
  if (may_be_multiples() && least < end) found.multiples = least;
  return found;
}

template <class Word>
WordScales scales_of(std::span<const Word> bits, const ForEach& for_each) {
  constexpr std::size_t piece = 1 << 18;
  std::vector<ScaleScan<Word>> scans(ceil_div(bits.size(), piece));
  for_each(scans.size(), [&](std::size_t i) {
    const std::size_t first = i * piece;
    for (const Word word : bits.subspan(first, std::min(piece, bits.size() - first))) {
      if (scans[i].is_settled()) break;
      scans[i].add(word);
    }
  });
  ScaleScan<Word> all;
  for (const ScaleScan<Word>& scan : scans) all.add(scan);
  return all.scales();
}

std::vector<WordBox> sample_boxes(const Extents3& extents) {
  const int rank = rank_of(extents);
  const std::uint64_t most = rank == 1 ? 1U << 12 : rank == 2 ? 1U << 6 : 1U << 4;
  Extents3 size{};
  std::uint64_t places = 1;
  for (std::size_t axis = 0; axis < size.size(); ++axis) {
    size[axis] = std::min(extents[axis], most);
    places *= extents[axis] / size[axis];
  }
  const std::uint64_t wanted =
      std::clamp(count_of(extents) / points_of_box, fewest_boxes, most_boxes);
  // Multiples modulo 1 of powers of the root of x^4 = x + 1 fill a cube evenly.
  constexpr std::array<std::uint64_t, 3> spread{3518319155U, 2882110345U, 2360945575U};
  std::vector<WordBox> boxes;
  for (std::uint64_t i = 0; i < std::min(wanted, places); ++i) {
    WordBox box{{}, size};
    for (std::size_t axis = 0; axis < size.size(); ++axis) {
      const std::uint64_t share = (i + 1) * spread[axis] & 0xFFFFFFFFU;
      const std::uint64_t starts = extents[axis] - size[axis] + 1;
      box.first[axis] = share * (starts >> 32) + (share * (starts & 0xFFFFFFFFU) >> 32);
    }
    boxes.push_back(box);
  }
  return boxes;
}

template <class Word>
WordChoice<Word> choose_words(const Extents3& extents, const WordScales& scales,
                              std::span<const Word> base_sample, const CostsOf<Word>& costs_of) {
  const auto map_of = [&](WordOrder order, int scale, Word factor = 1) {
    return centred({order, scale, 0, factor}, base_sample);
  };
  Orders first{};
  for (std::size_t axis = 0; axis < first.size(); ++axis) first[axis] = extents[axis] > 1 ? 1 : 0;
  const bool are_integers = scales.integer_step != 0;
  WordMap<Word> map = are_integers
                          ? map_of(WordOrder::integers, 0, static_cast<Word>(scales.integer_step))
                          : map_of(WordOrder::by_value, scales.zeros);
  if (!are_integers && scales.multiples) {
    const WordChoice<Word> both[] = {{map, first},
                                     {map_of(WordOrder::multiples, *scales.multiples), first}};
    const std::vector<Cost> costs = costs_of(both);
    if (costs[1] <= costs[0]) map = both[1].map;
  }
  std::vector<WordChoice<Word>> choices{{map, first}};
  if (!are_integers) choices.push_back({map_of(WordOrder::sign_last, scales.zeros), {}});
  Orders orders{};
  const auto end = [&](std::size_t axis) { return extents[axis] > 1 ? most_order : 0; };
  for (orders[0] = 0; orders[0] <= end(0); ++orders[0])
    for (orders[1] = 0; orders[1] <= end(1); ++orders[1])
      for (orders[2] = 0; orders[2] <= end(2); ++orders[2])
        if (orders != first) choices.push_back({map, orders});
  const std::vector<Cost> costs = costs_of(choices);
  std::size_t best = 0;
  for (std::size_t i = 1; i < costs.size(); ++i)
    if (costs[i] + costs[0] / margin < costs[0] && costs[i] < costs[best]) best = i;
  return choices[best];
}

template <class Word>
WordChoice<Word> choose_words(const Word* bits, const Extents3& extents, const WordScales& scales,
                              const ForEach& for_each) {
  const std::uint64_t points = count_of(extents);
  std::vector<Word> base_sample(std::min(points, most_base_samples));
  for (std::size_t i = 0; i < base_sample.size(); ++i)
    base_sample[i] = bits[sampled_point(i, base_sample.size(), points)];
  const std::vector<WordBox> boxes = sample_boxes(extents);
  return choose_words<Word>(extents, scales, base_sample,
                            [&](std::span<const WordChoice<Word>> choices) {
                              std::vector<Cost> costs(choices.size());
                              for_each(choices.size(), [&](std::size_t i) {
                                costs[i] = cost_of<Word>(bits, extents, boxes, choices[i]);
                              });
                              return costs;
                            });
}

template struct ScaleScan<std::uint32_t>;
template struct ScaleScan<std::uint64_t>;
template void predict_box(const std::uint32_t*, const WordChoice<std::uint32_t>&, const Extents3&,
                          const WordBox&, const Extents3&, std::uint32_t*);
template void predict_box(const std::uint64_t*, const WordChoice<std::uint64_t>&, const Extents3&,
                          const WordBox&, const Extents3&, std::uint64_t*);
template WordScales scales_of(std::span<const std::uint32_t>, const ForEach&);
template WordScales scales_of(std::span<const std::uint64_t>, const ForEach&);
template WordChoice<std::uint32_t> choose_words(const Extents3&, const WordScales&,
                                                std::span<const std::uint32_t>,
                                                const CostsOf<std::uint32_t>&);
template WordChoice<std::uint64_t> choose_words(const Extents3&, const WordScales&,
                                                std::span<const std::uint64_t>,
                                                const CostsOf<std::uint64_t>&);
template WordChoice<std::uint32_t> choose_words(const std::uint32_t*, const Extents3&,
                                                const WordScales&, const ForEach&);
template WordChoice<std::uint64_t> choose_words(const std::uint64_t*, const Extents3&,
                                                const WordScales&, const ForEach&);

}  // namespace cuszi

#include "core/lossless/choice.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <vector>

#include "core/lossless/word_chains.hpp"

namespace cuszi {

namespace {

/// A box for so many points of the frame, within limits.
constexpr std::uint64_t points_of_box = 1U << 15;
constexpr std::uint64_t fewest_boxes = 4;
constexpr std::uint64_t most_boxes = 32;
/// Another choice than first differences along all axes, or than the best so far, must win so much.
constexpr std::uint64_t margin = 128;

/// Boxes of about 4096 points, spread over the frame.
std::vector<WordBox> boxes_of(const Extents3& extents) {
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
class ScaleScan {
 public:
  void add(Word bits) {
    seen_ |= bits;
    const auto parts = FloatParts<Word>::of(bits);
    if (parts.magnitude == 0) {
      is_odd_ |= bits != 0;  // -0
      return;
    }
    is_odd_ |= !FloatParts<Word>::is_finite(bits);
    least_ = std::min(least_, parts.exponent + std::countr_zero(parts.magnitude));
    end_ = std::max(end_, parts.exponent + static_cast<int>(std::bit_width(parts.magnitude)));
  }
  void add(const ScaleScan& other) {
    seen_ |= other.seen_;
    is_odd_ |= other.is_odd_;
    least_ = std::min(least_, other.least_);
    end_ = std::max(end_, other.end_);
  }
  WordScales scales() const {
    constexpr int digits = WordMap<Word>::digits;
    WordScales scales{std::min(std::countr_zero(seen_), digits - 1), {}};
    if (!is_odd_ && least_ < end_ && end_ - least_ < digits) scales.multiples = least_;
    return scales;
  }

 private:
  Word seen_ = 0;
  bool is_odd_ = false;  ///< a value is no integer times a power of two
  int least_ = FloatParts<Word>::exponents;
  int end_ = 0;  ///< all values are below 2^end_
};

template <class Word>
class WordSample {
 public:
  WordSample(const Word* bits, const Extents3& extents)
      : boxes_(boxes_of(extents)), block_(WordGrid::block_of_rank(rank_of(extents))) {
    for (const WordBox& box : boxes_)
      for_each_row_of_block(extents, box.first, box.size, [&](std::uint64_t at, std::uint64_t n) {
        bits_.insert(bits_.end(), bits + at, bits + at + n);
      });
  }

  /// The map whose word 0 is the median.
  WordMap<Word> centred(WordMap<Word> map) const {
    std::vector<Word> words(bits_.size());
    for (std::size_t i = 0; i < words.size(); ++i) words[i] = map.word_of(bits_[i]);
    const auto middle = words.begin() + static_cast<std::ptrdiff_t>(words.size() / 2);
    std::nth_element(words.begin(), middle, words.end());
    map.base = *middle;
    return map;
  }

  Cost cost(const WordChoice<Word>& choice) const {
    WordCounts counts;
    std::uint64_t raw_bits = 0;
    std::vector<Word> words;
    std::size_t first = 0;
    for (const WordBox& box : boxes_) {
      words.resize(count_of(box.size));
      for (std::size_t i = 0; i < words.size(); ++i)
        words[i] = choice.map.word_of(bits_[first + i]);
      first += words.size();
      take_differences(words.data(), box.size, choice.orders);
      for_each_block(box.size, block_, [&](const Extents3& at, const Extents3& size) {
        if (is_at_near_face(at, box.size)) return;
        raw_bits += add_block(words.data(), box.size, at, size, choice.map.shift(), counts);
      });
    }
    WordTables tables;
    return counts.choose(tables) + (raw_bits << cost_bits);
  }

 private:
  /// Differences there are larger than in a chunk.
  bool is_at_near_face(const Extents3& at, const Extents3& size) const {
    for (std::size_t axis = 0; axis < at.size(); ++axis)
      if (at[axis] == 0 && size[axis] > block_[axis]) return true;
    return false;
  }

  static std::uint64_t add_block(const Word* words, const Extents3& box, const Extents3& at,
                                 const Extents3& size, int shift, WordCounts& counts) {
    ClassSum sum;
    const auto each = [&](const auto& f) {
      for_each_row_of_block(box, at, size, [&](std::uint64_t offset, std::uint64_t points) {
        for (std::uint64_t i = 0; i < points; ++i) f(shifted_right(words[offset + i], shift));
      });
    };
    each([&](Word word) { sum.add(magnitude_of_word(word)); });
    const std::uint32_t number = sum.class_of_block();
    if (number == 0) return 0;
    std::uint64_t raw_bits = 0;
    each([&](Word word) {
      const WordToken token =
          token_of_word(magnitude_of_word(word), is_negative(word), octave_of_class(number));
      ++counts.tokens[number * token_places + token.token];
      raw_bits += token.raw_bits;
    });
    return raw_bits;
  }

  std::vector<WordBox> boxes_;
  Extents3 block_;
  std::vector<Word> bits_;
};

}  // namespace

template <class Word>
WordScales scales_of(std::span<const Word> bits, const ForEach& for_each) {
  constexpr std::size_t piece = 1 << 18;
  std::vector<ScaleScan<Word>> scans(ceil_div(bits.size(), piece));
  for_each(scans.size(), [&](std::size_t i) {
    const std::size_t first = i * piece;
    for (const Word word : bits.subspan(first, std::min(piece, bits.size() - first)))
      scans[i].add(word);
  });
  ScaleScan<Word> all;
  for (const ScaleScan<Word>& scan : scans) all.add(scan);
  return all.scales();
}

template <class Word>
WordChoice<Word> choose_orders(const Word* bits, const Extents3& extents, const WordScales& scales,
                               const ForEach& for_each) {
  const WordSample<Word> sample(bits, extents);
  Orders first{};
  for (std::size_t axis = 0; axis < first.size(); ++axis) first[axis] = extents[axis] > 1 ? 1 : 0;
  std::vector<WordChoice<Word>> choices;
  WordMap<Word> map;
  if (scales.integer_step != 0) {
    map = sample.centred({WordOrder::integers, 0, 0, static_cast<Word>(scales.integer_step)});
    choices = {{map, first}};
  } else {
    map = sample.centred({WordOrder::by_value, scales.zeros});
    if (scales.multiples) {
      const WordMap<Word> multiples = sample.centred({WordOrder::multiples, *scales.multiples});
      if (sample.cost({multiples, first}) <= sample.cost({map, first})) map = multiples;
    }
    choices = {{map, first}, {sample.centred({WordOrder::sign_last, scales.zeros}), {}}};
  }
  Orders orders{};
  const auto end = [&](std::size_t axis) { return extents[axis] > 1 ? most_order : 0; };
  for (orders[0] = 0; orders[0] <= end(0); ++orders[0])
    for (orders[1] = 0; orders[1] <= end(1); ++orders[1])
      for (orders[2] = 0; orders[2] <= end(2); ++orders[2])
        if (orders != first) choices.push_back({map, orders});
  std::vector<Cost> costs(choices.size());
  for_each(choices.size(), [&](std::size_t i) { costs[i] = sample.cost(choices[i]); });
  std::size_t best = 0;
  for (std::size_t i = 1; i < costs.size(); ++i)
    if (costs[i] + costs[0] / margin < costs[0] && costs[i] < costs[best]) best = i;
  return choices[best];
}

template WordScales scales_of(std::span<const std::uint32_t>, const ForEach&);
template WordScales scales_of(std::span<const std::uint64_t>, const ForEach&);
template WordChoice<std::uint32_t> choose_orders(const std::uint32_t*, const Extents3&,
                                                 const WordScales&, const ForEach&);
template WordChoice<std::uint64_t> choose_orders(const std::uint64_t*, const Extents3&,
                                                 const WordScales&, const ForEach&);

}  // namespace cuszi

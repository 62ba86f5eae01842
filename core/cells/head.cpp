#include "core/cells/head.hpp"

#include <bit>
#include <cstdlib>

#include "core/base/bits.hpp"

namespace cuszi {

namespace {

/// Bits of a weight in a head.
constexpr int weight_bits = 14;
static_assert(2 * most_weight < 1 << weight_bits);

/// Calls f(weights, odd) for all classes that have weights, the coarsest level first.
template <class Weights, class F>
void for_each_weights(int rank, Weights& weights, const F& f) {
  with_cell_rank(rank, [&]<class Shape>(Shape) {
    for (int level = Shape::levels; level-- > 0;)
      for (int number = 0; number < Shape::classes; ++number)
        if (order_of(Shape::odd_of(number)) > 1)
          f(weights.of[level][number], Shape::odd_of(number));
  });
}

template <class Tables, class F>
void for_each_table(Tables& tables, const F& f) {
  for (int i = 1; i < class_count; ++i) f(tables.codes[i], default_tables().codes[i], true);
  for (int i = 0; i < class_count; ++i) f(tables.classes[i], default_tables().classes[i], false);
}

/// The least and the largest sum of the magnitudes of a block of a class.
struct ClassSums {
  std::uint32_t least = 0;
  std::uint32_t largest = 0;

  explicit ClassSums(int number) {
    while (class_of_sum(least) < number) ++least;
    largest = least;
    while (number < class_count - 1 && class_of_sum(largest + 1) == number) ++largest;
    if (number == class_count - 1) largest = most_cell_code;
  }
};

/// Codes fall off by a constant share from one magnitude to the next, such that their mean is the
/// middle of the class's. A magnitude is no larger than the sum.
SymbolTable default_codes(int number) {
  const ClassSums sums(number);
  const FallingCodes falling(2 * cell_block_codes, sums.least + sums.largest);
  std::uint64_t weights[token_places] = {};
  for (std::uint32_t token = 0; token < cell_tokens; ++token) {
    std::uint32_t magnitude = (token + 1) / 2;
    std::uint64_t count = 1;
    if (token >= small_tokens) {
      magnitude = static_cast<std::uint32_t>(code_of_token(token, 0));
      count = std::uint64_t{1} << raw_bits_of_code_token(token);
    }
    if (magnitude > sums.largest) continue;
    const auto middle = static_cast<std::uint32_t>(magnitude + count / 4);
    weights[token] = falling.share_of(middle) * count + 1;
  }
  SymbolTable table{{}, 0, true};
  fit_frequencies(weights, true, table.frequencies);
  return table;
}

/// Classes near the context are likely; of block 0 all are alike.
SymbolTable default_classes(int context) {
  std::uint64_t weights[token_places] = {};
  for (int number = 0; number < class_count; ++number) {
    const int distance =
        context == static_cast<int>(coarse_context) ? 0 : std::abs(number - context);
    std::uint64_t weight = 1U << 20;
    for (int i = 0; i < distance; ++i) weight = weight * 3 / 8;
    weights[number] = weight + 1;
  }
  SymbolTable table{{}, 0, true};
  fit_frequencies(weights, false, table.frequencies);
  return table;
}

}  // namespace

const CellsTables& default_tables() {
  static const CellsTables tables = [] {
    CellsTables made{};
    for (int i = 0; i < class_count; ++i) {
      if (i > 0) made.codes[i] = default_codes(i);
      made.classes[i] = default_classes(i);
    }
    made.codes[0].is_default = true;
    return made;
  }();
  return tables;
}

std::vector<std::byte> CellsHead::write(int rank) const {
  BitWriter out;
  out.put(static_cast<std::uint64_t>(std::countr_zero(blocks_of_lane / fewest_blocks_of_lane)),
          lane_code_bits);
  for_each_weights(rank, weights, [&](const CoarseWeights& own, int odd) {
    const bool is_default = own == equal_weights(odd);
    out.put(is_default ? 1 : 0, 1);
    if (is_default) return;
    out.put(static_cast<std::uint32_t>(own.second + most_weight), weight_bits);
    out.put(static_cast<std::uint32_t>(own.third + most_weight), weight_bits);
  });
  for_each_table(tables, [&](const SymbolTable& table, const SymbolTable&, bool is_of_codes) {
    write_table(table, is_of_codes, out);
  });
  return out.take();
}

CellsHead CellsHead::read(Bytes bytes, int rank) {
  BitReader in(bytes, "the tables of `cells`");
  CellsHead head{};
  head.blocks_of_lane = fewest_blocks_of_lane << in.get(lane_code_bits);
  for_each_weights(rank, head.weights, [&](CoarseWeights& own, int odd) {
    own = equal_weights(odd);
    if (in.get(1) != 0) return;
    own.second = static_cast<std::int16_t>(static_cast<int>(in.get(weight_bits)) - most_weight);
    own.third = static_cast<std::int16_t>(static_cast<int>(in.get(weight_bits)) - most_weight);
    if (!own.is_valid()) throw ArchiveError("the weights of `cells` are out of range");
  });
  for_each_table(head.tables,
                 [&](SymbolTable& table, const SymbolTable& defaults, bool is_of_codes) {
                   table = read_table(in, defaults, is_of_codes,
                                      is_of_codes ? cell_tokens : std::uint32_t{class_count});
                 });
  in.expect_end();
  return head;
}

}  // namespace cuszi

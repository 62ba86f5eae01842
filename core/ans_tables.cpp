#include "core/ans_tables.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

#include "core/error.hpp"

namespace cuszi {

namespace {

constexpr std::array<int, 4> precisions{0, 1, 2, 4};  ///< mantissa bits of stored frequencies
constexpr std::uint32_t least_of_commonest = 64;      ///< frequency: its share is 1 / 64 or more
constexpr std::uint64_t bits_beside_table = 12;       ///< its first context, its counts

Counts operator+(const Counts& a, const Counts& b) {
  Counts sum{};
  for (unsigned t = 0; t < token_count; ++t) sum[t] = a[t] + b[t];
  return sum;
}

std::uint64_t total_of(const Counts& counts) {
  return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
}

/// One more than the last token that occurs.
unsigned end_of(const Counts& counts) {
  unsigned end = token_count;
  while (end > 0 && counts[end - 1] == 0) --end;
  return end;
}

/// What symbols of these counts cost with these frequencies.
Cost symbol_cost(const Counts& counts, const FrequencyTable& table) {
  Cost cost = 0;
  for (unsigned t = 0; t <= table.last; ++t) {
    if (counts[t] == 0) continue;
    cost += counts[t] *
            ((std::uint32_t{probability_bits} << cost_bits) - log2_of(table.frequencies[t]));
  }
  return cost;
}

std::uint16_t rounded_frequency(std::uint32_t frequency, int mantissa) {
  const int shift = static_cast<int>(std::bit_width(frequency)) - 1 - mantissa;
  if (shift <= 0) return static_cast<std::uint16_t>(frequency);
  return static_cast<std::uint16_t>(((frequency + (1U << (shift - 1))) >> shift) << shift);
}

/// The next smaller frequency of this precision.
std::uint16_t smaller_frequency(std::uint32_t frequency, int mantissa) {
  const int shift = static_cast<int>(std::bit_width(frequency - 1)) - 1 - mantissa;
  return static_cast<std::uint16_t>(shift <= 0 ? frequency - 1
                                               : ((frequency - 1) >> shift) << shift);
}

/// The shares of tokens in units of 1 / probability_one, whatever the precision of their table.
struct TokenShares {
  std::array<std::uint32_t, token_count> share{};  ///< at least 1 of a token that occurs
  unsigned commonest = 0;
  unsigned last = 0;  ///< token that occurs, if any does

  explicit TokenShares(const Counts& counts) {
    const std::uint64_t total = std::max<std::uint64_t>(total_of(counts), 1);
    const unsigned end = end_of(counts);
    last = end == 0 ? 0 : end - 1;
    for (unsigned t = 0; t < end; ++t) {
      if (counts[t] == 0) continue;
      if (counts[t] > counts[commonest]) commonest = t;
      const std::uint64_t nearest = (counts[t] * probability_one + total / 2) / total;
      share[t] =
          static_cast<std::uint32_t>(std::clamp<std::uint64_t>(nearest, 1, probability_one / 2));
    }
  }
};

/// Frequencies of this precision, of a sum of probability_one.
FrequencyTable normalise(const TokenShares& shares, int precision) {
  FrequencyTable table;
  table.precision = precision;
  table.commonest = shares.commonest;
  table.last = shares.last;
  const int mantissa = precisions[static_cast<std::size_t>(precision)];
  std::uint32_t others = 0;
  for (unsigned t = 0; t <= shares.last; ++t) {
    if (shares.share[t] == 0 || t == table.commonest) continue;
    table.frequencies[t] = rounded_frequency(shares.share[t], mantissa);
    others += table.frequencies[t];
  }
  // Rounding up, of rare tokens above all, must not take everything from the commonest.
  while (others >= probability_one - least_of_commonest) {
    std::uint16_t& largest = *std::max_element(table.frequencies.begin(), table.frequencies.end());
    const std::uint16_t less = smaller_frequency(largest, mantissa);
    others -= static_cast<std::uint32_t>(largest - less);
    largest = less;
  }
  table.frequencies[table.commonest] = static_cast<std::uint16_t>(probability_one - others);
  return table;
}

/// Exponent differences from the commonest to the rarest: 0, -1, 1, -2, 2, ...
unsigned rank_of_difference(int difference) {
  return static_cast<unsigned>(difference < 0 ? -2 * difference - 1 : 2 * difference);
}
int difference_of_rank(unsigned rank) {
  const int half = static_cast<int>((rank + 1) / 2);
  return (rank & 1U) != 0 ? -half : half;
}

/// Calls visit(exponent before, frequency) for the tokens whose frequency is stored.
template <class Visit>
void for_each_stored(const FrequencyTable& table, const Visit& visit) {
  int before = probability_bits;
  for (unsigned t = 0; t <= table.last; ++t) {
    if (t == table.commonest) continue;
    visit(before, table.frequencies[t]);
    before = std::bit_width(table.frequencies[t]);
  }
}

/// How many mantissa bits a frequency of this exponent is stored with.
int mantissa_bits_of(int exponent, int precision) {
  return std::min(std::max(exponent - 1, 0), precisions[static_cast<std::size_t>(precision)]);
}

/// How probable it is that a number is at least the first one of a token, in units of 2^-16.
constexpr std::uint32_t share_from(unsigned token, const TokenModel& model) {
  constexpr int one = 16;  // bits
  const std::uint64_t h = (std::uint64_t{2} + model.scale % 2) << (model.scale / 2);
  const std::uint64_t x = std::uint64_t{number_of(token, 0)} << 5;
  std::uint64_t share = (h << one) / (h + x);
  for (unsigned i = 0; i < model.shape; ++i) share = (share * share) >> one;
  return static_cast<std::uint32_t>(share);
}

constexpr std::size_t model_scales = std::size_t{1} << TokenModel::scale_bits;
constexpr std::size_t model_shapes = std::size_t{1} << TokenModel::shape_bits;

/// The same of all tokens, [scale][shape]: encoders try dozens of models for a table.
using ModelShares = std::array<std::uint32_t, token_count>;
constinit const auto model_shares = [] {
  std::array<std::array<ModelShares, model_shapes>, model_scales> shares{};
  for (unsigned scale = 0; scale < model_scales; ++scale) {
    for (unsigned shape = 0; shape < model_shapes; ++shape) {
      for (unsigned token = 0; token < token_count; ++token) {
        shares[scale][shape][token] = share_from(token, {scale, shape});
      }
    }
  }
  return shares;
}();

/// The table of a model for tokens up to `last`, of which each occurs.
FrequencyTable modelled(const TokenModel& model, unsigned last) {
  FrequencyTable table;
  table.last = last;
  table.model = model;
  constexpr std::uint32_t shared = probability_one - token_count;  // each token gets one at least
  const ModelShares& shares = model_shares.at(model.scale).at(model.shape);
  std::uint32_t left = probability_one;
  for (unsigned t = 0; t <= last; ++t) {
    const std::uint64_t share = shares[t] - (t < last ? shares[t + 1] : 0);
    table.frequencies[t] = static_cast<std::uint16_t>(1 + (share * shared >> 16));
    left -= table.frequencies[t];
  }
  *std::max_element(table.frequencies.begin(), table.frequencies.begin() + last + 1) +=
      static_cast<std::uint16_t>(left);
  return table;
}

Cost table_cost(const FrequencyTable& table) {
  if (table.model) {
    return Cost{1 + 6 + TokenModel::scale_bits + TokenModel::shape_bits} << cost_bits;
  }
  std::uint64_t bits =
      1 + static_cast<std::uint64_t>(gamma_bits(table.commonest)) + 6 + (table.last == 0 ? 0 : 2);
  for_each_stored(table, [&](int before, std::uint16_t frequency) {
    const int exponent = std::bit_width(frequency);
    bits += rank_of_difference(exponent - before) + 1;
    bits += static_cast<std::uint64_t>(mantissa_bits_of(exponent, table.precision));
  });
  return bits << cost_bits;
}

/// A table, and what it costs together with the symbols under it.
struct BestTable {
  FrequencyTable table;
  Cost cost = 0;
};

/// The scale of the model whose numbers are, on average, about as large as these.
int scale_of(const Counts& counts, unsigned last) {
  std::uint64_t sum = 0;
  for (unsigned t = 0; t <= last; ++t) sum += counts[t] * number_of(t, 0);
  const std::uint64_t mean = (sum << 4) / std::max<std::uint64_t>(total_of(counts), 1);
  return 2 * static_cast<int>(std::bit_width(mean));
}

/// Replaces `best` by the table of a model if that costs less.
void try_models(const Counts& counts, BestTable& best) {
  constexpr int least_scale = -4;  // about that of the mean
  constexpr int most_scale = 8;
  const unsigned last = best.table.last;
  const int middle = scale_of(counts, last);
  for (unsigned shape = 0; shape < model_shapes; ++shape) {
    for (int scale = middle + least_scale; scale <= middle + most_scale; ++scale) {
      if (scale < 0 || scale >= static_cast<int>(model_scales)) continue;
      const FrequencyTable table = modelled({static_cast<unsigned>(scale), shape}, last);
      const Cost cost =
          (bits_beside_table << cost_bits) + table_cost(table) + symbol_cost(counts, table);
      if (cost < best.cost) best = {table, cost};
    }
  }
}

/// At the precision at which table and symbols cost least together; the coarser one on ties.
BestTable best_table(const Counts& counts) {
  BestTable best;
  const TokenShares shares(counts);
  for (int precision = 0; precision < static_cast<int>(precisions.size()); ++precision) {
    const FrequencyTable table = normalise(shares, precision);
    const Cost cost =
        (bits_beside_table << cost_bits) + table_cost(table) + symbol_cost(counts, table);
    if (precision == 0 || cost < best.cost) best = {table, cost};
  }
  return best;
}

/// Neighbouring contexts that share a table.
struct Cluster {
  std::size_t first;  ///< context
  Counts counts;
  BestTable best;
  std::int64_t saving = 0;  ///< of merging it with the next cluster
};

std::int64_t saving_of(const Cluster& a, const Cluster& b) {
  const Cost merged = best_table(a.counts + b.counts).cost;
  return static_cast<std::int64_t>(a.best.cost + b.best.cost) - static_cast<std::int64_t>(merged);
}

}  // namespace

FrequencyTable FrequencyTable::fit(const Counts& counts) {
  BestTable best = best_table(counts);
  try_models(counts, best);
  return best.table;
}

Cost FrequencyTable::cost(const Counts& counts) const {
  return table_cost(*this) + symbol_cost(counts, *this);
}

void FrequencyTable::write(BitWriter& out) const {
  out.put(model ? 1 : 0, 1);
  out.put(last, 6);
  if (model) {
    out.put(model->scale, TokenModel::scale_bits);
    out.put(model->shape, TokenModel::shape_bits);
    return;
  }
  put_gamma(commonest, out);
  if (last == 0) return;
  out.put(static_cast<std::uint64_t>(precision), 2);
  for_each_stored(*this, [&](int before, std::uint16_t frequency) {
    const int exponent = std::bit_width(frequency);
    put_unary(rank_of_difference(exponent - before), out);
    const int mantissa = mantissa_bits_of(exponent, precision);
    if (mantissa > 0) {
      const unsigned shifted = static_cast<unsigned>(frequency) >> (exponent - 1 - mantissa);
      out.put(shifted & ((1U << mantissa) - 1), mantissa);
    }
  });
}

FrequencyTable FrequencyTable::read(BitReader& in, unsigned tokens) {
  const bool has_model = in.get(1) != 0;
  const auto last = static_cast<unsigned>(in.get(6));
  if (last >= tokens) throw ArchiveError("a frequency table has tokens that do not exist");
  if (has_model) {
    TokenModel model;
    model.scale = static_cast<unsigned>(in.get(TokenModel::scale_bits));
    model.shape = static_cast<unsigned>(in.get(TokenModel::shape_bits));
    return modelled(model, last);
  }
  FrequencyTable table;
  table.last = last;
  table.commonest = get_gamma(in);
  if (table.commonest > last) throw ArchiveError("a frequency table is impossible");
  if (table.last != 0) table.precision = static_cast<int>(in.get(2));
  int before = probability_bits;
  std::uint32_t others = 0;
  for (unsigned t = 0; t <= table.last; ++t) {
    if (t == table.commonest) continue;
    const int exponent = before + difference_of_rank(get_unary(in, 4 * probability_bits));
    if (exponent < 0 || exponent > probability_bits) {
      throw ArchiveError("a frequency table is impossible");
    }
    const int mantissa = mantissa_bits_of(exponent, table.precision);
    std::uint32_t frequency = exponent == 0 ? 0 : 1;
    if (exponent > 0) {
      frequency = ((frequency << mantissa) | static_cast<std::uint32_t>(in.get(mantissa)))
                  << (exponent - 1 - mantissa);
    }
    table.frequencies[t] = static_cast<std::uint16_t>(frequency);
    others += frequency;
    before = exponent;
  }
  if (others >= probability_one) throw ArchiveError("a frequency table exceeds its sum");
  table.frequencies[table.commonest] = static_cast<std::uint16_t>(probability_one - others);
  return table;
}

ContextTables ContextTables::fit(std::span<const Counts> counts) {
  std::vector<Cluster> clusters;
  for (std::size_t context = 0; context < counts.size(); ++context) {
    if (total_of(counts[context]) == 0) continue;
    clusters.push_back({context, counts[context], best_table(counts[context])});
  }
  if (clusters.empty()) clusters.push_back({0, counts[0], best_table(counts[0])});
  clusters[0].first = 0;
  for (std::size_t i = 0; i + 1 < clusters.size(); ++i) {
    clusters[i].saving = saving_of(clusters[i], clusters[i + 1]);
  }
  while (clusters.size() > 1) {
    std::size_t best = 0;
    for (std::size_t i = 1; i + 1 < clusters.size(); ++i) {
      if (clusters[i].saving > clusters[best].saving) best = i;
    }
    if (clusters[best].saving < 0) break;
    clusters[best].counts = clusters[best].counts + clusters[best + 1].counts;
    clusters[best].best = best_table(clusters[best].counts);
    clusters.erase(clusters.begin() + static_cast<std::ptrdiff_t>(best) + 1);
    if (best + 1 < clusters.size())
      clusters[best].saving = saving_of(clusters[best], clusters[best + 1]);
    if (best > 0) clusters[best - 1].saving = saving_of(clusters[best - 1], clusters[best]);
  }
  ContextTables result;
  result.table_of.resize(counts.size());
  for (std::size_t i = 0; i < clusters.size(); ++i) {
    const std::size_t end = i + 1 < clusters.size() ? clusters[i + 1].first : counts.size();
    std::fill(result.table_of.begin() + static_cast<std::ptrdiff_t>(clusters[i].first),
              result.table_of.begin() + static_cast<std::ptrdiff_t>(end),
              static_cast<std::uint8_t>(i));
    result.tables.push_back(clusters[i].best.table);
  }
  return result;
}

Cost ContextTables::cost(std::span<const Counts> counts) const {
  Cost cost = (bits_beside_table * tables.size()) << cost_bits;
  for (const FrequencyTable& table : tables) cost += table_cost(table);
  for (std::size_t context = 0; context < counts.size(); ++context) {
    cost += symbol_cost(counts[context], tables[table_of[context]]);
  }
  return cost;
}

}  // namespace cuszi

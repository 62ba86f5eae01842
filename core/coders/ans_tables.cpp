#include "core/coders/ans_tables.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

#include "core/base/error.hpp"

namespace cuszi {

namespace {

constexpr int mantissa_bits = 1;                  ///< of stored frequencies, after the leading one
constexpr std::uint32_t least_of_commonest = 64;  ///< minimum frequency of the commonest token
constexpr std::uint64_t table_head_bits = 12;     ///< first context and counts

/// By frequency; 0 for 0.
constinit const auto symbol_costs = [] {
  std::array<std::uint32_t, probability_one + 1> costs{};
  for (std::uint32_t frequency = 1; frequency <= probability_one; ++frequency) {
    const int exponent = static_cast<int>(std::bit_width(frequency)) - 1;
    const std::uint32_t mantissa = (frequency << (log2_mantissa_bits - exponent)) - probability_one;
    const std::uint32_t log =
        (static_cast<std::uint32_t>(exponent) << cost_bits) + log2_of_mantissa(mantissa);
    costs[frequency] = (std::uint32_t{probability_bits} << cost_bits) - log;
  }
  return costs;
}();
static_assert(probability_bits == log2_mantissa_bits, "the mantissa of a frequency is exact");

Counts operator+(const Counts& a, const Counts& b) {
  Counts sum{};
  for (unsigned t = 0; t < token_count; ++t) sum[t] = a[t] + b[t];
  return sum;
}

std::uint64_t total_of(const Counts& counts) {
  return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
}

unsigned end_of(const Counts& counts) {
  unsigned end = token_count;
  while (end > 0 && counts[end - 1] == 0) --end;
  return end;
}

Cost symbol_cost(const Counts& counts, const FrequencyTable& table) {
  Cost cost = 0;
  for (unsigned t = 0; t <= table.last; ++t) cost += counts[t] * symbol_costs[table.frequencies[t]];
  return cost;
}

std::uint16_t coded_frequency(std::uint32_t frequency) {
  const int shift = static_cast<int>(std::bit_width(frequency)) - 1 - mantissa_bits;
  if (shift <= 0) return static_cast<std::uint16_t>(frequency);
  return static_cast<std::uint16_t>(((frequency + (1U << (shift - 1))) >> shift) << shift);
}

std::uint16_t smaller_frequency(std::uint32_t frequency) {
  const int shift = static_cast<int>(std::bit_width(frequency - 1)) - 1 - mantissa_bits;
  return static_cast<std::uint16_t>(shift <= 0 ? frequency - 1
                                               : ((frequency - 1) >> shift) << shift);
}

/// Token probabilities in units of 1 / probability_one, not rounded.
struct TokenShares {
  std::array<std::uint32_t, token_count> share{};  ///< at least 1 if the token occurs
  unsigned commonest = 0;
  unsigned last = 0;

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

/// Rounding up rare tokens must leave a share to the commonest.
bool leaves_share_to_commonest(std::uint32_t others) {
  return others < probability_one - least_of_commonest;
}

/// Rounds shares; the sum is probability_one.
FrequencyTable normalise(const TokenShares& shares) {
  FrequencyTable table;
  table.commonest = shares.commonest;
  table.last = shares.last;
  std::uint32_t others = 0;
  for (unsigned t = 0; t <= shares.last; ++t) {
    if (shares.share[t] == 0 || t == table.commonest) continue;
    table.frequencies[t] = coded_frequency(shares.share[t]);
    others += table.frequencies[t];
  }
  while (!leaves_share_to_commonest(others)) {
    std::uint16_t& largest = *std::max_element(table.frequencies.begin(), table.frequencies.end());
    const std::uint16_t less = smaller_frequency(largest);
    others -= static_cast<std::uint32_t>(largest - less);
    largest = less;
  }
  table.frequencies[table.commonest] = static_cast<std::uint16_t>(probability_one - others);
  return table;
}

/// Maps exponent differences 0, -1, 1, -2, 2, ... to ranks.
unsigned rank_of_difference(int difference) {
  return static_cast<unsigned>(difference < 0 ? -2 * difference - 1 : 2 * difference);
}
int difference_of_rank(unsigned rank) {
  const int half = static_cast<int>((rank + 1) / 2);
  return (rank & 1U) != 0 ? -half : half;
}

template <class Visit>
void for_each_stored(const FrequencyTable& table, const Visit& visit) {
  int before = probability_bits;
  for (unsigned t = 0; t <= table.last; ++t) {
    if (t == table.commonest) continue;
    visit(before, table.frequencies[t]);
    before = std::bit_width(table.frequencies[t]);
  }
}

int mantissa_bits_of(int exponent) { return std::min(std::max(exponent - 1, 0), mantissa_bits); }

std::uint64_t stored_bits(int exponent, int before) {
  return rank_of_difference(exponent - before) + 1 +
         static_cast<std::uint64_t>(mantissa_bits_of(exponent));
}

/// P(number >= smallest number of the token), in units of 2^-16.
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

/// [scale][shape][token], tabulated because encoders try dozens of models per table.
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

/// At least 1.
constexpr std::uint16_t frequency_of_share(std::uint64_t share) {
  constexpr std::uint32_t shared = probability_one - token_count;
  return static_cast<std::uint16_t>(1 + (share * shared >> 16));
}

FrequencyTable modelled(const TokenModel& model, unsigned last) {
  FrequencyTable table;
  table.last = last;
  table.model = model;
  const ModelShares& shares = model_shares.at(model.scale).at(model.shape);
  std::uint32_t left = probability_one;
  for (unsigned t = 0; t <= last; ++t) {
    table.frequencies[t] = frequency_of_share(shares[t] - (t < last ? shares[t + 1] : 0));
    left -= table.frequencies[t];
  }
  *std::max_element(table.frequencies.begin(), table.frequencies.begin() + last + 1) +=
      static_cast<std::uint16_t>(left);
  return table;
}

constexpr std::uint64_t model_table_bits = 1 + 6 + TokenModel::scale_bits + TokenModel::shape_bits;

std::uint64_t head_bits(unsigned commonest) {
  return 1 + static_cast<std::uint64_t>(gamma_bits(commonest)) + 6;
}

Cost table_cost(const FrequencyTable& table) {
  if (table.model) return model_table_bits << cost_bits;
  std::uint64_t bits = head_bits(table.commonest);
  for_each_stored(table, [&](int before, std::uint16_t frequency) {
    bits += stored_bits(std::bit_width(frequency), before);
  });
  return bits << cost_bits;
}

/// Precomputed sums: pricing a model takes a single pass over tokens.
class ModelCosts {
 public:
  explicit ModelCosts(const ModelShares& shares) {
    for (unsigned t = 0; t < token_count; ++t) {
      const std::uint32_t next = t + 1 < token_count ? shares[t + 1] : 0;
      inner_[t] = frequency_of_share(shares[t] - next);
      as_last_[t] = frequency_of_share(shares[t]);
      inner_costs_[t] = symbol_costs[inner_[t]];
      if (t == 0) continue;
      before_[t] = static_cast<std::uint16_t>(before_[t - 1] + inner_[t - 1]);
      largest_before_[t] = inner_[t - 1] > inner_[largest_before_[t - 1]]
                               ? static_cast<std::uint8_t>(t - 1)
                               : largest_before_[t - 1];
    }
  }

  /// symbol_cost() of the model's table.
  Cost of(const Counts& counts, unsigned last) const {
    Cost cost = counts[last] * symbol_costs[as_last_[last]];
    for (unsigned t = 0; t < last; ++t) cost += counts[t] * inner_costs_[t];
    const unsigned before = largest_before_[last];
    const bool last_is_largest = last == 0 || as_last_[last] > inner_[before];
    const unsigned largest = last_is_largest ? last : before;
    const unsigned frequency = last_is_largest ? as_last_[last] : inner_[before];
    const unsigned left = probability_one - before_[last] - as_last_[last];
    return cost - counts[largest] * (symbol_costs[frequency] - symbol_costs[frequency + left]);
  }

 private:
  std::array<std::uint32_t, token_count> inner_costs_{};
  std::array<std::uint16_t, token_count> inner_{};    ///< as an inner token
  std::array<std::uint16_t, token_count> as_last_{};  ///< as the last token
  std::array<std::uint16_t, token_count> before_{};   ///< sum of the frequencies before
  std::array<std::uint8_t, token_count>
      largest_before_{};  ///< first token of the largest frequency before
};

const ModelCosts& model_costs(const TokenModel& model) {
  static const auto all = [] {
    std::vector<ModelCosts> costs;
    for (const auto& of_scale : model_shares) {
      for (const ModelShares& shares : of_scale) costs.emplace_back(shares);
    }
    return costs;
  }();
  return all[model.scale * model_shapes + model.shape];
}

struct RoundedShare {
  std::uint32_t cost = 0;
  std::uint16_t frequency = 0;
  std::uint8_t exponent = 0;
};

/// Tabulated because encoders price thousands of tables.
const std::array<RoundedShare, probability_one / 2 + 1>& rounded_shares() {
  static const auto all = [] {
    std::array<RoundedShare, probability_one / 2 + 1> shares{};
    for (std::uint32_t share = 0; share < shares.size(); ++share) {
      const std::uint16_t frequency = coded_frequency(share);
      shares[share] = {symbol_costs[frequency], frequency,
                       static_cast<std::uint8_t>(std::bit_width(frequency))};
    }
    return shares;
  }();
  return all;
}

/// The cost of normalise()'s table for `counts`.
Cost explicit_cost(const Counts& counts, const TokenShares& shares) {
  constexpr Cost head = table_head_bits << cost_bits;
  const auto& rounded = rounded_shares();
  std::uint32_t others = 0;
  std::uint64_t bits = head_bits(shares.commonest);
  Cost symbols = 0;
  int before = probability_bits;
  for (unsigned t = 0; t <= shares.last; ++t) {
    if (t == shares.commonest) continue;
    const RoundedShare& share = rounded[shares.share[t]];
    others += share.frequency;
    bits += stored_bits(share.exponent, before);
    symbols += counts[t] * share.cost;
    before = share.exponent;
  }
  if (leaves_share_to_commonest(others)) {
    return head + (bits << cost_bits) + symbols +
           counts[shares.commonest] * symbol_costs[probability_one - others];
  }
  const FrequencyTable table = normalise(shares);
  return head + table_cost(table) + symbol_cost(counts, table);
}

Cost explicit_cost(const Counts& counts) { return explicit_cost(counts, TokenShares(counts)); }

int scale_of(const Counts& counts, unsigned last) {
  std::uint64_t sum = 0;
  for (unsigned t = 0; t <= last; ++t) sum += counts[t] * number_of(t, 0);
  const std::uint64_t mean = (sum << 4) / std::max<std::uint64_t>(total_of(counts), 1);
  return 2 * static_cast<int>(std::bit_width(mean));
}

/// The first of the cheapest models, if cheaper than `lowest`.
std::optional<TokenModel> best_model(const Counts& counts, unsigned last, Cost lowest) {
  constexpr int least_scale = -4;  // relative to the mean's scale
  constexpr int most_scale = 8;
  constexpr Cost head = (table_head_bits + model_table_bits) << cost_bits;
  std::optional<TokenModel> best;
  const int middle = scale_of(counts, last);
  for (unsigned shape = 0; shape < model_shapes; ++shape) {
    for (int scale = middle + least_scale; scale <= middle + most_scale; ++scale) {
      if (scale < 0 || scale >= static_cast<int>(model_scales)) continue;
      const TokenModel model{static_cast<unsigned>(scale), shape};
      const Cost cost = head + model_costs(model).of(counts, last);
      if (cost >= lowest) continue;
      lowest = cost;
      best = model;
    }
  }
  return best;
}

struct Cluster {
  std::size_t first;  ///< context
  Counts counts;
  Cost cost;
  Cost merged_cost = 0;  ///< with the next cluster
  std::int64_t saving = 0;
};

void price_merging(Cluster& cluster, const Cluster& next) {
  cluster.merged_cost = explicit_cost(cluster.counts + next.counts);
  cluster.saving = static_cast<std::int64_t>(cluster.cost + next.cost) -
                   static_cast<std::int64_t>(cluster.merged_cost);
}

}  // namespace

FrequencyTable FrequencyTable::fit(const Counts& counts) {
  const TokenShares shares(counts);
  const auto model = best_model(counts, shares.last, explicit_cost(counts, shares));
  return model ? modelled(*model, shares.last) : normalise(shares);
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
  for_each_stored(*this, [&](int before, std::uint16_t frequency) {
    const int exponent = std::bit_width(frequency);
    put_unary(rank_of_difference(exponent - before), out);
    const int mantissa = mantissa_bits_of(exponent);
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
  int before = probability_bits;
  std::uint32_t others = 0;
  for (unsigned t = 0; t <= table.last; ++t) {
    if (t == table.commonest) continue;
    const int exponent = before + difference_of_rank(get_unary(in, 4 * probability_bits));
    if (exponent < 0 || exponent > probability_bits) {
      throw ArchiveError("a frequency table is impossible");
    }
    const int mantissa = mantissa_bits_of(exponent);
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
    clusters.push_back({context, counts[context], explicit_cost(counts[context])});
  }
  if (clusters.empty()) clusters.push_back({0, counts[0], explicit_cost(counts[0])});
  clusters[0].first = 0;
  for (std::size_t i = 0; i + 1 < clusters.size(); ++i) {
    price_merging(clusters[i], clusters[i + 1]);
  }
  while (clusters.size() > 1) {
    std::size_t best = 0;
    for (std::size_t i = 1; i + 1 < clusters.size(); ++i) {
      if (clusters[i].saving > clusters[best].saving) best = i;
    }
    if (clusters[best].saving < 0) break;
    clusters[best].counts = clusters[best].counts + clusters[best + 1].counts;
    clusters[best].cost = clusters[best].merged_cost;
    clusters.erase(clusters.begin() + static_cast<std::ptrdiff_t>(best) + 1);
    if (best + 1 < clusters.size()) price_merging(clusters[best], clusters[best + 1]);
    if (best > 0) price_merging(clusters[best - 1], clusters[best]);
  }
  ContextTables result;
  result.table_of.resize(counts.size());
  for (std::size_t i = 0; i < clusters.size(); ++i) {
    const std::size_t end = i + 1 < clusters.size() ? clusters[i + 1].first : counts.size();
    std::fill(result.table_of.begin() + static_cast<std::ptrdiff_t>(clusters[i].first),
              result.table_of.begin() + static_cast<std::ptrdiff_t>(end),
              static_cast<std::uint8_t>(i));
    result.tables.push_back(normalise(TokenShares(clusters[i].counts)));
  }
  return result;
}

Cost ContextTables::cost(std::span<const Counts> counts) const {
  Cost cost = (table_head_bits * tables.size()) << cost_bits;
  for (const FrequencyTable& table : tables) cost += table_cost(table);
  for (std::size_t context = 0; context < counts.size(); ++context) {
    cost += symbol_cost(counts[context], tables[table_of[context]]);
  }
  return cost;
}

}  // namespace cuszi

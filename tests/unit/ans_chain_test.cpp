#include "core/coders/ans_chain.hpp"

#include "core/multilevel/context.hpp"
#include "cpu_ref/coders/ans.hpp"
#include "test_data/random.hpp"
#include "tests/support/catch.hpp"

namespace cuszi::test {

namespace {

constexpr std::uint32_t centre = 512;

/// The values of a segment's slots, one after the other, by the functions of core alone.
class SlowSegment {
 public:
  SlowSegment(const ChainPlan& plan, const ChainSegment& segment, Bytes bytes)
      : plan_(plan), segment_(segment), in_(bytes, "a segment") {}

  std::vector<std::uint32_t> decode() {
    std::vector<std::uint32_t> states(segment_.lanes());
    for (std::uint32_t& state : states) state = in_.get<std::uint32_t>();
    std::vector<std::uint32_t> tokens;
    std::uint64_t raw_bits = 0;
    for (std::uint32_t slot = 0; slot < segment_.slots; ++slot) {
      tokens.push_back(take(states[slot % states.size()], plan_.tables[list_of(slot)]));
      raw_bits += raw_bits_of(plan_.lists[list_of(slot)].kind, tokens.back());
    }
    read_raw(states, raw_bits);
    std::vector<std::uint32_t> values;
    for (std::uint32_t slot = 0; slot < segment_.slots; ++slot) {
      const SlotKind kind = plan_.lists[list_of(slot)].kind;
      const std::uint32_t raw = take_raw(raw_bits_of(kind, tokens[slot]));
      values.push_back(value_of_slot(kind, tokens[slot], raw, centre));
    }
    return values;
  }

 private:
  std::size_t list_of(std::uint32_t slot) const {
    std::size_t list = plan_.lists.size() - 1;
    while (plan_.lists[list].first > segment_.first + slot) --list;
    return list;
  }

  std::uint32_t take(std::uint32_t& state, const FrequencyTable& table) {
    std::uint32_t first = 0;
    std::uint32_t token = 0;
    while (decoder_slot(state) >= first + table.frequencies[token]) {
      first += table.frequencies[token++];
    }
    state = take_token(state,
                       decoder_entry(token, table.frequencies[token], decoder_slot(state) - first));
    if (needs_refill(state)) state = refilled(state, in_.get<std::uint16_t>());
    return token;
  }

  void read_raw(std::span<const std::uint32_t> states, std::uint64_t bits) {
    const std::uint32_t carrying = carrying_lanes(static_cast<std::uint32_t>(states.size()), bits);
    std::vector<std::uint32_t> words;
    for (std::uint32_t lane = 0; lane < states.size(); ++lane) {
      REQUIRE(states[lane] - lane_start < (lane < carrying ? 65'536U : 1U));
      if (lane < carrying) words.push_back(states[lane] - lane_start);
    }
    while (words.size() * carried_bits < bits) words.push_back(in_.get<std::uint16_t>());
    in_.expect_end();
    for (const std::uint32_t word : words) {
      for (unsigned bit = 0; bit < carried_bits; ++bit) raw_.push_back((word >> bit) & 1U);
    }
  }

  std::uint32_t take_raw(std::uint32_t bits) {
    std::uint32_t value = 0;
    for (std::uint32_t bit = 0; bit < bits; ++bit) value |= raw_.at(next_++) << bit;
    return value;
  }

  const ChainPlan& plan_;
  ChainSegment segment_;
  ByteReader in_;
  std::vector<std::uint32_t> raw_;
  std::size_t next_ = 0;
};

std::vector<QuantCode> random_codes(Random& random, std::size_t count, std::uint64_t one_in) {
  std::vector<QuantCode> codes;
  for (std::size_t i = 0; i < count; ++i) {
    const bool quiet = !random.one_in(one_in);
    const auto delta = quiet ? 0U : static_cast<std::uint32_t>(random.below(60));
    codes.push_back(static_cast<QuantCode>(centre + delta - (quiet ? 0 : 30)));
    if (random.one_in(5'000)) codes.back() = outlier_code;
  }
  return codes;
}

Counts some_counts(Random& random) {
  Counts counts{};
  const std::uint64_t tokens = 1 + random.below(token_count);
  for (std::uint64_t t = 0; t < tokens; ++t) counts[t] = random.next() >> (32 + random.below(32));
  counts[0] += 1;
  return counts;
}

}  // namespace

TEST_CASE("a chain decodes slot by slot by the functions of core alone") {
  Random random(3);
  bool as_codes = false;
  bool by_gaps = false;
  for (const std::size_t count : {1U, 63U, 5'000U, 200'000U}) {
    for (const std::uint64_t one_in : {1U, 5U, 200U}) {
      std::vector<QuantCode> codes = random_codes(random, count, one_in);
      codes.front() = centre + 3;
      const AnsParams params{centre};
      const cpu::PassCodes pass{codes, {}, {count, 1}};
      const auto stream = cpu::ans_encode(params, std::span(&pass, 1));
      const CodedChain chain =
          CodedChain::read(params, stream.index, stream.codes, std::span(&pass.shape, 1));
      std::vector<std::uint32_t> values;
      for (std::uint64_t i = 0; i < chain.plan.segments(); ++i) {
        const ByteCount end =
            i + 1 < chain.starts.size() ? chain.starts[i + 1] : chain.segments.size();
        const Bytes bytes = chain.segments.subspan(chain.starts[i], end - chain.starts[i]);
        const auto part = SlowSegment(chain.plan, segment_of(chain.plan, i), bytes).decode();
        values.insert(values.end(), part.begin(), part.end());
      }
      const TableLists& table = chain.plan.passes.at(0).at(0);
      (table.by_gaps ? by_gaps : as_codes) = true;
      std::vector<QuantCode> decoded;
      std::size_t next = 0;
      std::uint64_t ones = table.larger != 0 ? values[table.codes] : count;
      for (std::uint64_t i = 0; i < table.codes; ++i) {
        if (!table.by_gaps) {
          decoded.push_back(static_cast<QuantCode>(values[i]));
          continue;
        }
        decoded.insert(decoded.end(), values[i] >> 1, QuantCode{centre});
        std::uint32_t magnitude = 1;
        if (ones-- == 0) {
          magnitude = values[table.codes + table.larger + next++];
          ones = next < table.larger ? values[table.codes + next] : count;
        }
        decoded.push_back(magnitude == 0 ? outlier_code
                                         : code_of(magnitude, values[i] % 2 == 1, centre));
      }
      decoded.resize(count, QuantCode{centre});
      REQUIRE(decoded == codes);
    }
  }
  CHECK(as_codes);
  CHECK(by_gaps);
}

TEST_CASE("what a lane takes in comes out again") {
  Random random(4);
  for (int i = 0; i < 10'000; ++i) {
    const auto state = static_cast<std::uint32_t>(lane_start + random.below(0xFFFF0000U));
    const auto frequency = static_cast<std::uint32_t>(1 + random.below(probability_one - 1));
    const auto first = static_cast<std::uint32_t>(random.below(probability_one - frequency + 1));
    const std::uint32_t small = spills_for_token(state, frequency) ? state >> 16 : state;
    const std::uint32_t put = put_token(small, {frequency, first});
    REQUIRE(put >= lane_start);
    const std::uint32_t slot = decoder_slot(put);
    REQUIRE((slot >= first && slot < first + frequency));
    const std::uint32_t left = take_token(put, decoder_entry(63, frequency, slot - first));
    REQUIRE(left == small);
    REQUIRE((needs_refill(left) ? refilled(left, static_cast<std::uint16_t>(state)) : left) ==
            state);
  }
}

TEST_CASE("no lane has more than 1024 slots, and no segment more than 32 lanes") {
  for (const std::uint64_t slots : {1U, 1'024U, 1'025U, 32'768U, 32'769U, 1'000'000U}) {
    ChainPlan plan;
    plan.codes = slots;
    std::uint64_t lanes = 0;
    std::uint64_t all = 0;
    for (std::uint64_t i = 0; i < plan.segments(); ++i) {
      const ChainSegment segment = segment_of(plan, i);
      CHECK(segment.first == all);
      CHECK(segment.lanes() <= most_lanes);
      CHECK(segment.steps() <= slots_of_lane);
      CHECK(segment.steps() <= plan.steps());
      all += segment.slots;
      lanes += segment.lanes();
    }
    CHECK(all == slots);
    CHECK(plan.lanes() == lanes);
  }
  CHECK(ChainPlan{}.steps() == 0);
}

TEST_CASE("frequency tables come back as written") {
  Random random(4);
  bool modelled = false;
  bool listed = false;
  for (int i = 0; i < 1'000; ++i) {
    const Counts counts = some_counts(random);
    const FrequencyTable table = FrequencyTable::fit(counts);
    (table.model ? modelled : listed) = true;
    BitWriter bits;
    table.write(bits);
    const std::vector<std::byte> bytes = bits.take();
    BitReader in(bytes, "a table");
    const FrequencyTable read = FrequencyTable::read(in, token_count);
    REQUIRE(read.frequencies == table.frequencies);
    REQUIRE(in.bytes_read() == bytes.size());
    std::uint32_t sum = 0;
    for (unsigned t = 0; t < token_count; ++t) {
      sum += table.frequencies[t];
      if (counts[t] != 0) REQUIRE(table.frequencies[t] != 0);
    }
    REQUIRE(sum == probability_one);
  }
  CHECK(modelled);
  CHECK(listed);
}

TEST_CASE("no table of a model costs clearly less than the one that fits") {
  Random random(14);
  bool is_modelled = false;
  for (int i = 0; i < 200; ++i) {
    const Counts counts = some_counts(random);
    const FrequencyTable fitted = FrequencyTable::fit(counts);
    is_modelled |= fitted.model.has_value();
    const Cost lowest = fitted.cost(counts);
    for (unsigned scale = 0; scale < 1U << TokenModel::scale_bits; ++scale) {
      for (unsigned shape = 0; shape < 1U << TokenModel::shape_bits; ++shape) {
        BitWriter bits;
        bits.put(1, 1);
        bits.put(fitted.last, 6);
        bits.put(scale, TokenModel::scale_bits);
        bits.put(shape, TokenModel::shape_bits);
        const std::vector<std::byte> bytes = bits.take();
        BitReader in(bytes, "a table");
        const Cost cost = FrequencyTable::read(in, token_count).cost(counts);
        REQUIRE(cost + cost / 1000 >= lowest);  // models far from the mean are not tried
      }
    }
  }
  CHECK(is_modelled);
}

TEST_CASE("contexts that are told apart at a loss share a table") {
  std::vector<Counts> counts(8, Counts{});
  for (std::size_t c = 0; c < counts.size(); ++c) {
    counts[c][0] = 10'000;
    counts[c][1] = c < 4 ? 10 : 9'000;
  }
  counts[5] = Counts{};
  const ContextTables tables = ContextTables::fit(counts);
  CHECK(tables.tables.size() == 2);
  CHECK(tables.table_of == std::vector<std::uint8_t>{0, 0, 0, 0, 1, 1, 1, 1});
}

TEST_CASE(
    "a head is refused that claims more slots or tables than the pass has points or contexts") {
  const auto read = [](const ChainPlan& plan, const PassShape& written, const PassShape& shape) {
    BitWriter bits;
    plan.write(std::span(&written, 1), bits);
    std::vector<std::byte> bytes = bits.take();
    bytes.resize(bytes.size() + 40);
    BitReader in(bytes, "a head");
    return ChainPlan::read(std::span(&shape, 1), in);
  };
  TableCounts counts;
  counts.codes[0] = 100;
  counts.codes[3] = 50;
  const std::vector<TableCounts> tables{counts, counts};
  ChainPlan plan = ChainPlan::choose(std::span(&tables, 1));
  plan.passes[0][1].first_context = 7;
  const PassShape shape{300, 16};
  CHECK(read(plan, shape, shape).slots() == 300);
  CHECK_THROWS_AS(read(plan, {511, 16}, {256, 16}), ArchiveError);
  CHECK_THROWS_AS(read(plan, shape, {300, 7}), ArchiveError);
  plan.passes[0][1].by_gaps = true;
  plan.passes[0][1].larger = 140;
  plan.tables.resize(plan.passes[0][1].first_list + 3, plan.tables[1]);
  CHECK_THROWS_AS(read(plan, shape, shape), ArchiveError);
}

}  // namespace cuszi::test

#include "cpu_ref/zfp/zfp.hpp"

#include <numeric>

#include "core/field/chunk_index.hpp"
#include "core/zfp/zfp_codec.hpp"
#include "tests/property/random_frame.hpp"
#include "tests/property/zfp_case.hpp"
#include "tests/property/zfp_published.hpp"
#include "tests/support/catch.hpp"

namespace cuszi::test {

namespace {

const int cases = some_of(600);

/// Restores a stream by an index of some kind.
template <class T>
std::vector<T> decode(const ZfpCase<T>& given, const cpu::ZfpStream& stream, IndexKind kind,
                      std::uint32_t partition, std::uint32_t chunk) {
  const auto index = encode_index(kind, partition, stream.chunk_bits);
  const auto starts =
      decode_index(kind, partition, index, stream.chunk_bits.size(), stream.bytes.size() * 8);
  std::vector<T> values(given.values.size());
  const BitCount end = cpu::zfp_decode<T>(given.params, given.dims, stream.bytes, starts, chunk,
                                          std::span<T>(values));
  REQUIRE(end == stream.bits);
  return values;
}

template <class T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0;
}

/// Words of which a share from 1/8 to 7/8 of the bits are ones.
std::vector<std::uint64_t> random_words(Random& random) {
  std::vector<std::uint64_t> words(400);
  const std::uint64_t kind = random.below(5);
  for (std::uint64_t& word : words) {
    const std::uint64_t some = random.next() & random.next();
    const std::uint64_t few = some & random.next();
    const std::uint64_t shares[] = {few, some, random.next(), ~some, ~few};
    word = shares[kind];
  }
  return words;
}

/// Reads blocks of any bits in both ways.
template <class T, int rank>
void read_in_both_ways(Random& random) {
  using Block = ZfpBlock<T, rank>;
  const auto words = random_words(random);
  const ZfpParams params = random_zfp_params<T>(random, rank);
  ZfpBitReader<const std::uint64_t*> in(words.data(), words.size(), random.below(200));
  auto same_in = in;
  auto passing = in;
  while (in.position() < words.size() * 64) {
    typename Block::Word planes[2][Block::Layout::words] = {};
    int exponents[2];
    const ZfpHead head =
        Block::template read<ZfpRuns::one_by_one>(params, in, exponents[0], planes[0]);
    Block::template read<ZfpRuns::at_once>(params, same_in, exponents[1], planes[1]);
    Block::template pass<ZfpRuns::at_once>(params, passing);
    INFO("rank " << rank << ", " << head.planes << " planes, at most " << params.max_bits
                 << " bits, up to bit " << in.position());
    REQUIRE(exponents[0] == exponents[1]);
    REQUIRE(in.position() == same_in.position());
    REQUIRE(in.position() == passing.position());
    REQUIRE(std::memcmp(planes[0], planes[1], sizeof planes[0]) == 0);
  }
}

/// Writes a block with any planes in one way; returns its bits and how many they are.
template <ZfpRuns runs, class T, int rank>
std::pair<std::vector<std::uint64_t>, BitCount> written(
    const ZfpParams& params, const ZfpHead& head, const typename ZfpBlock<T, rank>::Word* planes) {
  std::vector<std::uint64_t> words(400);
  ZfpBitWriter<std::uint64_t*> out(words.data());
  ZfpBlock<T, rank>::template write<runs>(params, head, planes, out);
  out.flush();
  const BitCount bits = out.position();
  words.resize(ceil_div(bits, 64));  // what was cut off may stand behind
  return {words, bits};
}

template <class T, int rank>
void write_in_both_ways(Random& random) {
  using Block = ZfpBlock<T, rank>;
  using Word = typename Block::Word;
  const ZfpParams params = random_zfp_params<T>(random, rank);
  const auto words = random_words(random);
  Word planes[Block::Layout::words];
  ZfpHead head;
  head.put(5, 3);
  head.end_plane = static_cast<int>(random.below(ZfpType<T>::bits + 1));
  head.planes = static_cast<int>(1 + random.below(ZfpType<T>::bits));
  head.first_plane = ZfpType<T>::bits - head.planes;
  for (int i = 0; i < Block::Layout::words; ++i) {
    const bool is_sparse = random.one_in(2);
    const std::uint64_t one = std::uint64_t{1} << random.below(64);
    planes[i] = static_cast<Word>(is_sparse ? one : words[static_cast<std::size_t>(i)]);
  }
  INFO("rank " << rank << ", planes " << head.first_plane << " to " << head.end_plane
               << ", at most " << params.max_bits << " bits");
  const auto one_by_one = written<ZfpRuns::one_by_one, T, rank>(params, head, planes);
  const auto at_once = written<ZfpRuns::at_once, T, rank>(params, head, planes);
  REQUIRE(one_by_one == at_once);
}

}  // namespace

TEMPLATE_TEST_CASE("zfp's runs are written alike one by one and all at once", "", float, double,
                   std::int32_t, std::int64_t) {
  Random random(sizeof(TestType));
  for (int i = 0; i < 20 * cases; ++i) {
    write_in_both_ways<TestType, 1>(random);
    write_in_both_ways<TestType, 2>(random);
    write_in_both_ways<TestType, 3>(random);
    write_in_both_ways<TestType, 4>(random);
  }
}

TEMPLATE_TEST_CASE("zfp's runs are read alike one by one and all at once", "", float, double,
                   std::int32_t, std::int64_t) {
  Random random(sizeof(TestType));
  for (int i = 0; i < cases; ++i) {
    read_in_both_ways<TestType, 1>(random);
    read_in_both_ways<TestType, 2>(random);
    read_in_both_ways<TestType, 3>(random);
    read_in_both_ways<TestType, 4>(random);
  }
}

TEMPLATE_TEST_CASE("a zfp stream is restored alike by every index, and by none", "", float, double,
                   std::int32_t, std::int64_t) {
  Random random(sizeof(TestType));
  for (int i = 0; i < cases; ++i) {
    const auto given = random_zfp_case<TestType>(random);
    INFO("case " << i << ": " << given.text);
    const auto chunk = static_cast<std::uint32_t>(1 + random.below(40));
    const auto partition = static_cast<std::uint32_t>(1 + random.below(8));
    const auto stream = cpu::zfp_encode<TestType>(given.params, given.dims, given.values, chunk);
    REQUIRE(cpu::zfp_walk<TestType>(given.params, given.dims, stream.bytes, 0, chunk) ==
            stream.chunk_bits);
    REQUIRE(std::accumulate(stream.chunk_bits.begin(), stream.chunk_bits.end(), BitCount{0}) ==
            stream.bits);
    const auto serial = decode(given, stream, IndexKind::none, partition, chunk);
    for (const IndexKind kind : {IndexKind::offset, IndexKind::length, IndexKind::hybrid}) {
      REQUIRE(same_bits(decode(given, stream, kind, partition, chunk), serial));
    }
    if (given.params.is_reversible()) REQUIRE(same_bits(serial, given.values));
  }
}

TEMPLATE_TEST_CASE("zfp streams and their values have the checksums that zfp publishes", "", float,
                   double, std::int32_t, std::int64_t) {
  constexpr bool with_field = std::is_integral_v<TestType> || !sanitized;  // others are large
  check_published_zfp<TestType, with_field>([](const ZfpCase<TestType>& given) {
    constexpr std::uint32_t chunk = 16;
    auto stream = cpu::zfp_encode<TestType>(given.params, given.dims, given.values, chunk);
    auto restored = decode(given, stream, IndexKind::hybrid, 32, chunk);
    return ZfpCoded<TestType>{std::move(stream.bytes), std::move(restored)};
  });
}

TEMPLATE_TEST_CASE("zfp's fixed accuracy is within its tolerance", "", float, double) {
  Random random(5);
  for (int i = 0; i < cases; ++i) {
    const Dims dims = random_zfp_dims(random);
    std::vector<TestType> values(dims.count());
    for (TestType& value : values) value = static_cast<TestType>(random.uniform() * 200 - 100);
    const double tolerance = std::ldexp(1.0, static_cast<int>(random.below(12)) - 6);
    const ZfpParams params = ZfpParams::accuracy(tolerance);
    const auto stream = cpu::zfp_encode<TestType>(params, dims, values, 16);
    const auto restored =
        decode<TestType>({dims, params, "", values}, stream, IndexKind::hybrid, 32, 16);
    double worst = 0;
    for (std::size_t k = 0; k < values.size(); ++k) {
      worst = std::max(worst, std::abs(double{values[k]} - double{restored[k]}));
    }
    INFO("case " << i << ": " << dims.to_string() << ", tolerance " << tolerance);
    REQUIRE(worst <= tolerance);
  }
}

TEMPLATE_TEST_CASE("a damaged zfp stream or index gives an error or other values", "", float,
                   double) {
  Random random(9);
  int refused = 0;
  constexpr int damages = sanitized ? 75 : 600;
  for (int i = 0; i < damages; ++i) {
    const auto given = random_zfp_case<TestType>(random);
    const auto stream = cpu::zfp_encode<TestType>(given.params, given.dims, given.values, 4);
    auto bytes = stream.bytes;
    auto chunk_bits = stream.chunk_bits;
    switch (random.below(3)) {
      case 0:
        bytes[random.below(bytes.size())] ^= static_cast<std::byte>(1 + random.below(255));
        break;
      case 1: bytes.resize(random.below(bytes.size() / 8) * 8); break;
      default: chunk_bits[random.below(chunk_bits.size())] += 1; break;
    }
    std::vector<BitCount> starts(chunk_bits.size());
    std::exclusive_scan(chunk_bits.begin(), chunk_bits.end(), starts.begin(), BitCount{0});
    std::vector<TestType> values(given.values.size());
    try {
      cpu::zfp_walk<TestType>(given.params, given.dims, bytes, 0, 4);
      cpu::zfp_decode<TestType>(given.params, given.dims, bytes, starts, 4,
                                std::span<TestType>(values));
    } catch (const ArchiveError&) {
      ++refused;
    }
  }
  REQUIRE(refused > damages / 4);
}

}  // namespace cuszi::test

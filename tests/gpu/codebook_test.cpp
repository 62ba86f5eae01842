#include "gpu/coders/codebook.cuh"

#include <numeric>

#include "core/coders/huffman.hpp"
#include "gpu/runtime/copies.hpp"
#include "tests/gpu/device.hpp"
#include "tests/property/random_frame.hpp"
#include "tests/support/catch.hpp"

namespace cuszi::test {

namespace {

using Histogram = std::vector<std::uint64_t>;

/// Makes the codebook there and compares all of it with core's.
void check_codebook(gpu::DeviceContext& gpu, const Histogram& histogram) {
  gpu.reset();
  const auto symbols = static_cast<std::uint32_t>(histogram.size());
  const gpu::DeviceCodebook book =
      gpu::make_codebook(gpu, upload(gpu, histogram.data(), symbols), symbols);
  const std::uint64_t* const units = download(gpu, book.units, symbols);
  const std::uint32_t* const short_units = download(gpu, book.short_units, symbols);
  gpu.sync();

  const std::vector<std::uint8_t> expected = code_lengths(histogram);
  REQUIRE(std::vector(book.lengths, book.lengths + symbols) == expected);
  CHECK(*book.longest == *std::max_element(expected.begin(), expected.end()));
  CHECK(*book.total ==
        std::inner_product(histogram.begin(), histogram.end(), expected.begin(), std::uint64_t{0}));
  if (*book.total == 0) return;
  const std::vector<std::uint64_t> codes = codewords<std::uint64_t>(expected);
  REQUIRE(std::vector(units, units + symbols) == codes);
  for (std::uint32_t i = 0; i < symbols; ++i) {
    using Unit = Codeword<std::uint64_t>;
    const std::uint32_t unit =
        codes[i] == 0 ? 0 : gpu::ShortUnit::pack(Unit::code(codes[i]), Unit::length(codes[i]));
    REQUIRE(short_units[i] == unit);
  }
}

Histogram fibonacci_counts(std::size_t symbols, std::size_t used) {
  Histogram histogram(symbols, 0);
  std::uint64_t a = 1;
  std::uint64_t b = 1;
  for (std::size_t i = 0; i < used; ++i) {
    histogram[i * 7 % symbols] = a;
    b = std::exchange(a, b) + b;
  }
  return histogram;
}

/// Counts that fall off from the middle, as those of quant-codes do, or are alike.
Histogram random_counts(Random& random, std::size_t symbols) {
  Histogram histogram(symbols);
  const std::uint64_t most = std::uint64_t{1} << random.below(36);
  const double steepness = static_cast<double>(random.below(1000)) * 0.01;
  for (std::size_t i = 0; i < symbols; ++i) {
    const double away = std::fabs(static_cast<double>(i) - static_cast<double>(symbols) / 2);
    const auto centre = static_cast<double>(most) * std::exp(-away * steepness / 10);
    histogram[i] = random.below(static_cast<std::uint64_t>(centre) + 2);
  }
  return histogram;
}

}  // namespace

TEST_CASE("codebooks made on the device are core's", "[gpu][codebook]") {
  if (device() == nullptr) return;
  gpu::DeviceContext gpu;
  for (const std::size_t symbols : {2, 1000, 1024, 4096, 4097, 65536}) {
    CAPTURE(symbols);
    Histogram one(symbols, 0);
    check_codebook(gpu, one);
    one[symbols / 2] = 5;
    check_codebook(gpu, one);
    one[0] = 5;
    check_codebook(gpu, one);
    check_codebook(gpu, Histogram(symbols, 1));
    check_codebook(gpu, Histogram(symbols, 123'456'789));
    Histogram rising(symbols);
    std::iota(rising.begin(), rising.end(), 1);
    check_codebook(gpu, rising);
    if (symbols > 100) check_codebook(gpu, fibonacci_counts(symbols, 56));
  }
}

TEST_CASE("codebooks of random histograms are core's", "[gpu][codebook]") {
  if (device() == nullptr) return;
  gpu::DeviceContext gpu;
  Random random(17);
  for (int i = 0; i < 400; ++i) {
    const std::size_t symbols = 2 + random.below(i % 20 == 0 ? 65535 : i % 4 == 0 ? 5000 : 1024);
    CAPTURE(i, symbols);
    check_codebook(gpu, random_counts(random, symbols));
  }
}

TEST_CASE("a codebook for memory and race checkers", "[gpu][.checker]") {
  if (device() == nullptr) return;
  gpu::DeviceContext gpu;
  Random random(18);
  for (const std::size_t symbols : {64, 1024, 5000}) {
    check_codebook(gpu, random_counts(random, symbols));
  }
}

}  // namespace cuszi::test

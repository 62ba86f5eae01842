#include "gpu/zfp/zfp.cuh"

#include "core/field/chunk_index.hpp"
#include "cpu_ref/zfp/zfp.hpp"
#include "gpu/field/chunk_index.cuh"
#include "gpu/runtime/copies.hpp"
#include "tests/gpu/device.hpp"
#include "tests/property/zfp_case.hpp"
#include "tests/support/catch.hpp"

namespace cuszi::test {

namespace {

template <class T>
bool same_bits(const T* a, const std::vector<T>& b) {
  return std::memcmp(a, b.data(), b.size() * sizeof(T)) == 0;
}

template <class T>
void check_stream(gpu::DeviceContext& gpu, const ZfpCase<T>& given, std::uint32_t chunk) {
  const auto expected = cpu::zfp_encode<T>(given.params, given.dims, given.values, chunk);
  std::vector<T> restored(given.values.size());
  cpu::zfp_decode<T>(given.params, given.dims, expected.bytes, std::vector<BitCount>{0}, chunk,
                     std::span<T>(restored));

  gpu.reset();
  const T* const values = upload(gpu, given.values.data(), given.values.size());
  const gpu::ZfpStream stream = gpu::zfp_encode<T>(gpu, given.params, given.dims, values);
  const std::uint64_t words = ceil_div(stream.bits, 64);
  const std::uint64_t* const made = download(gpu, stream.words, words);
  const BitCount* const starts =
      stream.starts == nullptr ? nullptr : gpu::zfp_chunk_starts(gpu, stream, chunk);
  T* const out = gpu.take<T>(given.values.size());
  const Bytes bytes = std::as_bytes(std::span(stream.words, words));
  gpu::zfp_decode<T>(gpu, given.params, given.dims, bytes, starts, chunk, {}, out);
  const T* const found = download(gpu, out, given.values.size());
  const std::uint32_t& flaws = *download(gpu, gpu.flaws(), 1);
  gpu.sync();
  REQUIRE(stream.bits == expected.bits);
  REQUIRE(std::memcmp(made, expected.bytes.data(), expected.bytes.size()) == 0);
  REQUIRE(flaws == 0);
  REQUIRE(same_bits(found, restored));
}

}  // namespace

TEMPLATE_TEST_CASE("zfp streams of the device are those of the CPU, both ways", "", float, double) {
  if (device() == nullptr) return;
  gpu::DeviceContext gpu;
  Random random(sizeof(TestType));
  for (int i = 0; i < 1000; ++i) {
    const auto given = random_zfp_case<TestType>(random);
    INFO("case " << i << ": " << given.text);
    check_stream(gpu, given, static_cast<std::uint32_t>(1 + random.below(20)));
  }
}

TEST_CASE("a damaged zfp stream sets a flaw or gives other values on the device") {
  if (device() == nullptr) return;
  gpu::DeviceContext gpu;
  Random random(3);
  int flawed = 0;
  for (int i = 0; i < 300; ++i) {
    auto given = random_zfp_case<float>(random);
    given.params = ZfpParams::accuracy(1e-3);
    const auto stream = cpu::zfp_encode<float>(given.params, given.dims, given.values, 4);
    auto bytes = stream.bytes;
    bytes[random.below(bytes.size())] ^= static_cast<std::byte>(1 + random.below(255));
    auto starts =
        decode_index(IndexKind::offset, 1, encode_index(IndexKind::offset, 1, stream.chunk_bits),
                     stream.chunk_bits.size(), bytes.size() * 8);
    starts.push_back(bytes.size() * 8);
    gpu.reset();
    float* const out = gpu.take<float>(given.values.size());
    const Bytes there{upload(gpu, bytes.data(), bytes.size()), bytes.size()};
    gpu::zfp_decode<float>(gpu, given.params, given.dims, there,
                           upload(gpu, starts.data(), starts.size()), 4, {}, out);
    const std::uint32_t& flaws = *download(gpu, gpu.flaws(), 1);
    gpu.sync();
    flawed += flaws != 0 ? 1 : 0;
  }
  REQUIRE(flawed > 0);
}

}  // namespace cuszi::test

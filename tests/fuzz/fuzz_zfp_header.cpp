#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>
#include <stdexcept>
#include <vector>

#include "codec/archive/zfp_import_export.hpp"
#include "core/base/error.hpp"
#include "core/zfp/zfp_bits.hpp"
#include "test_data/random.hpp"

namespace {

using namespace cuszi;

using Words = std::vector<std::uint64_t>;
using Reader = ZfpBitReader<const std::uint64_t*>;

constexpr std::size_t choice_bytes = 48;
constexpr std::uint64_t most_values = std::uint64_t{1} << 16;

void require(bool kept, const char* promise) {
  if (!kept) throw std::logic_error(promise);
}

Words words_of(Bytes bytes) {
  Words words(ceil_div(bytes.size(), 8));
  std::memcpy(words.data(), bytes.data(), bytes.size());
  return words;
}

ZfpHeader any_header(test::Random& random) {
  ZfpHeader header;
  header.scalar = random.pick({ZfpScalar::f32, ZfpScalar::f64, ZfpScalar::f32, ZfpScalar::i32});
  std::vector<std::uint64_t> extents(1 + random.below(4));
  for (std::uint64_t& extent : extents) extent = 1 + random.below(9);
  header.dims = *Dims::make(extents);
  switch (random.below(5)) {
    case 0: header.params = ZfpParams::reversible(); break;
    case 1:
      header.params = ZfpParams::precision(1 + static_cast<std::uint32_t>(random.below(64)));
      break;
    case 2: header.params = ZfpParams::rate(random.uniform() * 64, header.dims.rank(), 8); break;
    case 3: header.params = ZfpParams::accuracy(random.uniform()); break;
    default:
      header.params.max_bits = 1 + static_cast<std::uint32_t>(random.below(3000));
      header.params.min_bits = static_cast<std::uint32_t>(random.below(4000));
  }
  return header;
}

/// The input behind a header, of which a bit may be wrong.
Words stream_of(test::Random& random, Bytes input) {
  const ZfpHeaderBits header = write_zfp_header(any_header(random));
  Words words(header.words.size() + input.size() / 8 + 2);
  ZfpBitWriter<std::uint64_t*> out(words.data());
  for (BitCount at = 0; at < header.count; at += 64) {
    const auto bits = static_cast<unsigned>(std::min<BitCount>(header.count - at, 64));
    out.put(header.words.at(at / 64) & low_bits(bits), bits);
  }
  for (const std::byte byte : input) out.put(static_cast<std::uint64_t>(byte), 8);
  out.flush();
  words.resize(ceil_div(out.position(), 64));
  if (random.one_in(3)) {
    const BitCount wrong = random.below(header.count);
    words[wrong / 64] ^= std::uint64_t{1} << (wrong % 64);
  }
  return words;
}

/// An archive of a stream gives the stream back: its header, and its bits up to the last word.
void check_way_back(const Words& stream, Bytes archive) {
  MemorySource source(archive);
  ArchiveReader reader(source);
  MemorySink sink;
  const ZfpExport made = export_zfp(reader, sink);
  require(made.bytes == sink.bytes().size(), "a stream of another size than is told");
  const Words exported = words_of(sink.bytes());
  Reader before(stream.data(), stream.size(), 0);
  Reader after(exported.data(), exported.size(), 0);
  const ZfpHeader header = read_zfp_header(before);
  const ZfpHeader again = read_zfp_header(after);
  require(again.scalar == header.scalar && again.dims == header.dims, "another field");
  require(again.params == header.params, "other parameters");
  while (after.position() + 128 <= exported.size() * 64) {
    require(before.get(64) == after.get(64), "other bits");
  }
}

}  // namespace

/// Imports the input as a stream of the zfp library, behind choices of a header or with its own.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Bytes input = std::as_bytes(std::span(data, size));
  const std::size_t choices = std::min(size, choice_bytes);
  test::Random random(input.first(choices));
  const Words stream =
      random.one_in(8) ? words_of(input) : stream_of(random, input.subspan(choices));
  MemorySink archive;
  try {
    Reader in(stream.data(), stream.size(), 0);
    if (read_zfp_header(in).dims.count() > most_values) return 0;
    import_zfp(std::as_bytes(std::span(stream)), {}, archive);
  } catch (const ArchiveError&) {  // it is damaged,
    return 0;
  } catch (const InputError&) {  // or is what no archive can hold
    return 0;
  }
  check_way_back(stream, archive.bytes());
  return 0;
}

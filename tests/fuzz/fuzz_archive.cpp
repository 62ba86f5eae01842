#ifdef _OPENMP
#include <omp.h>
#endif

#include "codec/archive_reader.hpp"
#include "core/error.hpp"
#include "tests/support/archive_codec.hpp"
#include "tests/support/checksums.hpp"

namespace {

using namespace cuszi;

/// Fields that are larger take the fuzzer's time and memory, not new paths.
constexpr std::uint64_t max_values = std::uint64_t{1} << 14;

void read(Bytes archive) {
  try {
    MemorySource source(archive);
    const ArchiveHeader header = ArchiveReader(source).header();
    if (header.plan.dims.count() > max_values) return;
    test::restore_archive(archive);
    source.seek(0);
    test::restore_preview(source, 2);
    source.seek(0);
    ArchiveReader(source).frame(header.plan.frames() - 1);
  } catch (const ArchiveError&) {
    // The only way in which reading may fail,
  } catch (const DeviceError&) {
    // but for packed sections, which need a GPU.
  }
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int* /*argc*/, char*** /*argv*/) {
#ifdef _OPENMP
  omp_set_num_threads(1);
#endif
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Bytes input = std::as_bytes(std::span(data, size));
  read(input);
  // Hardly any change of the fuzzer's keeps the checksums right.
  std::vector<std::byte> repaired(input.begin(), input.end());
  test::repair_checksums(repaired);
  read(repaired);
  return 0;
}

#include "core/base/bytes.hpp"
#include "cuszi/gpu.hpp"
#include "tests/compat/corpus.hpp"
#include "tests/gpu/device.hpp"
#include "tests/support/archive_codec.hpp"
#include "tests/support/catch.hpp"

namespace cuszi::test {

namespace {

bool can_unpack() {
  try {
    gpu::require_bitcomp();
    return true;
  } catch (const DeviceError&) {
    return false;
  }
}

}  // namespace

TEST_CASE("a device restores archives of released versions", "[gpu]") {
  if (device() == nullptr) return;
  const bool unpacks = can_unpack();
  for (const auto& folder : corpus_folders()) {
    for (const CorpusArchive& a : read_corpus(folder)) {
      if (!unpacks && a.features.contains("lossless:bitcomp")) continue;
      INFO(folder << ", " << a.name << ": " << a.options);
      CHECK(block_hash(restore_archive(a.archive, {DeviceChoice::Kind::cuda, 0})) == a.hash);
    }
  }
}

}  // namespace cuszi::test

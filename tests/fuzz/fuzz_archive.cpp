#include <cstdint>
#include <span>

#include "cpu_ref/base/thread_count.hpp"
#include "tests/support/hostile_archive.hpp"

/// Reads the input as an archive.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const cuszi::ThreadsScope alone(1);  // the fields are too small for more
  cuszi::test::read_hostile(std::as_bytes(std::span(data, size)));
  return 0;
}

#include <cstdint>
#include <span>

#include "tests/support/hostile_archive.hpp"

#ifdef _OPENMP
#include <omp.h>
#endif

extern "C" int LLVMFuzzerInitialize(int* /*argc*/, char*** /*argv*/) {
#ifdef _OPENMP
  omp_set_num_threads(1);  // the fields are too small for more
#endif
  return 0;
}

/// Reads the input as an archive.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  cuszi::test::read_hostile(std::as_bytes(std::span(data, size)));
  return 0;
}

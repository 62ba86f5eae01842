#include "core/base/growing_memory.hpp"

#if defined(__linux__)
#include <sys/mman.h>
#include <unistd.h>
#endif

namespace cuszi {

void prefer_huge_pages([[maybe_unused]] void* memory, [[maybe_unused]] std::size_t bytes) noexcept {
#if defined(__linux__) && defined(MADV_HUGEPAGE)
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  std::size_t left = bytes;
  void* first = memory;
  if (std::align(page, page, first, left) == nullptr) return;
  ::madvise(first, left / page * page, MADV_HUGEPAGE);  // advice: a failure changes nothing
#endif
}

}  // namespace cuszi

#pragma once

namespace cuszi::cpu {

/// Brings the cache line of an address near, to be read or written.
template <bool is_written = false>
inline void prefetch([[maybe_unused]] const void* address) {
#if defined(__GNUC__)
  __builtin_prefetch(address, is_written);
#endif
}

}  // namespace cuszi::cpu

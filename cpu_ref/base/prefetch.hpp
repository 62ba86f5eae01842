#pragma once

namespace cuszi::cpu {

/// Brings the cache line of an address near, if the compiler can ask for it.
inline void prefetch([[maybe_unused]] const void* address) {
#if defined(__GNUC__)
  __builtin_prefetch(address);
#endif
}

}  // namespace cuszi::cpu

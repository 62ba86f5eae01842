#pragma once

#include <cstdlib>

namespace cuszi::test {

/// Whether sanitizers watch, which takes ten times as long: tests then try less of what is the same
/// again.
#if defined(CUSZI_SANITIZED) || defined(__SANITIZE_THREAD__)
inline constexpr bool sanitized = true;
#else
inline constexpr bool sanitized = false;
#endif

/// How many of a test's random cases are tried, or expected to cover something: all of them where
/// the environment has CUSZI_ALL_CASES.
inline int some_of(int cases) {
  static const bool all = std::getenv("CUSZI_ALL_CASES") != nullptr;
  constexpr int share = sanitized ? 32 : 4;
  return all ? cases : cases / share;
}

}  // namespace cuszi::test

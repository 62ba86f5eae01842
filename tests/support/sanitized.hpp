#pragma once

#include <cstdlib>

namespace cuszi::test {

/// Whether sanitizers watch, which takes ten times as long: tests then try less of what is the same
/// again.
#if defined(CUSZI_SANITIZED)
inline constexpr bool sanitized = true;
#else
inline constexpr bool sanitized = false;
#endif

/// Whether the environment asks for all cases, as before a release.
inline bool tries_all_cases() {
  static const bool all = std::getenv("CUSZI_ALL_CASES") != nullptr;
  return all;
}

/// How many of a test's random cases are tried, or expected to cover something.
inline int some_of(int cases) {
  constexpr int share = sanitized ? 32 : 4;
  return tries_all_cases() ? cases : cases / share;
}

}  // namespace cuszi::test

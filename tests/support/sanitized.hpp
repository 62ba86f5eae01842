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

/// How many of a test's random cases are tried.
inline int some_of(int cases) {
  constexpr int share = sanitized ? 96 : 8;
  return tries_all_cases() ? cases : cases / share;
}

/// How many of a test's random cases have to cover something. A few, under sanitizers, need not.
inline int expected_of(int cases) { return sanitized && !tries_all_cases() ? -1 : some_of(cases); }

}  // namespace cuszi::test

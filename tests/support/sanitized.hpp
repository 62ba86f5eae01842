#pragma once

#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

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

/// Seeds of a thorough test: `count` from `first` on. Where CUSZI_PART is "K/N", every Nth of them
/// from the Kth on (0 <= K < N), so that N processes share them.
inline std::vector<std::uint64_t> thorough_seeds(std::uint64_t first, std::uint64_t count) {
  const char* const asked = std::getenv("CUSZI_PART");
  const std::string part = asked == nullptr ? "0/1" : asked;
  const std::uint64_t own = std::stoull(part);
  const std::uint64_t parts = std::stoull(part.substr(part.find('/') + 1));
  if (own >= parts || parts > count)
    throw std::invalid_argument("CUSZI_PART is " + part +
                                ", not K/N with K < N <= " + std::to_string(count));
  std::vector<std::uint64_t> seeds;
  for (std::uint64_t i = own; i < count; i += parts) seeds.push_back(first + i);
  return seeds;
}

}  // namespace cuszi::test

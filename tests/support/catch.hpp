#pragma once

// Debian 12 ships Catch2 2, later systems Catch2 3.
#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
#else
#include <catch2/catch.hpp>
#endif

/// REQUIRE for each point of a field: Catch2's own takes longer than what it checks.
#define REQUIRE_EACH(...)                       \
  do {                                          \
    if (!(__VA_ARGS__)) REQUIRE((__VA_ARGS__)); \
  } while (false)

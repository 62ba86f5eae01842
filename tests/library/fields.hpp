#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "cuszi/cuszi.hpp"
#include "tests/support/catch.hpp"

// What the tests of the C API share.

namespace cuszi::test {

using Archive = std::vector<std::byte>;
using Dims = std::vector<std::uint64_t>;

/// Waves with noise.
template <class T>
std::vector<T> make_values(std::size_t count, unsigned seed = 1) {
  std::mt19937 random(seed);
  std::normal_distribution<double> noise(0, 1e-3);
  std::vector<T> values(count);
  for (std::size_t i = 0; i < count; ++i) {
    values[i] = static_cast<T>(std::sin(0.01 * static_cast<double>(i)) + noise(random));
  }
  return values;
}

template <class T>
double largest_error(const std::vector<T>& a, const std::vector<T>& b) {
  REQUIRE(a.size() == b.size());
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    largest = std::max(largest, std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i])));
  }
  return largest;
}

inline const Dims dims{12, 30, 40};
inline constexpr std::size_t points = 12 * 30 * 40;

inline Archive archive_of(const std::vector<float>& values, const cuszi_options& options) {
  Context context;
  return context.compress(values, dims, options);
}

/// The status and text of a compression with these options.
inline std::pair<cuszi_status, std::string> failure_of(const cuszi_options& options) {
  try {
    archive_of(make_values<float>(points), options);
  } catch (const Error& error) {
    return {error.status(), error.what()};
  }
  return {CUSZI_OK, ""};
}

/// Whether `work` says so in a child process, which a call that hangs does not outlive.
template <class Work>
bool in_child(const Work& work) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    bool good = false;
    try {
      good = work();
    } catch (const Error& error) {  // and so it is not good
      std::fprintf(stderr, "in a child process: %s\n", error.what());
    }
    _exit(good ? 0 : 1);
  }
  int status = -1;
  return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

}  // namespace cuszi::test

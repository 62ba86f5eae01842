#include "cpu_ref/base/thread_count.hpp"

#include <sched.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <string>
#include <thread>

namespace cuszi {

namespace {

thread_local int chosen_threads = 0;  // 0: not set

std::optional<std::uint64_t> number_at(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{}) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

std::string own_cgroup() {
  std::ifstream file("/proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("0::/")) return line.size() == 4 ? "" : line.substr(3);
  }
  return "";
}

/// The smallest limit of this process's cgroup and its ancestors (version 1: its own).
int processors_of_cgroups() {
  int fewest = std::numeric_limits<int>::max();
  const auto limit = [&](const std::string& cpu_max) {
    fewest = std::min(fewest, processors_of_quota(cpu_max).value_or(fewest));
  };
  const std::string root = "/sys/fs/cgroup";
  for (std::string group = own_cgroup();; group.resize(group.rfind('/'))) {
    limit(first_line(root + group + "/cpu.max"));
    if (group.empty()) break;
  }
  limit(first_line(root + "/cpu/cpu.cfs_quota_us") + " " +
        first_line(root + "/cpu/cpu.cfs_period_us"));
  return fewest;
}

int processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set);
  return static_cast<int>(std::thread::hardware_concurrency());
}

}  // namespace

std::optional<int> processors_of_quota(std::string_view cpu_max) {
  const auto quota = number_at(cpu_max);
  const auto period = number_at(cpu_max);
  if (!quota || !period || *quota == 0 || *period == 0) return std::nullopt;
  constexpr std::uint64_t most = std::numeric_limits<int>::max();
  return static_cast<int>(std::min((*quota - 1) / *period + 1, most));
}

std::optional<int> threads_of_variable(std::string_view text) {
  const auto number = number_at(text);
  constexpr std::uint64_t most = std::numeric_limits<int>::max();
  if (!number || *number == 0) return std::nullopt;
  return static_cast<int>(std::min(*number, most));
}

int usable_threads() {
  static const int cgroups = processors_of_cgroups();
  static const std::optional<int> wished = [] {
    const char* const text = std::getenv("OMP_NUM_THREADS");
    return text == nullptr ? std::nullopt : threads_of_variable(text);
  }();
  return wished.value_or(std::max(std::min(processors(), cgroups), 1));
}

int threads_in_use() { return chosen_threads != 0 ? chosen_threads : usable_threads(); }

ThreadsScope::ThreadsScope(std::optional<int> threads) : before_(chosen_threads) {
  if (threads) chosen_threads = *threads;
}

ThreadsScope::~ThreadsScope() { chosen_threads = before_; }

}  // namespace cuszi

#pragma once

#include <algorithm>
#include <vector>

#include "core/coders/ans_chain.hpp"

namespace cuszi::cpu {

struct SlotRun {
  std::size_t list = 0;
  std::uint32_t begin = 0;  ///< in the segment
  std::uint32_t end = 0;
  std::uint64_t skipped = 0;  ///< slots of the list before this run

  std::size_t size() const { return end - begin; }
};

inline std::vector<SlotRun> runs_of(const ChainPlan& plan, const ChainSegment& segment) {
  const auto after =
      std::upper_bound(plan.lists.begin(), plan.lists.end(), segment.first,
                       [](std::uint64_t slot, const SlotList& list) { return slot < list.first; });
  const std::uint64_t end = segment.first + segment.slots;
  std::vector<SlotRun> runs;
  for (auto list = after - 1; list != plan.lists.end() && list->first < end; ++list) {
    const std::uint64_t from = std::max(list->first, segment.first);
    const std::uint64_t to = std::min(list->first + list->count, end);
    runs.push_back({static_cast<std::size_t>(list - plan.lists.begin()),
                    static_cast<std::uint32_t>(from - segment.first),
                    static_cast<std::uint32_t>(to - segment.first), from - list->first});
  }
  return runs;
}

}  // namespace cuszi::cpu

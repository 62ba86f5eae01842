#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "core/coders/ans_chain.hpp"

namespace cuszi::cpu {

struct PassCodes {
  std::span<QuantCode> codes;
  std::span<const std::uint8_t> contexts;  ///< empty: one context
  PassShape shape;
};

/// Sections of a level; empty if all codes are the centre.
struct AnsStream {
  std::vector<std::byte> index;
  std::vector<std::byte> codes;
};

/// Encodes a level; reorders its codes. Independent of the number of threads.
AnsStream ans_encode(const AnsParams& params, std::span<const PassCodes> passes);

/// Estimates the bytes of ans_encode(), to a few per mille.
std::uint64_t ans_bytes(const AnsParams& params, std::span<const PassCodes> passes);

class AnsLevel {
 public:
  /// Throws ArchiveError.
  AnsLevel(const AnsParams& params, Bytes index, Bytes codes, std::span<const PassShape> shapes);

  /// Moves a pass's codes to their positions, by `contexts` (empty: one context). Throws
  /// ArchiveError if the counts disagree.
  void place(std::size_t pass, std::span<const std::uint8_t> contexts,
             std::span<QuantCode> codes) const;

 private:
  void restore_table(const TableLists& table, std::span<QuantCode> codes) const;

  QuantCode centre_;
  std::vector<PassTables> passes_;
  std::vector<SlotList> lists_;
  std::vector<QuantCode> codes_;        ///< SlotKind::code
  std::vector<std::uint32_t> numbers_;  ///< other kinds
};

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

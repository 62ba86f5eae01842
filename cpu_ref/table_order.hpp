#pragma once

#include <algorithm>
#include <array>
#include <span>
#include <utility>
#include <vector>

#include "core/units.hpp"
#include "cpu_ref/parallel.hpp"

namespace cuszi::cpu {

inline constexpr std::uint64_t ans_symbols_per_task = std::uint64_t{1} << 18;

/// The table of every context.
using TableOf = std::array<std::uint8_t, 256>;

/// The order of a pass's codes table by table, in which those of one table keep theirs.
class TableOrder {
 public:
  /// Keeps both spans. Without contexts all codes are of table 0.
  TableOrder(std::span<const std::uint8_t> contexts, const TableOf& table_of, std::size_t symbols,
             std::size_t tables)
      : contexts_(contexts),
        table_of_(table_of),
        symbols_(symbols),
        counts_(tables, 0),
        cursors_(ceil_div(symbols, ans_symbols_per_task)) {
    if (is_given()) {
      counts_.front() = symbols;
      return;
    }
    count();
  }

  /// How many codes each table has.
  const std::vector<std::uint64_t>& counts() const { return counts_; }
  /// Whether the codes are in this order anyway.
  bool is_given() const { return contexts_.empty() || counts_.size() == 1; }

  /// Calls move(i, place) for the code that is the i-th of the pass and stands at that place.
  template <class Move>
  void for_each(const Move& move) const {
    parallel_for(cursors_.size(), [&](std::uint64_t task) {
      auto cursors = cursors_[task];
      const std::uint64_t end = std::min(symbols_, (task + 1) * ans_symbols_per_task);
      for (std::uint64_t i = task * ans_symbols_per_task; i < end; ++i) {
        move(i, cursors[table_of_[contexts_[i]]]++);
      }
    });
  }

 private:
  void count() {
    parallel_for(cursors_.size(), [&](std::uint64_t task) {
      std::array<std::uint64_t, 256> of_context{};
      const std::uint64_t end = std::min(symbols_, (task + 1) * ans_symbols_per_task);
      for (std::uint64_t i = task * ans_symbols_per_task; i < end; ++i) ++of_context[contexts_[i]];
      cursors_[task].assign(counts_.size(), 0);
      for (std::size_t c = 0; c < of_context.size(); ++c) {
        if (of_context[c] != 0) cursors_[task][table_of_[c]] += of_context[c];
      }
    });
    std::uint64_t at = 0;
    for (std::size_t table = 0; table < counts_.size(); ++table) {
      for (auto& cursors : cursors_) {
        const std::uint64_t count = std::exchange(cursors[table], at);
        counts_[table] += count;
        at += count;
      }
    }
  }

  std::span<const std::uint8_t> contexts_;
  const TableOf& table_of_;
  std::uint64_t symbols_;
  std::vector<std::uint64_t> counts_;
  std::vector<std::vector<std::uint64_t>> cursors_;  ///< [task][table]
};

}  // namespace cuszi::cpu

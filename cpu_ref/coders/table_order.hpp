#pragma once

#include <algorithm>
#include <array>
#include <span>
#include <utility>
#include <vector>

#include "core/base/units.hpp"
#include "cpu_ref/base/parallel.hpp"

namespace cuszi::cpu {

inline constexpr std::uint64_t ans_symbols_per_task = std::uint64_t{1} << 18;

using TableOf = std::array<std::uint8_t, 256>;

class TableOrder {
 public:
  /// Keeps references to the spans. Without contexts, all codes are of table 0.
  TableOrder(std::span<const std::uint8_t> contexts, const TableOf& table_of, std::size_t symbols,
             std::size_t tables)
      : contexts_(contexts),
        table_of_(table_of),
        symbols_(symbols),
        counts_(tables, 0),
        cursors_(strands * ceil_div(symbols, ans_symbols_per_task)) {
    if (is_given()) {
      counts_.front() = symbols;
      return;
    }
    count();
  }

  const std::vector<std::uint64_t>& counts() const { return counts_; }
  /// Whether this is the original order.
  bool is_given() const { return contexts_.empty() || counts_.size() == 1; }

  /// Calls move(i, position in this order) for each code.
  template <class Move>
  void for_each(const Move& move) const {
    parallel_for(cursors_.size() / strands, [&](std::uint64_t task) {
      std::array<Cursors, strands> cursors;
      std::copy_n(cursors_.begin() + static_cast<std::ptrdiff_t>(strands * task), strands,
                  cursors.begin());
      for_each_of_task(task, [&](std::uint64_t i, std::size_t strand) {
        move(i, cursors[strand][table_of_[contexts_[i]]]++);
      });
    });
  }

 private:
  using Cursors = std::vector<std::uint64_t>;  ///< [table]

  /// Interleaved parts: equal consecutive tables would stall on one counter.
  static constexpr std::size_t strands = 4;

  template <class Visit>
  void for_each_of_task(std::uint64_t task, const Visit& visit) const {
    const std::uint64_t first = task * ans_symbols_per_task;
    const std::uint64_t count = std::min(symbols_ - first, ans_symbols_per_task);
    const std::uint64_t length = count / strands;
    for (std::uint64_t i = 0; i < length; ++i) {
      for (std::size_t s = 0; s < strands; ++s) visit(first + s * length + i, s);
    }
    for (std::uint64_t i = strands * length; i < count; ++i) visit(first + i, strands - 1);
  }

  void count() {
    parallel_for(cursors_.size() / strands, [&](std::uint64_t task) {
      std::array<std::array<std::uint32_t, 256>, strands> of_context{};
      for_each_of_task(
          task, [&](std::uint64_t i, std::size_t strand) { ++of_context[strand][contexts_[i]]; });
      for (std::size_t s = 0; s < strands; ++s) {
        Cursors& cursors = cursors_[strands * task + s];
        cursors.assign(counts_.size(), 0);
        for (std::size_t c = 0; c < of_context[s].size(); ++c) {
          if (of_context[s][c] != 0) cursors[table_of_[c]] += of_context[s][c];
        }
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
  std::vector<Cursors> cursors_;
};

}  // namespace cuszi::cpu

#pragma once

#include "core/base/unmovable.hpp"
#include "cpu_ref/base/wide_vectors.hpp"
#include "cpu_ref/multilevel/neighbour_columns.hpp"
#include "cpu_ref/multilevel/row_taps.hpp"

namespace cuszi::cpu {

/// Source of a tap along the fastest axis: the class's own columns, or gathered neighbour columns.
class ColumnTaps {
 public:
  static constexpr std::size_t most_rows = 12;  ///< with gathered columns
  static constexpr std::uint8_t own_columns = most_rows;

  struct Source {
    std::uint8_t row = own_columns;  ///< index of the gathered row
    std::int8_t shift = 0;           ///< in columns
  };

  ColumnTaps(const PointClass& points, const Stencil& stencil) {
    for (unsigned i = 0; i < stencil.all_taps(); ++i) {
      const Tap& tap = stencil.taps[i];
      const auto units = int{tap[3]};
      if (units == 0) continue;
      const bool is_between = units % 2 != 0;
      const int shift = (units + (is_between ? 1 : 0)) / 2;
      const std::uint8_t row = row_of(stencil, i);
      sources_[i] = {row, static_cast<std::int8_t>(shift)};
      shifts_[row].lowest = std::min(shifts_[row].lowest, shift);
      shifts_[row].highest = std::max(shifts_[row].highest, shift);
      kind_ = points.is_odd(3) ? ColumnKind::between_odd
                               : (is_between ? ColumnKind::between_slices : ColumnKind::among);
    }
  }

  const Source& operator[](unsigned tap) const { return sources_[tap]; }
  std::size_t rows() const { return rows_; }
  unsigned tap_of_row(std::size_t row) const { return taps_[row]; }
  const Shifts& shifts_of_row(std::size_t row) const { return shifts_[row]; }
  ColumnKind kind() const { return kind_; }

 private:
  std::uint8_t row_of(const Stencil& stencil, unsigned i) {
    const auto same_row = [&](unsigned other) {
      return std::equal(stencil.taps[i].begin(), stencil.taps[i].begin() + 3,
                        stencil.taps[other].begin());
    };
    for (std::size_t row = 0; row < rows_; ++row) {
      if (same_row(taps_[row])) return static_cast<std::uint8_t>(row);
    }
    taps_.at(rows_) = i;
    return static_cast<std::uint8_t>(rows_++);
  }

  std::array<Source, Stencil::most_taps> sources_{};
  std::array<unsigned, most_rows> taps_{};
  std::array<Shifts, most_rows> shifts_{};
  std::size_t rows_ = 0;
  ColumnKind kind_ = ColumnKind::among;
};

/// Predicts a class row by row. Neighbour columns and extrapolated taps are copied, so each tap is
/// a pack of values. Equal to core's prediction().
template <class T>
class RowPredictor : Unmovable {
 public:
  /// Keeps references.
  RowPredictor(const FramePlan<T>& frame, const ClassPlan<T>& plan)
      : grid_(frame.grid),
        plan_(plan),
        points_(plan.points),
        columns_(points_, plan.stencil),
        taps_(grid_, points_, plan.stencil) {}

  /// Needs row_points elements in `out`.
  void predict(const T* values, const Row& row, T* out);

 private:
  static constexpr std::size_t block_points = NeighbourColumns<T>::most_points;
  /// Three distances along three axes on both sides, and one of them in two slices.
  static constexpr std::size_t most_far = 18 + 12;

  template <class Step>
  struct Block {
    const T* values;
    const Row& row;
    std::size_t first;
    std::size_t count;
    Step step;

    const T* value(std::size_t k) const {
      return values + row.offset + static_cast<std::ptrdiff_t>(first + k) * step;
    }
  };

  bool is_row_at_edge(const Row& row) const;
  template <class Step>
  void put_edge_predictions(const T* values, const Row& row, Step step, T* out) const;
  void find_copies();
  template <class Step>
  void put_inner_predictions(const T* values, const Row& row, Step step, T* out);
  template <class Step>
  void make_up(const Block<Step>& block);
  template <class Step>
  void make_up(const Block<Step>& block, unsigned i, T* out) const;
  template <class Step>
  void copy_neighbours(const Block<Step>& block);
  template <class V, class Step>
  void put_block(const Block<Step>& block, T* out) const;
  template <class P, class Load>
  P interpolate(std::size_t k, const Load& load) const;

  const Grid& grid_;
  const ClassPlan<T>& plan_;
  const PointClass& points_;
  ColumnTaps columns_;
  RowTaps<Stencil> taps_;
  std::array<NeighbourColumns<T>, ColumnTaps::most_rows> neighbours_;
  std::array<std::array<T, block_points>, most_far> made_up_;  ///< extrapolated taps
  std::array<const T*, Stencil::most_taps> copies_{};          ///< of taps; null if read in place
};

extern template class RowPredictor<float>;
extern template class RowPredictor<double>;

/// Calls work(state, class, row, prediction) for all points of a pass, on all threads.
template <class T, class MakeState, class Work, class Finish>
void for_each_predicted_row(const FramePlan<T>& plan, const Pass& pass, const T* values,
                            const MakeState& make_state, const Work& work, const Finish& finish) {
  using State = decltype(make_state());
  struct Thread {
    State state;
    OfClass<T, RowPredictor<T>> predictor = {};
  };
  for_each_row(
      plan, pass, [&] { return Thread{make_state()}; },
      [&](Thread& thread, const ClassPlan<T>& c, const Row& row) {
        T prediction[row_points];
        thread.predictor.of(c, plan).predict(values, row, prediction);
        work(thread.state, c, row, prediction);
      },
      [&](const Thread& thread) { finish(thread.state); });
}

}  // namespace cuszi::cpu

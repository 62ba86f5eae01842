#pragma once

#include <optional>
#include <utility>

#include "core/wide_vectors.hpp"
#include "cpu_ref/beside_columns.hpp"

namespace cuszi::cpu {

/// What the taps of a class read along the fastest axis: its own columns, where nothing can be out
/// of the array, or columns beside these.
class ColumnTaps {
 public:
  static constexpr std::size_t most_rows = 12;  ///< of which columns beside are read
  static constexpr std::uint8_t own_columns = most_rows;

  struct Source {
    std::uint8_t row = own_columns;  ///< among those of which columns beside are read
    std::int8_t shift = 0;           ///< of columns
  };

  ColumnTaps(const PointClass& points, const Stencil& stencil) {
    for (unsigned i = 0; i < stencil.all_taps(); ++i) {
      const Tap& tap = stencil.taps[i];
      const auto units = int{tap[3]};
      if (units == 0) continue;
      const bool is_between = units % 2 != 0;
      const auto shift = static_cast<std::int8_t>((units + (is_between ? 1 : 0)) / 2);
      sources_[i] = {row_of(stencil, i), shift};
      kind_ = points.is_odd(3) ? ColumnKind::between_odd
                               : (is_between ? ColumnKind::between_slices : ColumnKind::among);
    }
  }

  const Source& operator[](unsigned tap) const { return sources_[tap]; }
  std::size_t rows() const { return rows_; }
  /// A tap that reads this row.
  unsigned tap_of_row(std::size_t row) const { return taps_[row]; }
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
  std::size_t rows_ = 0;
  ColumnKind kind_ = ColumnKind::among;
};

/// Predicts the points of one class, row by row. What taps read beside the columns of a row's
/// points is copied, and goes on where the array ends, so that a tap is a loop over points,
/// whatever the width of vectors. The sums and their order are those of core's prediction().
template <class T>
class RowPredictor {
 public:
  /// Keeps references.
  RowPredictor(const FramePlan<T>& frame, const ClassPlan<T>& plan)
      : grid_(frame.grid), plan_(plan), points_(plan.points), columns_(points_, plan.stencil) {}

  void predict(const T* values, const Row& row, T* out) const {
    interpolate(values, row, out);
    for (std::size_t k = 0; k < row.count; ++k) out[k] = snapped(plan_, out[k]);
  }

 private:
  static constexpr std::size_t block_points = BesideColumns<T>::most_points;

  using Taps = RowTaps<Stencil>;
  using Beside = std::array<BesideColumns<T>, ColumnTaps::most_rows>;

  void interpolate(const T* values, const Row& row, T* out) const {
    if (plan_.stencil.size == 0) {
      std::fill_n(out, row.count, plan_.rest);
      return;
    }
    if (is_row_at_edge(row)) {
      put_edge_predictions(values, row, out);
      return;
    }
    const bool is_complete = inner_part(row, points_, grid_, plan_.stencil_margins).complete;
    const Taps taps =
        is_complete ? Taps(plan_.stencil_offsets) : Taps(grid_, points_, row, plan_.stencil);
    const std::size_t inside = row.count - (is_last_at_edge(row, points_, grid_) ? 1 : 0);
    with_wide_vectors([&] {
      with_step(points_.step[3], [&](auto step) {
        for (std::size_t first = 0; first < inside; first += block_points) {
          const std::size_t count = std::min(block_points, inside - first);
          put_block(values, row, taps, first, count, step, out + first);
        }
      });
    });
    if (inside != row.count) {
      out[inside] = edge_prediction(point_of(grid_, points_, row, values, inside));
    }
  }

  /// Whether points of the row lack a neighbour that another row would have.
  bool is_row_at_edge(const Row& row) const {
    for (unsigned axis = 0; axis < 3; ++axis) {
      if (points_.is_odd(axis) && row.at[axis] + points_.unit[axis] >= grid_.extents[axis]) {
        return true;
      }
    }
    return false;
  }

  void put_edge_predictions(const T* values, const Row& row, T* out) const {
    const Inner inner = inner_part(row, points_, grid_, plan_.stencil_margins);
    std::size_t end = inner.begin;
    with_step(points_.step[3], [&](auto step) {
      end = for_each_pack<T>(inner.begin, inner.end, [&](std::size_t k) {
        edge_prediction(pack_of(grid_, points_, row, values, k, step)).store(out + k);
      });
    });
    const auto put = [&](std::size_t k) {
      out[k] = edge_prediction(point_of(grid_, points_, row, values, k));
    };
    for (std::size_t k = 0; k < inner.begin; ++k) put(k);
    for (std::size_t k = end; k < row.count; ++k) put(k);
  }

  /// interpolated() of points that have all neighbours at 1, from the `first` of a row on.
  template <class Step>
  void put_block(const T* values, const Row& row, const Taps& taps, std::size_t first,
                 std::size_t count, Step step, T* out) const {
    Beside beside;
    for (std::size_t r = 0; r < columns_.rows(); ++r) {
      take_columns(values, row, taps, r, first, count, step, beside[r]);
    }
    const T* const value = values + row.offset + static_cast<std::ptrdiff_t>(first) * step;
    const Stencil& stencil = plan_.stencil;
    T made_up[2][block_points];
    T of_group[block_points];
    std::fill_n(out, count, T{0});
    for (unsigned g = 0; g < stencil.size; ++g) {
      for (unsigned i = stencil.begin(g); i < stencil.end(g); i += 2) {
        constexpr std::integral_constant<std::ptrdiff_t, 1> next{};
        const bool is_first = i == stencil.begin(g);
        const ColumnTaps::Source source = columns_[i];
        if (taps.far[i] || taps.far[i + 1]) {
          make_up(values, row, i, first, count, step, made_up[0]);
          make_up(values, row, i + 1, first, count, step, made_up[1]);
          add_pair(made_up[0], made_up[1], next, count, is_first, of_group);
        } else if (source.row != ColumnTaps::own_columns) {
          const ColumnTaps::Source other = columns_[i + 1];
          add_pair(beside[source.row].shifted(source.shift), beside[other.row].shifted(other.shift),
                   next, count, is_first, of_group);
        } else {
          add_pair(value + taps.offsets[i], value + taps.offsets[i + 1], step, count, is_first,
                   of_group);
        }
      }
      const T weight = plan_.weights[g];
#pragma omp simd
      for (std::size_t k = 0; k < count; ++k) out[k] += weight * of_group[k];
    }
  }

  /// Adds two taps of all points, whose values stand so far apart.
  template <class Step>
  static void add_pair(const T* left, const T* right, Step step, std::size_t count, bool is_first,
                       T* sums) {
    const auto points = static_cast<std::ptrdiff_t>(count);
    if (!is_first) {
#pragma omp simd
      for (std::ptrdiff_t k = 0; k < points; ++k) sums[k] += left[k * step] + right[k * step];
      return;
    }
#pragma omp simd
    for (std::ptrdiff_t k = 0; k < points; ++k) sums[k] = left[k * step] + right[k * step];
  }

  /// The values of a tap that is out of the array, whichever the column.
  template <class Step>
  void make_up(const T* values, const Row& row, unsigned i, std::size_t first, std::size_t count,
               Step step, T* out) const {
    const Tap& tap = plan_.stencil.taps[i];
    const bool goes_beside = columns_[i].row != ColumnTaps::own_columns;
    const std::size_t end = for_each_pack<T>(0, goes_beside ? 0 : count, [&](std::size_t k) {
      tap_value(pack_of(grid_, points_, row, values, first + k, step), tap).store(out + k);
    });
    for (std::size_t k = end; k < count; ++k) {
      out[k] = tap_value(point_of(grid_, points_, row, values, first + k), tap);
    }
  }

  /// Those of one of the rows that taps read.
  template <class Step>
  void take_columns(const T* values, const Row& row, const Taps& taps, std::size_t r,
                    std::size_t first, std::size_t count, Step step,
                    BesideColumns<T>& beside) const {
    const unsigned tap = columns_.tap_of_row(r);
    const std::int64_t in_row =
        taps.offsets[tap] - plan_.stencil.taps[tap][3] * stride_of(grid_, points_, 3);
    beside.take(grid_, points_, row, values + in_row, columns_.kind(), first, count, step);
  }

  const Grid& grid_;
  const ClassPlan<T>& plan_;
  const PointClass& points_;
  ColumnTaps columns_;
};

/// Calls work(state, class, row, prediction) for all points of a pass, on all threads, with what
/// their neighbours in `values` predict.
template <class T, class MakeState, class Work, class Finish>
void for_each_predicted_row(const FramePlan<T>& plan, const Pass& pass, const T* values,
                            const MakeState& make_state, const Work& work, const Finish& finish) {
  using State = decltype(make_state());
  struct Thread {
    State state;
    const ClassPlan<T>* predicted = nullptr;
    std::optional<RowPredictor<T>> predictor = {};
  };
  for_each_row(
      plan, pass, [&] { return Thread{make_state()}; },
      [&](Thread& thread, const ClassPlan<T>& c, const Row& row) {
        if (std::exchange(thread.predicted, &c) != &c) thread.predictor.emplace(plan, c);
        T prediction[row_points];
        thread.predictor->predict(values, row, prediction);
        work(thread.state, c, row, prediction);
      },
      [&](const Thread& thread) { finish(thread.state); });
}

}  // namespace cuszi::cpu

#pragma once

#include <utility>

#include "gpu/cells/cell.cuh"

namespace cuszi::gpu {

/// The lines of a class of points: a thread takes up to `points` points that follow each other
/// along the last odd axis, so that what they share is in registers.
template <class Shape_, int spacing_, int odd_>
struct Line {
  using Shape = Shape_;
  static constexpr int spacing = spacing_;
  static constexpr int odd = odd_;
  static constexpr int order = (odd & 1) + (odd >> 1 & 1) + (odd >> 2 & 1);
  static constexpr int cells = Shape::half / spacing;  ///< along an axis of the tile
  static constexpr int points = Shape::rank == 1 ? 1 : cells < 8 ? cells : 8;
  static constexpr int pieces = cells / points;  ///< threads that share a line

  // The axis of lines, and the others: `across` is the faster one.
  static constexpr int along = (odd & 4) != 0 ? 2 : (odd & 2) != 0 ? 1 : 0;
  static constexpr int across = along == 2 ? 1 : 2;
  static constexpr int beyond = along == 0 ? 1 : 0;
  static constexpr bool is_odd(int axis) { return (odd >> axis & 1) != 0; }

  static constexpr int lines(int axis) {
    return !Shape::has(axis) ? 1 : is_odd(axis) ? cells : cells + 1;
  }
  static constexpr int count = lines(across) * lines(beyond) * pieces;

  /// How far apart in memory lines are that follow each other along an axis.
  CUSZI_HD static constexpr int step(int axis) { return spacing * CellPlaces<Shape>::unit(axis); }
  /// Neighbours on the line are so far apart in memory.
  static constexpr int stride = step(along);
  /// A coordinate of the i-th line along an axis, or of the i-th point on it.
  CUSZI_HD static constexpr int coordinate(int axis, int i) {
    return (2 * i + (is_odd(axis) ? 1 : 0)) * spacing;
  }
  /// Where a point of the first line lies, or of one that is so many spacings from it.
  CUSZI_HD static constexpr int place(int on_line, int by_across = 0, int by_beyond = 0) {
    const auto at = [&](int axis) {
      if (axis == along) return on_line * spacing;
      return coordinate(axis, 0) + (axis == across ? by_across : by_beyond) * spacing;
    };
    return CellPlaces<Shape>::of(at(0), at(1), at(2));
  }
};

/// Which line a thread has: numbers along the other axes, and its first point.
template <class L>
struct LinePlace {
  int b;  ///< along L::across
  int c;  ///< along L::beyond
  int first;

  __device__ explicit LinePlace(unsigned number)
      : b(static_cast<int>(number % L::lines(L::across))),
        c(static_cast<int>(number / L::lines(L::across) % L::lines(L::beyond))),
        first(L::pieces == 1
                  ? 0
                  : static_cast<int>(number / (L::lines(L::across) * L::lines(L::beyond)) *
                                     L::points)) {}

  /// Whether the line belongs to this tile, not to one behind.
  __device__ bool is_owned() const {
    return (L::is_odd(L::across) || b < L::cells) && (L::is_odd(L::beyond) || c < L::cells);
  }
  /// How far in memory the line's first point is from that of the first line.
  __device__ int offset() const {
    return b * L::step(L::across) + c * L::step(L::beyond) + first * L::stride;
  }
  /// A coordinate of the k-th point in its tile.
  __device__ int coordinate(int axis, int k) const {
    return L::coordinate(axis, axis == L::along ? first + k : axis == L::across ? b : c);
  }
};

/// Predicts points of a cell. `is_cut`: a part of the cell may lie outside the field, where values
/// are 0; else what neighbours a point has is known when this is compiled.
template <class L, bool is_cut, class T>
class LinePrediction {
 public:
  /// `weights`: those of all classes.
  __device__ LinePrediction(const T* values, const CellTile& tile, const LinePlace<L>& place,
                            const ClassWeights<T>* weights)
      : line_(values + place.offset()),
        tile_(tile),
        at_(place),
        weights_(weights +
                 (level_of_spacing(L::spacing) * L::Shape::classes + L::Shape::number_of(L::odd)) *
                     static_cast<int>(weights_of_set)) {}

  __device__ void operator()(T (&predicted)[L::points]) const {
    along(predicted);
    if constexpr (L::order == 2) {
      constexpr int other = L::is_odd(L::across) ? L::across : L::beyond;
      T across[L::points];
      T diagonal[L::points];
      spline<other>(across);
      diagonals<other>(diagonal);
      weigh(across, predicted, diagonal, predicted);
    }
    if constexpr (L::order == 3) {
      T z[L::points];
      T y[L::points];
      spline<L::beyond>(z);
      spline<L::across>(y);
      weigh(z, y, predicted, predicted);
    }
  }

 private:
  /// How many odd places along an axis have a neighbour behind them.
  __device__ int inner(int axis) const {
    return is_cut ? tile_.last[axis] / (2 * L::spacing) : L::cells;
  }
  template <int axis>
  __device__ int number() const {
    return axis == L::across ? at_.b : at_.c;
  }

  /// The weights of a point that has a neighbour above on the line, or not.
  __device__ ClassWeights<T> weights_of(bool on_line) const {
    constexpr unsigned along = 1U << (L::order - 1);
    unsigned known = on_line ? along : 0;
    if (!is_cut) return weights_[2 * along - 1];
    if constexpr (L::order == 2) {
      constexpr int other = L::is_odd(L::across) ? L::across : L::beyond;
      known += number<other>() < inner(other) ? 1 : 0;
    } else {
      known += (at_.c < inner(L::beyond) ? 1 : 0) + (at_.b < inner(L::across) ? 2 : 0);
    }
    return weights_[known];
  }
  /// Weighs what stands for the odd axes.
  __device__ void weigh(const T (&a)[L::points], const T (&b)[L::points], const T (&c)[L::points],
                        T (&sums)[L::points]) const {
    const ClassWeights<T> within = weights_of(true);
    const ClassWeights<T> at_end = is_cut ? weights_of(false) : within;
    const int inner_points = inner(L::along) - at_.first;
    CUSZI_UNROLL
    for (int k = 0; k < L::points; ++k) {
      ClassWeights<T> own = within;
      CUSZI_UNROLL
      for (int i = 0; i < 3; ++i)
        if (is_cut && k >= inner_points) own.of[i] = at_end.of[i];
      sums[k] = weighted(own, a[k], b[k], c[k]);
    }
  }

  __device__ void along(T (&predicted)[L::points]) const {
    constexpr bool is_split = L::pieces > 1;
    const T* const line = line_ + L::place(0);
    T even[L::points + 3];  // from the place before the first one's left neighbour on
    CUSZI_UNROLL
    for (int j = 0; j <= L::points; ++j) even[j + 1] = line[j * L::stride];
    even[0] = even[1];
    even[L::points + 2] = even[1];
    if (is_split && at_.first > 0) even[0] = line[-L::stride];
    if (is_split && at_.first + L::points < L::cells)
      even[L::points + 2] = line[(L::points + 1) * L::stride];
    const int inner_points = inner(L::along);
    CUSZI_UNROLL
    for (int k = 0; k < L::points; ++k) {
      const int number = at_.first + k;
      const LineNeighbours known{is_split && k == 0 ? number > 0 : k > 0,
                                 is_cut ? number < inner_points : true,
                                 is_cut                           ? number + 1 < inner_points
                                 : is_split && k + 1 == L::points ? number + 1 < L::cells
                                                                  : k + 1 < L::points};
      predicted[k] = spline_value(known, even[k], even[k + 1], even[k + 2], even[k + 3]);
    }
  }

  /// The spline along another odd axis, for all points of the line.
  template <int axis>
  __device__ void spline(T (&predicted)[L::points]) const {
    const int number = this->number<axis>();
    const auto known = LineNeighbours::of(number, inner(axis));
    const SplineWeights<T> c = spline_weights<T>(known);
    const T* const l1 = row<1, axis, -1>();
    const T* const r1 = is_cut && !known.right ? l1 : row<1, axis, 1>();
    const T* const l3 = known.far_left ? row<1, axis, -3>() : l1;
    const T* const r3 = known.far_right ? row<1, axis, 3>() : l1;
    CUSZI_UNROLL
    for (int k = 0; k < L::points; ++k) {
      const int at = k * L::stride;
      predicted[k] = L::cells == 1 && !is_cut ? c.left * l1[at] + c.right * r1[at]
                                              : spline_value(c, l3[at], l1[at], r1[at], r3[at]);
    }
  }
  /// The points so many spacings from the line along another axis, from the first one on; on_line
  /// 0: those that are even along the line.
  template <int on_line, int axis, int distance>
  __device__ const T* row() const {
    constexpr int place =
        L::place(on_line, axis == L::across ? distance : 0, axis == L::beyond ? distance : 0);
    return line_ + place;
  }

  /// The mean of the four points that are odd along neither axis.
  template <int axis>
  __device__ void diagonals(T (&means)[L::points]) const {
    const T* const left = row<0, axis, -1>();
    const T* const right = row<0, axis, 1>();
    T before = left[0] + right[0];
    CUSZI_UNROLL
    for (int k = 0; k < L::points; ++k) {
      const T behind = left[(k + 1) * L::stride] + right[(k + 1) * L::stride];
      means[k] = T(0.25) * (before + behind);
      before = behind;
    }
  }

  const T* line_;  ///< the first line's place, moved to this one
  const CellTile& tile_;
  LinePlace<L> at_;
  const ClassWeights<T>* weights_;
};

/// Where the codes of a line stand: those of `run` points follow each other.
template <class L>
struct LineCodes {
  using Shape = typename L::Shape;
  static constexpr int run = L::points < Shape::block_side ? L::points : Shape::block_side;
  static constexpr int runs = L::points / run;

  /// The first code of a line, for its numbers within its tile.
  CUSZI_HD static constexpr int position(int b, int c, int first) {
    const auto cell = [&](int axis) {
      return axis == L::along ? first : axis == L::across ? b : c;
    };
    return Shape::position(L::cells, L::odd, cell(0), cell(1), cell(2));
  }
  /// How much later the next run begins.
  static constexpr int step = runs == 1 ? 0 : position(0, 0, run) - position(0, 0, 0);
  static constexpr int block_step = step / cell_block_codes;
  static_assert(runs == 1 || (L::pieces == 1 && step % cell_block_codes == 0));
};

/// Which lines of a class a thread takes: one and every Block::threads-th behind it. Classes with
/// few lines are taken by different warps.
template <class Block, class L>
struct LineTurn {
  static constexpr unsigned lines = L::count * Block::tiles;
  static constexpr unsigned threads = Block::threads;

  // Set for threads without a line, too: classes of one shape share them.
  unsigned number;
  int tile;
  LinePlace<L> place;

  __device__ LineTurn() : LineTurn(first()) {}

  __device__ bool has_line() const { return number < lines; }
  __device__ LineTurn next() const { return LineTurn(number + threads); }

 private:
  __device__ explicit LineTurn(unsigned of_all)
      : number(of_all), tile(static_cast<int>(of_all / L::count)), place(of_all % L::count) {}

  __device__ static unsigned first() {
    constexpr unsigned warps = (lines + 31) / 32;
    constexpr unsigned before = Block::Shape::number_of(L::odd) * warps * 32 % threads;
    constexpr bool is_moved = lines * 2 <= threads && before + lines <= threads;
    return threadIdx.x - (is_moved ? before : 0);  // may wrap
  }
};

/// Does the lines of classes that do not read each other, of all tiles of a thread block.
/// work.fetch(tile, place) brings what a line takes from elsewhere, before all threads have done
/// what comes before; work.take(tile, place, fetched) does it.
template <class Block, int spacing, int odd, int... odds, class Work>
__device__ __forceinline__ void for_each_line(std::integer_sequence<int, odd, odds...> /*classes*/,
                                              Work& work) {
  using L = Line<typename Block::Shape, spacing, odd>;
  LineTurn<Block, L> turn;
  typename Work::template Fetched<L> fetched;
  if (turn.has_line()) fetched = work.fetch(turn.tile, turn.place);
  if constexpr (sizeof...(odds) > 0) {
    for_each_line<Block, spacing>(std::integer_sequence<int, odds...>{}, work);
  } else {
    __syncthreads();
  }
  if constexpr (turn.lines <= turn.threads) {
    if (turn.has_line()) work.take(turn.tile, turn.place, fetched);
  } else {
    CUSZI_NO_UNROLL
    while (turn.has_line()) {
      work.take(turn.tile, turn.place, fetched);
      turn = turn.next();
      if (turn.has_line()) fetched = work.fetch(turn.tile, turn.place);
    }
  }
}

/// Does all lines of a level, in the order of prediction.
template <class Block, int spacing, class Work>
__device__ __forceinline__ void for_each_line_of_level(Work& work) {
  using Shape = typename Block::Shape;
  if constexpr (Shape::rank == 3) {
    for_each_line<Block, spacing>(std::integer_sequence<int, 4, 2, 1>{}, work);
    for_each_line<Block, spacing>(std::integer_sequence<int, 6, 5, 3>{}, work);
    for_each_line<Block, spacing>(std::integer_sequence<int, 7>{}, work);
  } else if constexpr (Shape::rank == 2) {
    for_each_line<Block, spacing>(std::integer_sequence<int, 4, 2>{}, work);
    for_each_line<Block, spacing>(std::integer_sequence<int, 6>{}, work);
  } else {
    for_each_line<Block, spacing>(std::integer_sequence<int, 4>{}, work);
  }
}

/// Does the lines of all levels of spacing `least` or more. Begins with a barrier; the last lines
/// need one behind them.
template <class Block, int spacing = Block::Shape::half, class Work>
__device__ __forceinline__ void for_each_line_of_cell(int least, Work& work) {
  if (spacing < least) return;
  for_each_line_of_level<Block, spacing>(work);
  if constexpr (spacing > 1) for_each_line_of_cell<Block, spacing / 2>(least, work);
}

}  // namespace cuszi::gpu

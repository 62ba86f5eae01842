#include "cpu_ref/multilevel/row_predictor.hpp"

namespace cuszi::cpu {

template <class T>
void RowPredictor<T>::predict(const T* values, const Row& row, T* out) {
  if (plan_.stencil.size == 0) {
    std::fill_n(out, row.count, plan_.background);
    return;
  }
  with_step(points_.step[3], [&](auto step) {
    if (is_row_at_edge(row)) {
      put_edge_predictions(values, row, step, out);
    } else {
      if (taps_.go_to(row)) find_copies();
      put_inner_predictions(values, row, step, out);
    }
  });
  for (std::size_t k = 0; k < row.count; ++k) out[k] = snapped(plan_, out[k]);
}

template <class T>
bool RowPredictor<T>::is_row_at_edge(const Row& row) const {
  for (unsigned axis = 0; axis < 3; ++axis) {
    if (points_.is_odd(axis) && row.at[axis] + points_.unit[axis] >= grid_.extents[axis]) {
      return true;
    }
  }
  return false;
}

template <class T>
template <class Step>
void RowPredictor<T>::put_edge_predictions(const T* values, const Row& row, Step step,
                                           T* out) const {
  using P = Pack<T>;
  const Inner inner = inner_part(row, points_, grid_, plan_.stencil_margins);
  const std::size_t end = for_each_pack<P>(inner.begin, inner.end, [&](std::size_t k) {
    edge_prediction(pack_of<P>(grid_, points_, row, values, k, step)).store(out + k);
  });
  const auto put = [&](std::size_t k) {
    out[k] = edge_prediction(point_of(grid_, points_, row, values, k));
  };
  for (std::size_t k = 0; k < inner.begin; ++k) put(k);
  for (std::size_t k = end; k < row.count; ++k) put(k);
}

/// Copies of taps that are not read in place.
template <class T>
void RowPredictor<T>::find_copies() {
  std::size_t far = 0;
  for (unsigned i = 0; i < plan_.stencil.all_taps(); ++i) {
    const ColumnTaps::Source source = columns_[i];
    copies_[i] = nullptr;
    if (taps_.is_far(i)) {
      copies_[i] = made_up_.at(far++).data();
    } else if (source.row != ColumnTaps::own_columns) {
      copies_[i] = neighbours_[source.row].shifted(source.shift);
    }
  }
}

template <class T>
template <class Step>
void RowPredictor<T>::put_inner_predictions(const T* values, const Row& row, Step step, T* out) {
  const std::size_t inside = row.count - (is_last_at_edge(row, points_, grid_) ? 1 : 0);
  for (std::size_t first = 0; first < inside; first += block_points) {
    const Block<Step> block{values, row, first, std::min(block_points, inside - first), step};
    if (taps_.has_far()) make_up(block);
    with_vectors([&](auto vectors) {
      copy_neighbours(block);
      put_block<decltype(vectors)>(block, out + first);
    });
  }
  if (inside != row.count) {
    out[inside] = edge_prediction(point_of(grid_, points_, row, values, inside));
  }
}

/// Taps outside the array in all columns.
template <class T>
template <class Step>
void RowPredictor<T>::make_up(const Block<Step>& block) {
  std::size_t far = 0;
  for (unsigned i = 0; i < plan_.stencil.all_taps(); ++i) {
    if (taps_.is_far(i)) make_up(block, i, made_up_[far++].data());
  }
}

template <class T>
template <class Step>
void RowPredictor<T>::make_up(const Block<Step>& block, unsigned i, T* out) const {
  using P = Pack<T>;
  const Tap& tap = plan_.stencil.taps[i];
  const bool has_neighbours = columns_[i].row != ColumnTaps::own_columns;
  const Row& row = block.row;
  const std::size_t end = for_each_pack<P>(0, has_neighbours ? 0 : block.count, [&](std::size_t k) {
    const auto p = pack_of<P>(grid_, points_, row, block.values, block.first + k, block.step);
    tap_value(p, tap).store(out + k);
  });
  for (std::size_t k = end; k < block.count; ++k) {
    out[k] = tap_value(point_of(grid_, points_, row, block.values, block.first + k), tap);
  }
}

/// Copies neighbour columns.
template <class T>
template <class Step>
void RowPredictor<T>::copy_neighbours(const Block<Step>& block) {
  for (std::size_t r = 0; r < columns_.rows(); ++r) {
    const unsigned tap = columns_.tap_of_row(r);
    const std::int64_t in_row =
        taps_.offset(tap) - plan_.stencil.taps[tap][3] * stride_of(grid_, points_, 3);
    neighbours_[r].take(grid_, points_, block.row, block.values + in_row, columns_.kind(),
                        block.first, block.count, block.step, columns_.shifts_of_row(r));
  }
}

/// For points with all neighbours at 1.
template <class T>
template <class V, class Step>
void RowPredictor<T>::put_block(const Block<Step>& block, T* out) const {
  const std::size_t count = block.count;
  with_packs<T, V>(count, [&](auto kind) {
    using P = typename decltype(kind)::type;
    const std::size_t filled = for_each_pack<P>(0, count, [&](std::size_t k) {
      const T* const value = block.value(k);
      const auto load = [&](std::int64_t tap) { return load_strided<P>(value + tap, block.step); };
      interpolate<P>(k, load).store(out + k);
    });
    if (filled == count) return;
    const T* const value = block.value(0);
    const auto load = [&](std::int64_t tap) {
      return load_strided<P>(value + tap, block.step, count);
    };
    interpolate<P>(0, load).store(out);
  });
}

/// `load(offset)` reads a tap in place.
template <class T>
template <class P, class Load>
P RowPredictor<T>::interpolate(std::size_t k, const Load& load) const {
  const auto value_of = [&](unsigned tap) -> P {
    const T* const copy = copies_[tap];
    return copy != nullptr ? P::load(copy + k) : load(taps_.offset(tap));
  };
  P sum = T{0};
  for (unsigned g = 0; g < plan_.stencil.size; ++g) {
    sum += plan_.weights[g] * tap_sum(plan_.stencil, g, value_of);
  }
  return sum;
}

template class RowPredictor<float>;
template class RowPredictor<double>;

}  // namespace cuszi::cpu

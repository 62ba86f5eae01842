#include "gpu/multilevel/context_point.cuh"
#include "gpu/multilevel/pass_kernels.cuh"

namespace cuszi::gpu {

namespace {

/// Two sums per word, even indices first.
template <int size>
struct MagnitudeSums {
  static constexpr int words = size / 2;

  std::uint32_t of[words];

  __device__ friend MagnitudeSums operator+(MagnitudeSums a, const MagnitudeSums& b) {
    CUSZI_UNROLL
    for (int i = 0; i < words; ++i) a.of[i] += b.of[i];
    return a;
  }
  __device__ std::int32_t operator[](int i) const {
    return static_cast<std::int32_t>(of[i % words] >> (16 * (i / words)) & 0xFFFFU);
  }
};

/// Magnitudes around a thread's vectors, mirrored at the ends of rows.
template <class T, Family family, Tiles tiles>
class MagnitudeRows {
 public:
  static constexpr int size = Vec<T>::size;
  using Sums = MagnitudeSums<size>;

  __device__ MagnitudeRows(const std::uint8_t* magnitudes,
                           const VectorPlace<T, family, tiles>& place)
      : magnitudes_(magnitudes), place_(place) {}

  __device__ Sums at(int da, int db, bool odd) const { return spread(word(da, db, odd)); }
  /// Both neighbours along x of points of odd x.
  __device__ Sums pairs(int da, int db) const {
    const std::uint32_t own = word(da, db, false);
    const std::uint32_t behind =
        place_.at_end() ? own >> (8 * (size - 1))
                        : magnitudes_[place_.row(da, db, false) + static_cast<unsigned>(size)];
    return spread(own) + spread(own >> 8 | behind << (8 * (size - 1)));
  }
  /// Both neighbours along x of points of even x.
  __device__ Sums beside(int da, int db) const {
    const std::uint32_t own = word(da, db, true);
    const std::uint32_t before =
        place_.at_begin() ? own & 0xFFU : magnitudes_[place_.row(da, db, true) - 1];
    return spread(own) + spread(own << 8 | before);
  }

 private:
  using Word = std::conditional_t<size == 4, std::uint32_t, std::uint16_t>;

  __device__ std::uint32_t word(int da, int db, bool odd) const {
    return load<Word>(magnitudes_ + place_.row(da, db, odd));
  }
  __device__ static Sums spread(std::uint32_t word) {
    if constexpr (size == 4) return {{word & 0x00FF00FFU, word >> 8 & 0x00FF00FFU}};
    return {{(word & 0xFFU) | (word & 0xFF00U) << 8}};
  }

  const std::uint8_t* magnitudes_;
  const VectorPlace<T, family, tiles>& place_;
};

template <int size>
struct PlaneMagnitudes {
  MagnitudeSums<size> direct{};
  MagnitudeSums<size> diagonal{};
  MagnitudeSums<size> parent{};
};

template <class T, Family family, Tiles tiles>
__device__ PlaneMagnitudes<Vec<T>::size> magnitudes_around(
    const MagnitudeRows<T, family, tiles>& rows, int k) {
  constexpr bool odd = has_x(family);
  const int here = 2 * k;
  PlaneMagnitudes<Vec<T>::size> sums;
  const auto corners = [&](const auto& of_row) {
    return of_row(here - 1, -1) + of_row(here - 1, 1) + of_row(here + 1, -1) + of_row(here + 1, 1);
  };
  const auto own_half = [&](int da, int db) { return rows.at(da, db, odd); };
  const auto pairs = [&](int da, int db) { return rows.pairs(da, db); };
  if constexpr (family == Family::x) {
    sums.parent = pairs(here, 0);
  } else if constexpr (family == Family::a) {
    sums.parent = own_half(here - 1, 0) + own_half(here + 1, 0);
  } else if constexpr (family == Family::ab) {
    sums.direct =
        own_half(here - 1, 0) + own_half(here + 1, 0) + own_half(here, -1) + own_half(here, 1);
    sums.parent = corners(own_half);
    sums.diagonal = corners([&](int da, int db) { return rows.beside(da, db); });
  } else if constexpr (family == Family::ax) {
    sums.direct = own_half(here - 1, 0) + own_half(here + 1, 0) + pairs(here, 0);
    sums.parent = pairs(here - 1, 0) + pairs(here + 1, 0);
    sums.diagonal = corners(pairs);
  } else {
    sums.direct = own_half(here - 1, 0) + own_half(here + 1, 0) + own_half(here, -1) +
                  own_half(here, 1) + pairs(here, 0);
    sums.diagonal = corners(own_half) + pairs(here - 1, 0) + pairs(here + 1, 0) + pairs(here, -1) +
                    pairs(here, 1);
    sums.parent = corners(pairs);
  }
  return sums;
}

template <class T, Family family, Tiles tiles>
__device__ void add_lines(const VectorRows<T, family, tiles>& rows,
                          const VectorPlace<T, family, tiles>& place, int k,
                          SlopeSums<T> (&sums)[Vec<T>::size]) {
  using V = Vec<T>;
  const int here = 2 * k;
  const auto add = [&](const V& low, const V& high, const V& far) {
    CUSZI_UNROLL
    for (int i = 0; i < V::size; ++i) sums[i].add(low.of[i], high.of[i], far.of[i]);
  };
  constexpr bool odd = has_x(family);
  if (has_a(family)) {
    add(rows.at(here - 1, 0, odd), rows.at(here + 1, 0, odd),
        rows.at(here - 3, 0, odd) + rows.at(here + 3, 0, odd));
  }
  if (has_b(family)) {
    add(rows.at(here, -1, odd), rows.at(here, 1, odd),
        rows.at(here, -3, odd) + rows.at(here, 3, odd));
  }
  if (has_x(family)) {
    const RowWindow<T> window = rows.window(here, rows.at(here, 0, false));
    CUSZI_UNROLL
    for (int i = 0; i < V::size; ++i) {
      const bool at_end = i == V::size - 1 && place.at_end();
      const T low = window[i];
      const T far_low = window[i - 1];
      sums[i].add(low, at_end ? low : window[i + 1], far_low + (at_end ? far_low : window[i + 2]));
    }
  }
}

template <class T, Family family, Tiles tiles>
__device__ void find_contexts(const VectorPass<T>& pass, const VectorPlace<T, family, tiles>& place,
                              const ContextWeights& mine, std::uint8_t* contexts) {
  constexpr int size = Vec<T>::size;
  constexpr int planes = planes_of<tiles>;
  const VectorClass<T>& own = place.of_class();
  const VectorRows<T, family, tiles> rows(pass.array.values, place);
  const MagnitudeRows<T, family, tiles> magnitudes(pass.array.magnitudes, place);
  Packed<std::uint8_t, size> found[planes];
  CUSZI_UNROLL
  for (int k = 0; k < planes; ++k) {
    SlopeSums<T> lines[size];
    add_lines(rows, place, k, lines);
    const auto around = magnitudes_around(magnitudes, k);
    CUSZI_UNROLL
    for (int i = 0; i < size; ++i) {
      const Slopes<T> s = lines[i].slopes();
      Features f{};
      f[constant] = feature_one;
      f[direct] = around.direct[i];
      f[diagonal] = around.diagonal[i];
      f[parent] = around.parent[i];
      f[gradient] = slope_feature(s.slope * own.slope_scale);
      f[roughness] = slope_feature(s.curvature * own.slope_scale + s.spread * own.spread_scale);
      f[gradient_root] = root_of(f[gradient]);
      found[k].of[i] = context_of(own.group, weighted_sum(mine.weights, f));
    }
  }
  // In the end: bytes may stand for anything, so that nothing is read ahead of them.
  CUSZI_UNROLL
  for (int k = 0; k < planes; ++k) store(found[k], contexts + place.code_position(k));
}

template <class T, int order>
__global__ void __launch_bounds__(VectorPolicy::threads, VectorPolicy::blocks_of_sm)
    vector_contexts_kernel(__grid_constant__ const VectorPass<T> pass,
                           const ContextWeights* weights, std::uint8_t* contexts) {
  for_planes<order>(pass, [&](const auto& place) {
    const ContextWeights mine = weights[place.of_class().group];
    find_contexts(pass, place, mine, contexts);
  });
}

}  // namespace

template <class T>
void fill_vector_contexts(DeviceContext& gpu, const PassView<T>& pass,
                          const ContextWeights* weights, std::uint8_t* contexts) {
  with_vector_pass(pass, [&](auto order, const VectorPass<T>& vectors, const dim3& grid) {
    vector_contexts_kernel<T, order.value>
        <<<grid, VectorPolicy::threads, 0, gpu.stream()>>>(vectors, weights, contexts);
    check_launch("fill_vector_contexts");
  });
}

template void fill_vector_contexts(DeviceContext&, const PassView<float>&, const ContextWeights*,
                                   std::uint8_t*);
template void fill_vector_contexts(DeviceContext&, const PassView<double>&, const ContextWeights*,
                                   std::uint8_t*);

}  // namespace cuszi::gpu

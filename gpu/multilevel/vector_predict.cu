#include "gpu/multilevel/multilevel_point.cuh"
#include "gpu/multilevel/pass_kernels.cuh"
#include "gpu/multilevel/vector_prediction.cuh"

namespace cuszi::gpu {

namespace {

template <class T, Family family, Tiles tiles>
__device__ Vec<T> load_originals(const VectorPlace<T, family, tiles>& place, int plane,
                                 const T* original) {
  constexpr int size = Vec<T>::size;
  constexpr int odd = has_x(family) ? 1 : 0;
  const std::uint32_t step = place.x_step();
  const T* const from = original + place.original(plane);
  Vec<T> values;
  if (step == 2 && is_aligned_for<Vec<T>>(original)) {
    // Every other value of two vectors.
    const auto low = load<Vec<T>>(from - odd);
    const auto high = load<Vec<T>>(from - odd + size);
    CUSZI_UNROLL
    for (int i = 0; i < size; ++i) {
      values.of[i] = 2 * i < size ? low.of[2 * i + odd] : high.of[2 * i + odd - size];
    }
  } else {
    CUSZI_UNROLL
    for (int i = 0; i < size; ++i) values.of[i] = from[static_cast<unsigned>(i) * step];
  }
  return values;
}

template <class T, Family family, Tiles tiles>
__device__ void predict(const VectorPass<T>& pass, const VectorPlace<T, family, tiles>& place,
                        Vec<T> (&expected)[planes_of<tiles>]) {
  const VectorRows<T, family, tiles> rows(pass.array.values, place);
  VectorPrediction<T, family, tiles>(rows, place, pass.reach).predict(expected);
  const VectorClass<T>& own = place.of_class();
  CUSZI_UNROLL
  for (Vec<T>& plane : expected) {
    CUSZI_UNROLL
    for (T& value : plane.of) value = snapped(own.background, own.snap, value);
  }
}

template <class T, Family family, Tiles tiles>
__device__ PointPositions positions_of(const VectorPlace<T, family, tiles>& place, int point) {
  const int plane = point / Vec<T>::size;
  const auto i = static_cast<std::uint32_t>(point % Vec<T>::size);
  return {place.own(plane) + i, place.original(plane) + i * place.x_step(),
          place.code_position(plane) + i};
}

/// For the hash of the coarse lattice.
template <class T>
__device__ void list_values(const Vec<T>& values, T* listed) {
  Vec<T> hashed;
  CUSZI_UNROLL
  for (int i = 0; i < Vec<T>::size; ++i) hashed.of[i] = value_to_hash(values.of[i]);
  store(hashed, listed);
}

/// Rare points that need closer tests come last, one by one.
template <class T, Family family, Tiles tiles>
__device__ void quantise_points(const VectorPass<T>& pass, const QuantiseTask<T>& task,
                                const VectorPlace<T, family, tiles>& place, std::int64_t& errors) {
  constexpr int size = Vec<T>::size;
  constexpr int planes = planes_of<tiles>;
  Vec<T> originals[planes];
  CUSZI_UNROLL
  for (int k = 0; k < planes; ++k) originals[k] = load_originals(place, k, task.original);
  Vec<T> expected[planes];
  predict(pass, place, expected);
  unsigned rare = 0;
  CUSZI_UNROLL
  for (int k = 0; k < planes; ++k) {
    Packed<QuantCode, size> codes;
    Packed<std::uint8_t, size> magnitudes;
    Vec<T> restored;
    CUSZI_UNROLL
    for (int i = 0; i < size; ++i) {
      const T original = originals[k].of[i];
      const Attempt<T> attempt = try_to_quantise(task.quantizer, original, expected[k].of[i]);
      const bool is_rare = !attempt.certain | task.quantizer.zone.has(original);
      rare |= static_cast<unsigned>(is_rare) << (k * size + i);
      restored.of[i] = is_rare ? expected[k].of[i] : attempt.result.restored;
      codes.of[i] = attempt.result.code;
      magnitudes.of[i] = magnitude_of_code(attempt.result.code, task.quantizer.radius);
      if (!is_rare) add_error(task, original, attempt.result.restored, errors);
    }
    const std::uint64_t position = place.code_position(k);
    store(restored, pass.array.values + place.own(k));
    store(magnitudes, pass.array.magnitudes + place.own(k));
    store(codes, task.codes + position);
    if (task.listed != nullptr) list_values(restored, task.listed + position);
  }
  CUSZI_NO_UNROLL
  for (int point = 0; rare != 0; ++point, rare >>= 1) {
    if (rare % 2 == 0) continue;
    const PointPositions at = positions_of(place, point);
    task.codes[at.code_position] =
        quantise_point(task, pass.array, at, pass.array.values[at.offset], errors);
    if (task.listed != nullptr)
      task.listed[at.code_position] = value_to_hash(pass.array.values[at.offset]);
  }
}

/// Rare points come last.
template <class T, Family family, Tiles tiles>
__device__ void restore_points(const VectorPass<T>& pass, const RestoreTask<T>& task,
                               const VectorPlace<T, family, tiles>& place) {
  constexpr int size = Vec<T>::size;
  constexpr int planes = planes_of<tiles>;
  using Codes = Packed<QuantCode, size>;
  Codes codes[planes];
  CUSZI_UNROLL
  for (int k = 0; k < planes; ++k) codes[k] = load<Codes>(task.codes + place.code_position(k));
  Vec<T> expected[planes];
  predict(pass, place, expected);
  unsigned rare = 0;
  CUSZI_UNROLL
  for (int k = 0; k < planes; ++k) {
    Packed<std::uint8_t, size> magnitudes;
    Vec<T> restored;
    CUSZI_UNROLL
    for (int i = 0; i < size; ++i) {
      const QuantCode code = codes[k].of[i];
      const bool is_rare = code == outlier_code;
      rare |= static_cast<unsigned>(is_rare) << (k * size + i);
      restored.of[i] =
          is_rare ? expected[k].of[i] : restore(task.quantizer, expected[k].of[i], code);
      magnitudes.of[i] = magnitude_of_code(code, task.quantizer.radius);
    }
    store(restored, pass.array.values + place.own(k));
    store(magnitudes, pass.array.magnitudes + place.own(k));
    if (task.listed != nullptr) list_values(restored, task.listed + place.code_position(k));
  }
  CUSZI_NO_UNROLL
  for (int point = 0; rare != 0; ++point, rare >>= 1) {
    if (rare % 2 == 0) continue;
    const PointPositions at = positions_of(place, point);
    restore_point(task, pass.array, at, pass.array.values[at.offset], outlier_code);
    if (task.listed != nullptr)
      task.listed[at.code_position] = value_to_hash(pass.array.values[at.offset]);
  }
}

template <class T, int order>
__global__ void __launch_bounds__(VectorPolicy::threads, VectorPolicy::blocks_of_sm)
    quantise_vectors_kernel(__grid_constant__ const VectorPass<T> pass,
                            __grid_constant__ const QuantiseTask<T> task) {
  std::int64_t errors = 0;
  for_planes<order>(pass, [&](const auto& place) { quantise_points(pass, task, place, errors); });
  add_to_sum(task, errors);
}

template <class T, int order>
__global__ void __launch_bounds__(VectorPolicy::threads, VectorPolicy::blocks_of_sm)
    restore_vectors_kernel(__grid_constant__ const VectorPass<T> pass,
                           __grid_constant__ const RestoreTask<T> task) {
  for_planes<order>(pass, [&](const auto& place) { restore_points(pass, task, place); });
}

}  // namespace

template <class T>
void quantise_vectors(DeviceContext& gpu, const PassView<T>& pass, const QuantiseTask<T>& task) {
  with_vector_pass(pass, [&](auto order, const VectorPass<T>& vectors, const dim3& grid) {
    quantise_vectors_kernel<T, order.value>
        <<<grid, VectorPolicy::threads, 0, gpu.stream()>>>(vectors, task);
    check_launch("quantise_vectors");
  });
}

template <class T>
void restore_vectors(DeviceContext& gpu, const PassView<T>& pass, const RestoreTask<T>& task) {
  with_vector_pass(pass, [&](auto order, const VectorPass<T>& vectors, const dim3& grid) {
    restore_vectors_kernel<T, order.value>
        <<<grid, VectorPolicy::threads, 0, gpu.stream()>>>(vectors, task);
    check_launch("restore_vectors");
  });
}

template void quantise_vectors(DeviceContext&, const PassView<float>&, const QuantiseTask<float>&);
template void quantise_vectors(DeviceContext&, const PassView<double>&,
                               const QuantiseTask<double>&);
template void restore_vectors(DeviceContext&, const PassView<float>&, const RestoreTask<float>&);
template void restore_vectors(DeviceContext&, const PassView<double>&, const RestoreTask<double>&);

}  // namespace cuszi::gpu

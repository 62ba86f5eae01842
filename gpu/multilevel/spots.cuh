#pragma once

#include "gpu/multilevel/device_class.cuh"

namespace cuszi::gpu {

inline constexpr unsigned spots_of_thread = RegionPolicy::points / RegionPolicy::threads;

/// Numbers of several points, computed together: class data is read once, and memory latency
/// overlaps.
template <class T, unsigned count>
struct Spots {
  T of[count];

  Spots() = default;
  /// Implicit, so formulas read like those of one number.
  __device__ Spots(T value) {
    CUSZI_UNROLL
    for (T& each : of) each = value;
  }

  __device__ friend Spots operator+(const Spots& a, const Spots& b) {
    return made_by([&](unsigned i) { return a.of[i] + b.of[i]; });
  }
  __device__ friend Spots operator-(const Spots& a, const Spots& b) {
    return made_by([&](unsigned i) { return a.of[i] - b.of[i]; });
  }
  __device__ friend Spots operator*(const Spots& a, const Spots& b) {
    return made_by([&](unsigned i) { return a.of[i] * b.of[i]; });
  }
  __device__ Spots& operator+=(const Spots& other) { return *this = *this + other; }

  __device__ friend Spots fabs(const Spots& a) {
    return made_by([&](unsigned i) { return std::fabs(a.of[i]); });
  }
  __device__ friend Spots lower(const Spots& a, const Spots& b) {
    return made_by([&](unsigned i) { return cuszi::lower(a.of[i], b.of[i]); });
  }
  __device__ friend Spots higher(const Spots& a, const Spots& b) {
    return made_by([&](unsigned i) { return cuszi::higher(a.of[i], b.of[i]); });
  }

 private:
  template <class Make>
  __device__ static Spots made_by(const Make& make) {
    Spots made;
    CUSZI_UNROLL
    for (unsigned i = 0; i < count; ++i) made.of[i] = make(i);
    return made;
  }
};

template <class V, class T, unsigned count>
class SpotValues {
 public:
  __device__ SpotValues(const V* array, const std::uint64_t (&offsets)[count]) {
    CUSZI_UNROLL
    for (unsigned i = 0; i < count; ++i) at_[i] = array + offsets[i];
  }

  __device__ Spots<T, count> operator[](std::ptrdiff_t offset) const {
    Spots<T, count> values;
    CUSZI_UNROLL
    for (unsigned i = 0; i < count; ++i) values.of[i] = at_[i][offset];
    return values;
  }
  __device__ Spots<T, count> operator*() const { return (*this)[0]; }

 private:
  const V* at_[count];
};

struct SpotList {
  std::uint32_t count;
  std::uint16_t spots[RegionPolicy::points];
};

/// Calls inner(offsets, which) for a thread's points; those in `which` are at least `margins`
/// inside the array. Then calls edge(spot, code position) for all others, distributed evenly, since
/// they are slow and few. Synchronises the block.
template <class T, class Inner, class Edge>
__device__ void look_at_spots(const PassView<T>& pass, const DeviceClass<T>& view,
                              const Region& region, const Index4& margins, SpotList& others,
                              const Inner& inner, const Edge& edge) {
  constexpr unsigned step = RegionPolicy::threads;
  if (threadIdx.x == 0) others.count = 0;
  __syncthreads();
  std::uint64_t offsets[spots_of_thread];
  std::uint64_t of_inner = 0;
  unsigned are_inner = 0;
  CUSZI_UNROLL
  for (unsigned i = 0; i < spots_of_thread; ++i) {
    const std::uint32_t number = threadIdx.x + i * step;
    const Spot spot = spot_of(pass.shape, region, number);
    if (!spot.exists) continue;
    if (is_inner(position_of(view, region, spot), margins, pass.array.layout.extents)) {
      offsets[i] = of_inner = offset_of(pass, view, region, spot);
      are_inner |= 1U << i;
    } else {
      others.spots[atomicAdd(&others.count, 1U)] = static_cast<std::uint16_t>(number);
    }
  }
  if (are_inner != 0) {
    CUSZI_UNROLL
    for (unsigned i = 0; i < spots_of_thread; ++i) {
      if ((are_inner >> i) % 2 == 0) offsets[i] = of_inner;  // read, not used
    }
    inner(offsets, are_inner);
  }
  __syncthreads();
  for (std::uint32_t k = threadIdx.x; k < others.count; k += step) {
    const Spot spot = spot_of(pass.shape, region, others.spots[k]);
    edge(spot, code_position_in_region(pass.shape, region, spot));
  }
  __syncthreads();
}

/// Stores the values of points in `which` by code position.
template <class T, class Value>
__device__ void put_spots(const PassView<T>& pass, const Region& region,
                          const Spots<Value, spots_of_thread>& values, unsigned which,
                          Value* by_code_position) {
  CUSZI_UNROLL
  for (unsigned i = 0; i < spots_of_thread; ++i) {
    if ((which >> i) % 2 == 0) continue;
    const Spot spot = spot_of(pass.shape, region, threadIdx.x + i * RegionPolicy::threads);
    by_code_position[code_position_in_region(pass.shape, region, spot)] = values.of[i];
  }
}

}  // namespace cuszi::gpu

#include <algorithm>

#include "gpu/field/stored_values.cuh"
#include "gpu/field/stored_values.hpp"
#include "gpu/runtime/copies.hpp"
#include "gpu/runtime/launch.cuh"

namespace cuszi::gpu {

namespace {

struct ConversionPolicy {
  static constexpr unsigned in_flight = 4;  ///< fours that a thread waits for together
  static constexpr unsigned fours = in_flight * ItemPolicy::threads;  ///< of a thread block
  static constexpr unsigned distinct_blocks = 8;                      ///< per multiprocessor
};

template <class From, class To>
__global__ void convert_fours(const From* from, std::uint64_t fours, To* to) {
  constexpr unsigned in_flight = ConversionPolicy::in_flight;
  const std::uint64_t first = std::uint64_t{blockIdx.x} * ConversionPolicy::fours + threadIdx.x;
  const auto four_of = [&](unsigned i) { return first + i * ItemPolicy::threads; };
  From loaded[in_flight][4];
#pragma unroll
  for (unsigned i = 0; i < in_flight; ++i)
    if (four_of(i) < fours) load_four(from + 4 * four_of(i), loaded[i]);
#pragma unroll
  for (unsigned i = 0; i < in_flight; ++i) {
    To converted[4];
#pragma unroll
    for (int k = 0; k < 4; ++k) converted[k] = converted_to<To>(loaded[i][k]);
    if (four_of(i) < fours) store_four(converted, to + 4 * four_of(i));
  }
}

template <class From, class To>
__global__ void convert_each(const From* from, std::uint64_t count, To* to) {
  const std::uint64_t i = ItemPolicy::first();
  if (i < count) to[i] = converted_to<To>(from[i]);
}

template <class From, class To>
void convert(DeviceContext& gpu, const From* from, std::uint64_t count, To* to) {
  std::uint64_t fours = 0;
  if constexpr (!std::is_integral_v<From> || sizeof(From) <= 4) {
    if (are_in_fours(from) && are_in_fours(to)) fours = count / 4;
    if (fours != 0) {
      convert_fours<<<blocks_for(fours, ConversionPolicy::fours), ItemPolicy::threads, 0,
                      gpu.stream()>>>(from, fours, to);
      check_launch("convert_fours");
    }
  }
  const std::uint64_t rest = count - 4 * fours;
  if (rest != 0) {
    launch_items(gpu, "convert_each", rest, convert_each<From, To>, from + 4 * fours, rest,
                 to + 4 * fours);
  }
}

/// Sets bits of `distinct`, first of a thread block's own.
template <class Word>
__global__ void find_distinct(const Word* values, std::uint64_t count, std::uint64_t fours,
                              std::uint32_t* distinct) {
  constexpr unsigned words = (1U << (8 * sizeof(Word))) / 32;
  __shared__ std::uint32_t own[words];
  for (unsigned i = threadIdx.x; i < words; i += ItemPolicy::threads) own[i] = 0;
  __syncthreads();
  const auto add = [&](Word value) {
    const std::uint32_t bit = 1U << (value % 32);
    if ((own[value / 32] & bit) == 0) atomicOr(own + value / 32, bit);
  };
  for (std::uint64_t i = ItemPolicy::first(); i < fours; i += ItemPolicy::step()) {
    Word four[4];
    load_four(values + 4 * i, four);
    for (const Word value : four) add(value);
  }
  for (std::uint64_t i = 4 * fours + ItemPolicy::first(); i < count; i += ItemPolicy::step())
    add(values[i]);
  __syncthreads();
  for (unsigned i = threadIdx.x; i < words; i += ItemPolicy::threads)
    if (own[i] != 0) atomicOr(distinct + i, own[i]);
}

}  // namespace

Bytes to_work(DeviceContext& gpu, DType stored, Bytes values) {
  return with_stored_type_of(stored, [&](auto zero) {
    using S = decltype(zero);
    if constexpr (std::is_same_v<S, WorkOf<S>>) {
      return values;
    } else {
      const std::uint64_t count = values.size() / sizeof(S);
      auto* const work = gpu.take<WorkOf<S>>(count);
      convert(gpu, reinterpret_cast<const S*>(values.data()), count, work);
      return Bytes(std::as_bytes(std::span(work, count)));
    }
  });
}

void from_work(DeviceContext& gpu, DType stored, Bytes work, MutableBytes values) {
  if (is_wide_integer(stored)) throw InternalError("64-bit integers have no work values");
  with_type_of(work_of(stored), [&](auto zero) {
    using T = decltype(zero);
    with_cast_type_of<T>(stored, [&](auto cast) {
      convert(gpu, reinterpret_cast<const T*>(work.data()), work.size() / sizeof(T),
              reinterpret_cast<decltype(cast)*>(values.data()));
    });
  });
}

DistinctValues distinct_values(DeviceContext& gpu, DType stored, Bytes values) {
  DistinctValues found;
  auto* const distinct = gpu.take_zeroed<std::uint64_t>(DistinctValues::words);
  with_word_of(stored, [&](auto zero) {
    using Word = decltype(zero);
    if constexpr (sizeof(Word) <= 2) {
      const auto* const words = reinterpret_cast<const Word*>(values.data());
      const std::uint64_t count = values.size() / sizeof(Word);
      launch_in_turn(gpu, "find_distinct", count, ConversionPolicy::distinct_blocks,
                     find_distinct<Word>, words, count, are_in_fours(words) ? count / 4 : 0,
                     reinterpret_cast<std::uint32_t*>(distinct));
    }
  });
  const std::uint64_t* const host = download(gpu, distinct, DistinctValues::words);
  gpu.sync();
  std::copy_n(host, DistinctValues::words, found.bits.begin());
  return found;
}

}  // namespace cuszi::gpu

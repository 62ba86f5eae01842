#pragma once

#include "core/field/frame_shape.hpp"
#include "core/field/stored_type.hpp"
#include "gpu/runtime/fours.cuh"

namespace cuszi::gpu {

/// Values on the device in a type that kernels convert.
template <class Byte>
struct StoredValues {
  DType dtype = DType::f32;
  Byte* bytes = nullptr;
};

/// Calls f(values) or, if these are null, f of the stored ones, of a type that
/// with_cast_type_of<T>() knows.
template <class T, class Byte, class F>
decltype(auto) visit_values(T* values, const StoredValues<Byte>& stored, const F& f) {
  if (values != nullptr) return f(values);
  return with_cast_type_of<std::remove_const_t<T>>(stored.dtype, [&](auto zero) {
    using S = decltype(zero);
    using Pointer = std::conditional_t<std::is_const_v<Byte>, const S*, S*>;
    return f(reinterpret_cast<Pointer>(stored.bytes));
  });
}

/// Whether rows of a type that kernels convert can be accessed so.
inline bool allows_four_converted(const FrameShape& shape, const std::byte* values) {
  if (!is_cast(shape.dtype) || is_wide_integer(shape.dtype)) return false;
  return with_word_of(shape.dtype, [&](auto zero) {
    return allows_four(shape.extents(), reinterpret_cast<const decltype(zero)*>(values));
  });
}

}  // namespace cuszi::gpu

#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <vector>

#include "core/base/units.hpp"

namespace cuszi::test {

inline std::vector<std::byte> to_bytes(std::initializer_list<unsigned> values) {
  std::vector<std::byte> bytes;
  for (const unsigned value : values) bytes.push_back(static_cast<std::byte>(value));
  return bytes;
}

/// The values as bytes; they must outlive the span.
template <class T>
Bytes bytes_of(const std::vector<T>& values) {
  return std::as_bytes(std::span(values));
}

template <class T>
std::span<const T> values_of(Bytes bytes) {
  return {reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T)};
}

template <class T>
std::vector<T> to_vector(std::span<const T> values) {
  return {values.begin(), values.end()};
}

}  // namespace cuszi::test

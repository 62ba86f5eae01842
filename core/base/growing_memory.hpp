#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "core/base/units.hpp"

namespace cuszi {

/// Asks the system for huge pages, if it gives them on request. Changes no contents.
void prefer_huge_pages(void* memory, std::size_t bytes) noexcept;

/// std::make_unique_for_overwrite<T[]>() for arrays that may have the size of a frame: small pages
/// would take a fifth of the time of a call to be mapped.
template <class T>
std::unique_ptr<T[]> make_host_array(std::size_t count) {
  auto array = std::make_unique_for_overwrite<T[]>(count);
  constexpr std::size_t several_huge_pages = std::size_t{8} << 20;
  const std::size_t bytes = count * sizeof(T);
  if (bytes >= several_huge_pages) prefer_huge_pages(array.get(), bytes);
  return array;
}

/// Uninitialised memory that grows on demand, aligned for every dtype.
template <class T>
class GrowingMemory {
 public:
  /// Returns `count` values; growing discards the contents.
  std::span<T> first(std::size_t count) {
    if (size_ < count) {
      values_.reset();
      size_ = 0;
      values_ = make_host_array<T>(count);
      size_ = count;
    }
    return std::span(values_.get(), count);
  }

 private:
  std::unique_ptr<T[]> values_;
  std::size_t size_ = 0;
};

class Buffer {
 public:
  MutableBytes resize(ByteCount size) { return view_ = memory_.first(size); }

  MutableBytes view() const { return view_; }

 private:
  GrowingMemory<std::byte> memory_;
  MutableBytes view_;
};

}  // namespace cuszi

#pragma once

#include <cstddef>
#include <memory>

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

}  // namespace cuszi

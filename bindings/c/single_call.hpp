#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <initializer_list>
#include <optional>
#include <string_view>

#include "bindings/c/context.hpp"
#include "core/base/error.hpp"

namespace cuszi::api {

// What calls for one field come to, within a call of a context. They throw what that turns into a
// status.

/// See cuszi_compress().
void compress(cuszi_context& context, const cuszi_options* caller_options, const cuszi_field* field,
              const void* values, void* archive, std::size_t capacity, std::size_t* archive_size);

/// See cuszi_decompress_part(). An archive of another field than `expected`, if that is known, is
/// an ArchiveError.
void decompress(cuszi_context& context, const cuszi_options* caller_options, const void* archive,
                std::size_t size, const cuszi_part& part, void* values, std::size_t capacity,
                const cuszi_field* expected = nullptr);

/// The device that has any of the caller's memory. Throws UsageError if several have.
std::optional<int> device_with(std::initializer_list<const void*> memory);

/// What `address` points to. Throws UsageError if it is NULL.
template <class T>
T& required(std::string_view argument, T* address) {
  if (address == nullptr) throw UsageError(fmt::format("{} is NULL", argument));
  return *address;
}

}  // namespace cuszi::api

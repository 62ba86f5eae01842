#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <initializer_list>
#include <optional>
#include <string_view>

#include "bindings/c/context.hpp"
#include "codec/archive/field_codec.hpp"
#include "core/archive/preview.hpp"
#include "core/base/error.hpp"

namespace cuszi::api {

// Calls for one field; they throw.

/// See cuszi_compress().
void compress(cuszi_context& context, const cuszi_options* caller_options, const cuszi_field* field,
              const void* values, void* archive, std::size_t capacity, std::size_t* archive_size);

/// See cuszi_decompress_part(). Throws ArchiveError if the field is not `expected`.
void decompress(cuszi_context& context, const cuszi_options* caller_options, const void* archive,
                std::size_t size, const cuszi_part& part, void* values, std::size_t capacity,
                const cuszi_field* expected = nullptr);

/// Device of the memory; nullopt for the host. Throws UsageError for several devices.
std::optional<int> device_with(std::initializer_list<const void*> memory);

/// Throws UsageError if NULL.
template <class T>
T& required(std::string_view argument, T* address) {
  if (address == nullptr) throw UsageError(fmt::format("{} is NULL", argument));
  return *address;
}

/// The caller's memory, host or device, for a part of a field.
class FieldBuffer {
 public:
  /// `part` may be incomplete until the first frame.
  FieldBuffer(MutableBytes memory, DType dtype, const Preview& part);

  /// Throws OutputError if the part does not fit.
  void require_room() const;

  /// Valid as long as this object.
  FrameUsers users();

 private:
  MutableBytes place(std::uint64_t index, ByteCount offset, ByteCount size) const;
  MutableBytes aligned_place(std::uint64_t index, ByteCount size) const;

  MutableBytes memory_;
  DType dtype_;
  const Preview& part_;
  bool on_device_;
};

}  // namespace cuszi::api

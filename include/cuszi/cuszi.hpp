/// C++17 over cuszi.h, header-only: exceptions for errors, vectors for memory.
///
///     cuszi::Context context;
///     const cuszi_options options = cuszi::absolute(0.01);
///     const auto archive = context.compress(values, {100, 500, 500}, options);  // float or double
///     const auto restored = context.decompress<float>(archive);
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "cuszi/cuszi.h"

namespace cuszi {
inline namespace api_1 {

/// Status and one-line message of a failed call.
class Error : public std::runtime_error {
 public:
  Error(cuszi_status status, const std::string& text) : std::runtime_error(text), status_(status) {}

  cuszi_status status() const noexcept { return status_; }

 private:
  cuszi_status status_;
};

namespace detail {

inline cuszi_options options_for(cuszi_mode mode, double bound) {
  cuszi_options options = cuszi_default_options();
  options.mode = mode;
  options.bound = bound;
  return options;
}

}  // namespace detail

/// Bound in the field's unit.
inline cuszi_options absolute(double bound) { return detail::options_for(CUSZI_ABS, bound); }

/// Bound as a share of the value range.
inline cuszi_options relative(double bound) { return detail::options_for(CUSZI_REL, bound); }

/// At least `decibels` dB, as small as possible.
inline cuszi_options psnr(double decibels) { return detail::options_for(CUSZI_PSNR, decibels); }

/// At least `factor` times smaller, as exact as possible.
inline cuszi_options ratio(double factor) { return detail::options_for(CUSZI_RATIO, factor); }

/// The type of fields of float, double or integers of 8 to 64 bits.
template <class T>
constexpr cuszi_dtype dtype_of() {
  static_assert(std::is_arithmetic_v<T> && sizeof(T) <= 8 && !std::is_same_v<T, bool>,
                "fields are of float, double or integers; name the type of others");
  if (std::is_floating_point_v<T>) return sizeof(T) == 4 ? CUSZI_F32 : CUSZI_F64;
  constexpr int log2_bytes = sizeof(T) == 1 ? 0 : sizeof(T) == 2 ? 1 : sizeof(T) == 4 ? 2 : 3;
  return static_cast<cuszi_dtype>(CUSZI_I8 + 2 * log2_bytes + (std::is_signed_v<T> ? 0 : 1));
}

/// Extents are slowest first. Throws Error.
inline cuszi_field field_of(cuszi_dtype dtype, const std::vector<std::uint64_t>& dims) {
  if (dims.empty() || dims.size() > CUSZI_MAX_RANK) {
    throw Error(CUSZI_BAD_USAGE, "a field has 1 to 4 dimensions");
  }
  cuszi_field field{};
  field.dtype = dtype;
  field.rank = static_cast<std::int32_t>(dims.size());
  for (std::size_t i = 0; i < dims.size(); ++i) field.dims[i] = dims[i];
  return field;
}

template <class T>
cuszi_field field_of(const std::vector<std::uint64_t>& dims) {
  return field_of(dtype_of<T>(), dims);
}

/// For one thread at a time. Functions throw Error.
class Context {
 public:
  Context() : context_(cuszi_context_create()) {
    if (!context_) throw std::bad_alloc();
  }

  /// Compresses values in host memory.
  template <class T>
  std::vector<std::byte> compress(const std::vector<T>& values,
                                  const std::vector<std::uint64_t>& dims,
                                  const cuszi_options& options) {
    const cuszi_field field = field_of<T>(dims);
    if (cuszi_field_bytes(&field) != values.size() * sizeof(T)) {
      throw Error(CUSZI_BAD_USAGE, "the number of values does not match the dims");
    }
    std::vector<std::byte> archive(cuszi_bound(&field, &options));
    archive.resize(compress(options, field, values.data(), archive.data(), archive.size()));
    return archive;
  }

  /// Compresses in host or device memory. Returns the archive's size.
  std::size_t compress(const cuszi_options& options, const cuszi_field& field, const void* values,
                       void* archive, std::size_t capacity) {
    std::size_t size = 0;
    require(cuszi_compress(context_.get(), &options, &field, values, archive, capacity, &size));
    return size;
  }

  /// See cuszi_last_warning().
  std::string warning() const { return cuszi_last_warning(context_.get()); }

  /// See cuszi_reached().
  double reached() const noexcept { return cuszi_reached(context_.get()); }

  cuszi_info info(const void* archive, std::size_t size) {
    cuszi_info info = cuszi_empty_info();
    require(cuszi_read_info(context_.get(), archive, size, &info));
    return info;
  }

  /// Restores an archive of T.
  template <class T>
  std::vector<T> decompress(const std::vector<std::byte>& archive) {
    const cuszi_part whole = cuszi_whole_field();
    cuszi_field field = {};
    require(cuszi_part_field(context_.get(), archive.data(), archive.size(), &whole, &field));
    if (field.dtype != dtype_of<T>()) {
      throw Error(CUSZI_BAD_USAGE, "the archive contains another value type");
    }
    std::vector<T> values(cuszi_field_bytes(&field) / sizeof(T));
    decompress(nullptr, archive.data(), archive.size(), values.data(), values.size() * sizeof(T));
    return values;
  }

  /// Restores to host or device memory. `options` may be null.
  void decompress(const cuszi_options* options, const void* archive, std::size_t size, void* values,
                  std::size_t capacity) {
    require(cuszi_decompress(context_.get(), options, archive, size, values, capacity));
  }

  /// See cuszi_compress_batch(); sets sizes, and statuses even if it throws.
  void compress_batch(const cuszi_options& options, std::vector<cuszi_compression>& members) {
    require(cuszi_compress_batch(context_.get(), &options, members.data(), members.size()));
  }

  /// See cuszi_decompress_batch().
  void decompress_batch(const cuszi_options* options, std::vector<cuszi_decompression>& members) {
    require(cuszi_decompress_batch(context_.get(), options, members.data(), members.size()));
  }

  /// See cuszi_compress_async(); size and status are set after wait().
  void compress_async(const cuszi_options& options, const cuszi_field& field, const void* values,
                      void* archive, std::size_t capacity, std::size_t* archive_size,
                      std::int32_t* status = nullptr) {
    require(cuszi_compress_async(context_.get(), &options, &field, values, archive, capacity,
                                 archive_size, status));
  }

  /// See cuszi_decompress_async().
  void decompress_async(const cuszi_options* options, const cuszi_field* field, const void* archive,
                        const std::size_t* archive_size, void* values, std::size_t capacity,
                        std::int32_t* status = nullptr) {
    require(cuszi_decompress_async(context_.get(), options, field, archive, archive_size, values,
                                   capacity, status));
  }

  /// Throws the first failure of asynchronous calls.
  void wait() { require(cuszi_wait(context_.get())); }

  /// For functions without a wrapper.
  cuszi_context* get() const noexcept { return context_.get(); }

 private:
  struct Destroy {
    void operator()(cuszi_context* context) const noexcept { cuszi_context_destroy(context); }
  };

  void require(cuszi_status status) const {
    if (status != CUSZI_OK) throw Error(status, cuszi_last_error(context_.get()));
  }

  std::unique_ptr<cuszi_context, Destroy> context_;
};

}  // namespace api_1
}  // namespace cuszi

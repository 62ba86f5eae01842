/// An HDF5 filter, found by HDF5_PLUGIN_PATH. Chunks are archives.
#include <H5PLextern.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "bindings/hdf5/chunk_settings.hpp"
#include "bindings/hdf5/hdf5_caller.hpp"
#include "core/base/floating_point.hpp"
#include "core/base/unmovable.hpp"
#include "core/field/stored_type.hpp"
#include "cuszi/cuszi.h"

namespace cuszi::hdf5 {

namespace {

constexpr H5Z_filter_t filter_id = CUSZI_H5_FILTER;
static_assert(filter_id >= 256 && filter_id <= 511,
              "HDF5's range for tests, until one is registered");

struct DestroyContext {
  void operator()(cuszi_context* context) const { cuszi_context_destroy(context); }
};

/// Per thread.
cuszi_context* context() {
  thread_local const std::unique_ptr<cuszi_context, DestroyContext> mine(cuszi_context_create());
  return mine.get();
}

/// Reused: new pages would take a quarter of the time of `fast`. Null if out of memory.
std::byte* archive_memory(std::size_t size) {
  thread_local std::unique_ptr<std::byte[]> memory;
  thread_local std::size_t capacity = 0;
  if (size > capacity) {
    memory.reset();  // first: both might not fit
    memory.reset(new (std::nothrow) std::byte[size]);
    capacity = memory ? size : 0;
  }
  return memory.get();
}

void swap_bytes(void* values, std::size_t bytes, std::size_t value_bytes) {
  auto* const first = static_cast<unsigned char*>(values);
  for (std::size_t at = 0; at < bytes; at += value_bytes) {
    std::reverse(first + at, first + at + value_bytes);
  }
}

/// For damaged chunks; small archives exceed their values.
std::uint64_t memory_limit(std::size_t chunk_bytes) {
  constexpr std::uint64_t least = std::uint64_t{1} << 20;
  return std::max<std::uint64_t>(16 * std::uint64_t{chunk_bytes}, least);
}

std::size_t value_bytes(const cuszi_field& field) {
  return size_of(static_cast<DType>(field.dtype));
}

/// Allocated by HDF5.
struct Buffer : Unmovable {
  const Caller& hdf5;
  void* bytes;

  Buffer(const Caller& caller, std::size_t size)
      : hdf5(caller), bytes(caller.allocate(std::max<std::size_t>(size, 1), false)) {}
  ~Buffer() {
    if (bytes != nullptr) hdf5.release(bytes);
  }

  /// Replaces HDF5's buffer.
  void replace(std::size_t size, std::size_t* buf_size, void** buf) {
    std::swap(*buf, bytes);
    *buf_size = size;
  }
};

[[noreturn]] void fail() { throw std::runtime_error(cuszi_last_error(context())); }

std::size_t encode(const Caller& hdf5, const ChunkSettings& chunk, std::size_t bytes,
                   std::size_t* buf_size, void** buf) {
  if (bytes != cuszi_field_bytes(&chunk.field)) return 0;
  const cuszi_options options = chunk.options();
  const std::size_t room = cuszi_bound(&chunk.field, &options);
  std::byte* const archive = archive_memory(room);
  if (room == 0 || archive == nullptr) return 0;
  if (chunk.big_endian) swap_bytes(*buf, bytes, value_bytes(chunk.field));
  std::size_t size = 0;
  if (cuszi_compress(context(), &options, &chunk.field, *buf, archive, room, &size) != CUSZI_OK) {
    if (chunk.big_endian) swap_bytes(*buf, bytes, value_bytes(chunk.field));  // restores the values
    fail();
  }
  if (size > bytes) {  // incompressible
    Buffer larger(hdf5, size);
    if (larger.bytes == nullptr) return 0;
    larger.replace(size, buf_size, buf);
  }
  std::memcpy(*buf, archive, size);
  return size;
}

std::size_t decode(const Caller& hdf5, const ChunkSettings& chunk, std::size_t bytes,
                   std::size_t* buf_size, void** buf) {
  cuszi_info info = cuszi_empty_info();
  if (cuszi_read_info(context(), *buf, bytes, &info) != CUSZI_OK) fail();
  const std::size_t size = cuszi_field_bytes(&chunk.field);
  if (cuszi_field_bytes(&info.field) != size || info.field.dtype != chunk.field.dtype) {
    throw std::runtime_error("the archive does not match this chunk's size and type");
  }
  cuszi_options options = chunk.options();
  options.memory_limit = memory_limit(size);
  Buffer values(hdf5, size);
  if (values.bytes == nullptr) return 0;
  if (cuszi_decompress(context(), &options, *buf, bytes, values.bytes, size) != CUSZI_OK) {
    fail();
  }
  if (chunk.big_endian) swap_bytes(values.bytes, size, value_bytes(chunk.field));
  values.replace(size, buf_size, buf);
  return size;
}

/// Drops extents of 1 and merges the slowest beyond four.
bool set_dims(std::span<const hsize_t> chunk, cuszi_field& field) {
  std::vector<std::uint64_t> dims;
  std::copy_if(chunk.begin(), chunk.end(), std::back_inserter(dims),
               [](hsize_t extent) { return extent != 1; });
  if (dims.empty()) dims.push_back(1);
  while (dims.size() > CUSZI_MAX_RANK) {
    if (dims[1] > std::numeric_limits<std::uint64_t>::max() / dims[0]) return false;
    dims[1] *= dims[0];
    dims.erase(dims.begin());
  }
  field.rank = static_cast<std::int32_t>(dims.size());
  std::copy(dims.begin(), dims.end(), std::begin(field.dims));
  return true;
}

/// In bits.
struct FloatLayout {
  std::size_t precision;
  std::size_t exponent_bits;
  std::size_t bias;

  std::size_t mantissa_bits() const { return precision - 1 - exponent_bits; }
};

bool has_layout(const Caller& hdf5, hid_t type, const FloatLayout& ieee) {
  std::size_t sign = 0;
  std::size_t exponent = 0;
  std::size_t exponent_bits = 0;
  std::size_t mantissa = 0;
  std::size_t mantissa_bits = 0;
  const H5T_order_t order = hdf5.type_order(type);
  return (order == H5T_ORDER_LE || order == H5T_ORDER_BE) &&
         hdf5.type_size(type) * 8 == ieee.precision &&
         hdf5.type_precision(type) == ieee.precision && hdf5.type_offset(type) == 0 &&
         hdf5.type_fields(type, &sign, &exponent, &exponent_bits, &mantissa, &mantissa_bits) >= 0 &&
         sign == ieee.precision - 1 && exponent == ieee.mantissa_bits() &&
         exponent_bits == ieee.exponent_bits && mantissa == 0 &&
         mantissa_bits == ieee.mantissa_bits() && hdf5.type_bias(type) == ieee.bias &&
         hdf5.type_norm(type) == H5T_NORM_IMPLIED;
}

/// Whether a type is an integer that uses all its bits.
bool is_integer(const Caller& hdf5, hid_t type) {
  const std::size_t bytes = hdf5.type_size(type);
  return hdf5.type_class(type) == H5T_INTEGER && bytes <= 8 && std::has_single_bit(bytes) &&
         hdf5.type_precision(type) == 8 * bytes && hdf5.type_offset(type) == 0 &&
         (bytes == 1 || hdf5.type_order(type) == H5T_ORDER_LE ||
          hdf5.type_order(type) == H5T_ORDER_BE);
}

/// Other layouts have the same sizes.
std::optional<cuszi_dtype> dtype_of(const Caller& hdf5, hid_t type) {
  constexpr std::pair<cuszi_dtype, FloatLayout> floats[] = {{CUSZI_F32, {32, 8, 127}},
                                                            {CUSZI_F64, {64, 11, 1023}},
                                                            {CUSZI_F16, {16, 5, 15}},
                                                            {CUSZI_BF16, {16, 8, 127}}};
  if (hdf5.type_class(type) == H5T_FLOAT) {
    for (const auto& [dtype, layout] : floats) {
      if (has_layout(hdf5, type, layout)) return dtype;
    }
  }
  if (is_integer(hdf5, type)) {
    const int pairs = std::countr_zero(hdf5.type_size(type));
    const int is_unsigned = hdf5.type_sign(type) == H5T_SGN_NONE ? 1 : 0;
    return static_cast<cuszi_dtype>(CUSZI_I8 + 2 * pairs + is_unsigned);
  }
  hdf5.tell(
      "cuszi takes only IEEE floats of 2, 4 or 8 bytes, bfloat16 and integers of 1 to 8 bytes, "
      "little- or big-endian");
  return std::nullopt;
}

/// Others may follow.
bool is_first(const Caller& hdf5, hid_t properties) {
  std::array<char, 64> name{};
  unsigned flags = 0;
  std::size_t numbers = 0;
  const H5Z_filter_t first =
      hdf5.filter_at(properties, 0, &flags, &numbers, nullptr, name.size(), name.data(), nullptr);
  if (first == filter_id) return true;
  hdf5.tell(("a filter before cuszi changes the values it gets: leave out " +
             (name[0] != 0 ? std::string(name.data()) : "number " + std::to_string(first)) +
             ", or put it after cuszi")
                .c_str());
  return false;
}

/// Stored like the dataset's values.
double value_of(std::array<unsigned char, sizeof(double)> stored, const ChunkSettings& like) {
  const std::size_t bytes = value_bytes(like.field);
  if (like.big_endian) swap_bytes(stored.data(), bytes, bytes);
  return with_stored_type_of(static_cast<DType>(like.field.dtype), [&](auto value) -> double {
    std::memcpy(&value, stored.data(), sizeof value);
    if constexpr (std::is_arithmetic_v<decltype(value)>) {
      return static_cast<double>(value);
    } else {
      return value.value();
    }
  });
}

bool complete(const Caller& hdf5, hid_t properties, hid_t type, ChunkSettings& settings) {
  std::array<hsize_t, H5S_MAX_RANK> chunk{};
  const int rank = hdf5.chunk(properties, static_cast<int>(chunk.size()), chunk.data());
  if (rank < 1) return false;
  settings.field.dtype = dtype_of(hdf5, type).value();
  settings.big_endian = hdf5.type_order(type) == H5T_ORDER_BE;
  if (!set_dims(std::span(chunk).first(static_cast<std::size_t>(rank)), settings.field)) {
    return false;
  }
  H5D_fill_value_t defined = H5D_FILL_VALUE_UNDEFINED;
  std::array<unsigned char, sizeof(double)> fill{};
  if (hdf5.fill_defined(properties, &defined) >= 0 && defined == H5D_FILL_VALUE_USER_DEFINED &&
      hdf5.fill_value(properties, type, fill.data()) >= 0) {
    if (!settings.add_fill(value_of(fill, settings))) {
      hdf5.tell("more than 16 fill values, including that of the dataset");
      return false;
    }
  }
  return cuszi_field_bytes(&settings.field) != 0;
}

/// Sets the parameters of a new dataset.
herr_t set_parameters(const Caller& caller, hid_t properties, hid_t type) {
  // HDF5 ignores can_apply() for optional filters.
  if (!dtype_of(caller, type) || !is_first(caller, properties)) return -1;
  ChunkSettings::Numbers numbers(ChunkSettings::most);
  size_t count = numbers.size();  // set to the actual count
  unsigned flags = 0;
  if (caller.filter(properties, filter_id, &flags, &count, numbers.data(), 0, nullptr, nullptr) <
      0) {
    return -1;
  }
  numbers.resize(count);  // zeros beyond the longest list
  auto settings = ChunkSettings::asked(numbers);
  if (!complete(caller, properties, type, settings)) return -1;
  const cuszi_options options = settings.options();
  if (cuszi_bound(&settings.field, &options) == 0) {
    caller.tell("cuszi does not support this bound, preset or chunk size");
    return -1;
  }
  // Chunks stay unfiltered where an optional filter fails.
  if (settings.strict) flags &= ~static_cast<unsigned>(H5Z_FLAG_OPTIONAL);
  numbers = settings.write();
  return caller.modify_filter(properties, filter_id, flags, numbers.size(), numbers.data());
}

}  // namespace

}  // namespace cuszi::hdf5

namespace hdf5 = cuszi::hdf5;

extern "C" {

static htri_t can_apply(hid_t /*properties*/, hid_t type, hid_t /*space*/) {
  hdf5::Caller caller;
  if (!caller.find(__builtin_return_address(0))) return -1;
  return hdf5::dtype_of(caller, type) ? 1 : 0;
}

static herr_t set_local(hid_t properties, hid_t type, hid_t /*space*/) {
  const cuszi::IeeeArithmetic arithmetic;  // fill values may be signalling NaNs
  hdf5::Caller caller;
  if (!caller.find(__builtin_return_address(0))) return -1;
  try {
    return hdf5::set_parameters(caller, properties, type);
  } catch (const std::exception& error) {
    caller.tell(error.what());
    return -1;
  }
}

static size_t filter(unsigned flags, size_t count, const unsigned* numbers, size_t bytes,
                     size_t* buf_size, void** buf) {
  hdf5::Caller caller;
  try {
    if (!caller.find(__builtin_return_address(0)) || hdf5::context() == nullptr) return 0;
    const auto chunk = hdf5::ChunkSettings::read({numbers, count});
    return (flags & H5Z_FLAG_REVERSE) != 0 ? hdf5::decode(caller, chunk, bytes, buf_size, buf)
                                           : hdf5::encode(caller, chunk, bytes, buf_size, buf);
  } catch (const std::exception& error) {
    caller.tell(error.what());
    return 0;
  }
}

CUSZI_API H5PL_type_t H5PLget_plugin_type() { return H5PL_TYPE_FILTER; }

CUSZI_API const void* H5PLget_plugin_info() {
  static const H5Z_class2_t filter_class{
      H5Z_CLASS_T_VERS, hdf5::filter_id, 1,     1, "cuszi: error-bounded lossy compression",
      can_apply,        set_local,       filter};
  return &filter_class;
}

}  // extern "C"

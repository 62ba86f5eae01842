/// libh5cuszi: cuszi as a filter of HDF5, which is found through HDF5_PLUGIN_PATH. A chunk in a
/// file is an archive of cuszi.
#include <H5PLextern.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <memory>
#include <vector>

#include "bindings/hdf5/chunk_settings.hpp"
#include "bindings/hdf5/hdf5_caller.hpp"
#include "cuszi/cuszi.h"

namespace cuszi::hdf5 {

namespace {

constexpr H5Z_filter_t filter_id = CUSZI_H5_FILTER;
static_assert(filter_id >= 256 && filter_id <= 511,
              "HDF5's range for tests, until one is registered");

struct DestroyContext {
  void operator()(cuszi_context* context) const { cuszi_context_destroy(context); }
};

/// The calling thread's.
cuszi_context* context() {
  thread_local const std::unique_ptr<cuszi_context, DestroyContext> mine(cuszi_context_create());
  return mine.get();
}

/// Memory for an archive, which the calling thread keeps: pages that are new with every chunk would
/// take a quarter of the time in which `fast` restores one. nullptr if there is none.
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

/// What a damaged chunk may take at most; small ones have heads that are larger than they are.
std::uint64_t memory_limit(std::size_t chunk_bytes) {
  constexpr std::uint64_t least = std::uint64_t{1} << 20;
  return std::max<std::uint64_t>(16 * std::uint64_t{chunk_bytes}, least);
}

std::size_t value_bytes(const cuszi_field& field) { return field.dtype == CUSZI_F64 ? 8 : 4; }

/// Memory of HDF5's own.
struct Buffer {
  const Caller& hdf5;
  void* bytes;

  Buffer(const Caller& caller, std::size_t size)
      : hdf5(caller), bytes(caller.allocate(std::max<std::size_t>(size, 1), false)) {}
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer() {
    if (bytes != nullptr) hdf5.release(bytes);
  }

  /// Takes the place of what HDF5 has given to the filter.
  void replace(std::size_t size, std::size_t* buf_size, void** buf) {
    std::swap(*buf, bytes);
    *buf_size = size;
  }
};

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
    if (chunk.big_endian) swap_bytes(*buf, bytes, value_bytes(chunk.field));  // as it was
    return 0;
  }
  if (size > bytes) {  // than the values
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
  if (cuszi_read_info(context(), *buf, bytes, &info) != CUSZI_OK) return 0;
  const std::size_t size = cuszi_field_bytes(&chunk.field);
  if (cuszi_field_bytes(&info.field) != size || info.field.dtype != chunk.field.dtype) return 0;
  cuszi_options options = cuszi_default_options();
  options.memory_limit = memory_limit(size);
  Buffer values(hdf5, size);
  if (values.bytes == nullptr ||
      cuszi_decompress(context(), &options, *buf, bytes, values.bytes, size) != CUSZI_OK) {
    return 0;
  }
  if (chunk.big_endian) swap_bytes(values.bytes, size, value_bytes(chunk.field));
  values.replace(size, buf_size, buf);
  return size;
}

/// The chunk's extents as a field: those of 1 left out, the slowest merged until four are left.
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

bool is_field(const Caller& hdf5, hid_t type) {
  const std::size_t size = hdf5.type_size(type);
  return hdf5.type_class(type) == H5T_FLOAT && (size == 4 || size == 8);
}

/// Completes what the user asks for by what the dataset is.
bool complete(const Caller& hdf5, hid_t properties, hid_t type, ChunkSettings& settings) {
  std::array<hsize_t, H5S_MAX_RANK> chunk{};
  const int rank = hdf5.chunk(properties, static_cast<int>(chunk.size()), chunk.data());
  if (rank < 1) return false;
  settings.field.dtype = hdf5.type_size(type) == 8 ? CUSZI_F64 : CUSZI_F32;
  settings.big_endian = hdf5.type_order(type) == H5T_ORDER_BE;
  if (!set_dims(std::span(chunk).first(static_cast<std::size_t>(rank)), settings.field)) {
    return false;
  }
  H5D_fill_value_t defined = H5D_FILL_VALUE_UNDEFINED;
  double fill = 0;
  if (hdf5.fill_defined(properties, &defined) >= 0 && defined == H5D_FILL_VALUE_USER_DEFINED &&
      hdf5.fill_value(properties, *hdf5.native_double, &fill) >= 0) {
    settings.add_fill(fill);
  }
  return cuszi_field_bytes(&settings.field) != 0;
}

}  // namespace

}  // namespace cuszi::hdf5

namespace hdf5 = cuszi::hdf5;

extern "C" {

/// Whether a dataset can be filtered: floats of 4 or 8 bytes.
static htri_t can_apply(hid_t /*properties*/, hid_t type, hid_t /*space*/) {
  hdf5::Caller caller;
  if (!caller.find(__builtin_return_address(0))) return -1;
  return hdf5::is_field(caller, type) ? 1 : 0;
}

static herr_t set_local(hid_t properties, hid_t type, hid_t /*space*/) try {
  hdf5::Caller caller;
  if (!caller.find(__builtin_return_address(0))) return -1;
  // Where a filter is optional, HDF5 does not heed can_apply().
  if (!hdf5::is_field(caller, type)) return -1;
  hdf5::ChunkSettings::Numbers numbers(hdf5::ChunkSettings::most);
  size_t count = numbers.size();
  unsigned flags = 0;
  if (caller.filter(properties, hdf5::filter_id, &flags, &count, numbers.data(), 0, nullptr,
                    nullptr) < 0) {
    return -1;
  }
  auto settings =
      hdf5::ChunkSettings::asked(std::span(numbers).first(std::min(count, numbers.size())));
  if (!settings || !hdf5::complete(caller, properties, type, *settings)) return -1;
  const cuszi_options options = settings->options();
  if (cuszi_bound(&settings->field, &options) == 0) return -1;
  numbers = settings->write();
  return caller.modify_filter(properties, hdf5::filter_id, flags, numbers.size(), numbers.data());
} catch (...) {
  return -1;
}

static size_t filter(unsigned flags, size_t count, const unsigned* numbers, size_t bytes,
                     size_t* buf_size, void** buf) {
  try {
    hdf5::Caller caller;
    const auto chunk = hdf5::ChunkSettings::read({numbers, count});
    if (!chunk || !caller.find(__builtin_return_address(0)) || hdf5::context() == nullptr) return 0;
    return (flags & H5Z_FLAG_REVERSE) != 0 ? hdf5::decode(caller, *chunk, bytes, buf_size, buf)
                                           : hdf5::encode(caller, *chunk, bytes, buf_size, buf);
  } catch (...) {
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

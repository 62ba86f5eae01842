/// Each block of a variable becomes an archive.
#include <adios2/plugin/PluginOperatorInterface.h>

#include <algorithm>
#include <cuszi/cuszi.hpp>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "block_settings.hpp"

#ifndef ADIOS2_PLUGIN_OPERATOR_INTERFACE
#error "ADIOS2 2.12 or newer is needed"
#endif

namespace cuszi::adios {

namespace {

std::optional<cuszi_dtype> dtype_of(adios2::DataType type) {
  switch (type) {
    case adios2::DataType::Float: return CUSZI_F32;
    case adios2::DataType::Double: return CUSZI_F64;
    case adios2::DataType::Char:  // as which its Python writes int8
      return std::is_signed_v<char> ? CUSZI_I8 : CUSZI_U8;
    case adios2::DataType::Int8: return CUSZI_I8;
    case adios2::DataType::UInt8: return CUSZI_U8;
    case adios2::DataType::Int16: return CUSZI_I16;
    case adios2::DataType::UInt16: return CUSZI_U16;
    case adios2::DataType::Int32: return CUSZI_I32;
    case adios2::DataType::UInt32: return CUSZI_U32;
    case adios2::DataType::Int64: return CUSZI_I64;
    case adios2::DataType::UInt64: return CUSZI_U64;
    default: return std::nullopt;
  }
}

/// Any type of this size: all have archives of the same largest size.
cuszi_dtype dtype_of_size(std::size_t value_bytes) {
  switch (value_bytes) {
    case 1: return CUSZI_U8;
    case 2: return CUSZI_U16;
    case 4: return CUSZI_F32;
    default: return CUSZI_F64;
  }
}

/// Drops extents of 1 and merges the slowest beyond four.
cuszi_field block_field(cuszi_dtype dtype, std::vector<std::size_t> counts, bool column_major) {
  if (column_major) std::reverse(counts.begin(), counts.end());
  counts.erase(std::remove(counts.begin(), counts.end(), std::size_t{1}), counts.end());
  std::vector<std::uint64_t> dims(counts.begin(), counts.end());
  if (dims.empty()) dims.push_back(1);
  while (dims.size() > CUSZI_MAX_RANK) {
    dims[1] *= dims[0];
    dims.erase(dims.begin());
  }
  return field_of(dtype, dims);
}

/// Throws if no archive of values of this type can be made, whatever they are.
void require_suited(const BlockSettings& settings, cuszi_dtype dtype) {
  if (!settings.has_bound) {
    throw std::invalid_argument(
        "cuszi: give one of abs, rel, pw_rel, abs_or_pw_rel, abs_and_pw_rel, psnr and ratio, like "
        "abs: 0.01");
  }
  const cuszi_field field = field_of(dtype, {1});
  cuszi_options options = settings.options();
  options.strict = 0;  // one value may miss a target
  const double zero = 0;
  std::vector<char> archive(cuszi_bound(&field, &options));
  try {
    Context().compress(options, field, &zero, archive.data(), archive.size());
  } catch (const Error& error) {
    throw std::runtime_error("cuszi: " + std::string(error.what()));
  }
}

/// From a process without values; the archive is empty.
bool is_empty(const std::vector<std::size_t>& counts) {
  return std::find(counts.begin(), counts.end(), std::size_t{0}) != counts.end();
}

class Operator final : public adios2::plugin::PluginOperatorInterface {
 public:
  /// Checks options early: ADIOS2 2.12 crashes after Operate() throws.
  explicit Operator(const adios2::Params& parameters)
      : PluginOperatorInterface(parameters), settings_(read_settings(parameters)) {
    const bool is_readers = parameters.count("pluginname") == 0;
    if (!is_readers || settings_.has_bound) require_suited(settings_, CUSZI_F32);
  }

  size_t Operate(const char* values, const adios2::Dims& /*start*/, const adios2::Dims& counts,
                 const adios2::DataType type, char* archive) override {
    if (is_empty(counts)) return 0;
    const cuszi_field field = block_field(dtype_of(type).value(), counts, settings_.column_major);
    const cuszi_options options = settings_.options();
    // Engines that do not ask for a size provide that of the values.
    const std::size_t room = std::max(std::exchange(room_, 0), cuszi_field_bytes(&field));
    return with_context(
        [&](Context& context) { return context.compress(options, field, values, archive, room); });
  }

  size_t InverseOperate(const char* archive, const size_t size, char* values) override {
    if (size == 0) return 0;
    const cuszi_options options = settings_.options();
    return with_context([&](Context& context) {
      const cuszi_info info = context.info(archive, size);
      const std::size_t bytes = cuszi_field_bytes(&info.field);
      context.decompress(&options, archive, size, values, bytes);
      return bytes;
    });
  }

  /// Also false for integers that the options do not suit, like relative bounds of 64 bits.
  bool IsDataTypeValid(const adios2::DataType type) const override {
    const std::optional<cuszi_dtype> dtype = dtype_of(type);
    if (!dtype || !settings_.has_bound) return dtype.has_value();
    try {
      require_suited(settings_, *dtype);
      return true;
    } catch (const std::runtime_error&) {
      return false;
    }
  }

  /// Upper limit of the archive's size.
  size_t GetEstimatedSize(const size_t /*values*/, const size_t value_bytes, const size_t rank,
                          const size_t* counts) const override {
    const cuszi_field field =
        block_field(dtype_of_size(value_bytes), {counts, counts + rank}, settings_.column_major);
    const cuszi_options options = settings_.options();
    room_ = cuszi_bound(&field, &options);
    return room_;
  }

 private:
  /// Uses a new context while another thread uses the operator's.
  template <class Call>
  std::size_t with_context(Call call) {
    const std::unique_lock<std::mutex> lock(busy_, std::try_to_lock);
    try {
      if (lock.owns_lock()) return call(context_);
      Context other;
      return call(other);
    } catch (const Error& error) {
      throw std::runtime_error("cuszi: " + std::string(error.what()));
    }
  }

  BlockSettings settings_;
  mutable std::size_t room_ = 0;  // if the engine asked
  std::mutex busy_;
  Context context_;
};

}  // namespace

}  // namespace cuszi::adios

// Entry points of ADIOS2 plugins. NOLINTBEGIN(readability-identifier-naming)
extern "C" {

CUSZI_API adios2::plugin::PluginOperatorInterface* OperatorCreate(
    const adios2::Params& parameters) {
  return new cuszi::adios::Operator(parameters);
}

CUSZI_API void OperatorDestroy(adios2::plugin::PluginOperatorInterface* plugin) { delete plugin; }
}
// NOLINTEND(readability-identifier-naming)

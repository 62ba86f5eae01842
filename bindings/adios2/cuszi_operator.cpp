/// Each block of a variable becomes an archive.
#include <adios2/plugin/PluginOperatorInterface.h>

#include <algorithm>
#include <cuszi/cuszi.hpp>
#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "block_settings.hpp"

#ifndef ADIOS2_PLUGIN_OPERATOR_INTERFACE
#error "ADIOS2 2.12 or newer is needed"
#endif

namespace cuszi::adios {

namespace {

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
  return dtype == CUSZI_F32 ? field_of<float>(dims) : field_of<double>(dims);
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
    if (is_readers && !settings_.has_bound) return;
    const float value = 1;
    const adios2::Dims one = {1};
    std::vector<char> archive(GetEstimatedSize(1, sizeof value, one.size(), one.data()));
    Operator::Operate(reinterpret_cast<const char*>(&value), {0}, one, adios2::DataType::Float,
                      archive.data());
  }

  size_t Operate(const char* values, const adios2::Dims& /*start*/, const adios2::Dims& counts,
                 const adios2::DataType type, char* archive) override {
    if (!settings_.has_bound) {
      throw std::invalid_argument(
          "cuszi: give one of abs, rel, pw_rel, abs_or_pw_rel, abs_and_pw_rel, psnr and ratio, "
          "like "
          "abs: 0.01");
    }
    if (is_empty(counts)) return 0;
    const cuszi_dtype dtype = type == adios2::DataType::Float ? CUSZI_F32 : CUSZI_F64;
    const cuszi_field field = block_field(dtype, counts, settings_.column_major);
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

  bool IsDataTypeValid(const adios2::DataType type) const override {
    return type == adios2::DataType::Float || type == adios2::DataType::Double;
  }

  /// Upper limit of the archive's size.
  size_t GetEstimatedSize(const size_t /*values*/, const size_t value_bytes, const size_t rank,
                          const size_t* counts) const override {
    const cuszi_dtype dtype = value_bytes == sizeof(float) ? CUSZI_F32 : CUSZI_F64;
    const cuszi_field field = block_field(dtype, {counts, counts + rank}, settings_.column_major);
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

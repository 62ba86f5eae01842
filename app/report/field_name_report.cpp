#include "app/report/field_name_report.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "codec/field/field_name.hpp"
#include "core/base/error.hpp"

namespace cuszi::app {

namespace {

std::optional<ByteCount> size_of_file(const std::string& path) {
  std::error_code no_such_file;
  const auto size = std::filesystem::file_size(path, no_such_file);
  return no_such_file ? std::nullopt : std::optional<ByteCount>(size);
}

}  // namespace

Json describe_field_name(const std::string& name, std::optional<DType> dtype) {
  const std::optional<ByteCount> bytes = size_of_file(name);
  if (!dtype) dtype = dtype_in_name(name);
  Json json = {{"field_name", name},
               {"is_field", is_field_name(name)},
               {"dtype", dtype ? Json(name_of(*dtype)) : Json(nullptr)},
               {"dims", nullptr},
               {"file_bytes", bytes ? Json(*bytes) : Json(nullptr)},
               {"fits", nullptr},
               {"failure", nullptr}};
  try {
    FieldOptions options;
    options.dtype = dtype;
    const FieldLayout layout = layout_of(name, options, bytes);
    json["dims"] = layout.dims.extents();
    if (bytes) json["fits"] = layout.field_bytes() == *bytes;
  } catch (const Error& error) {
    json["failure"] = error.what();
  }
  return json;
}

std::string field_name_text(const Json& description) {
  if (description["failure"].is_string()) return description["failure"].get<std::string>() + '\n';
  const auto dims = Dims::make(description["dims"].get<std::vector<std::uint64_t>>());
  const Json& fits = description["fits"];
  return fmt::format("{}: {} {}{}\n", description["field_name"].get<std::string>(),
                     dims.value().to_string(), description["dtype"].get<std::string>(),
                     fits.is_null() ? ", no such file"
                     : fits         ? ""
                                    : ", NOT THE SIZE OF THE FILE");
}

}  // namespace cuszi::app

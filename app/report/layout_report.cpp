#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "app/cli/json.hpp"
#include "app/report/report.hpp"
#include "codec/field/field_name.hpp"
#include "codec/field/layout_check.hpp"
#include "core/base/error.hpp"

namespace cuszi::app {

namespace {

ReadValues reader_of(const FieldSource& field, Bytes first_frame) {
  const ByteCount bytes_of_value = size_of(field.layout().dtype);
  if (!field.is_stream()) {
    return [&field, bytes_of_value](std::uint64_t first, MutableBytes out) {
      field.read_part(0, first * bytes_of_value, out);
    };
  }
  return [bytes_of_value, first_frame](std::uint64_t first, MutableBytes out) {
    const Bytes part = first_frame.subspan(first * bytes_of_value, out.size());
    std::copy(part.begin(), part.end(), out.begin());
  };
}

}  // namespace

LayoutWarning layout_warning(const FieldSource& field, Bytes first_frame, const FillValues& fills) {
  const FieldLayout& layout = field.layout();
  const ReadValues read = reader_of(field, first_frame);
  const std::uint64_t values =
      field.is_stream() ? field.plan().frame_dims(0).count() : layout.dims.count();
  if (const auto implausible = implausible_value(layout, values, read)) {
    const ByteOrder other =
        layout.byte_order == ByteOrder::little ? ByteOrder::big : ByteOrder::little;
    return {
        fmt::format("values like {:.3g} suggest the other byte order; if so, give --byte-order {}",
                    *implausible, name_of(other)),
        true};
  }
  if (const auto other = smoother_dims(layout, values, fills, read)) {
    return {fmt::format(
        "with dims {} the field would be {:.1f} times smoother than with {}; if they are right, "
        "slowest first, give --dims {}",
        other->dims.to_string(), other->gain, layout.dims.to_string(), other->dims.to_string())};
  }
  return {};
}

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
                     fits.is_null() ? ", file not found"
                     : fits         ? ""
                                    : ", DOES NOT MATCH THE FILE SIZE");
}

}  // namespace cuszi::app

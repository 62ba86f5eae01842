#include "bindings/containers/hdf5_variable.hpp"

#include <fmt/format.h>

#include <memory>

namespace cuszi::hdf5 {

namespace {

constexpr auto dataspace = &::H5Sclose;
constexpr auto datatype = &::H5Tclose;
constexpr auto properties = &::H5Pclose;
constexpr auto attribute = &::H5Aclose;

std::vector<std::uint64_t> extents_of(hid_t dataset, const std::string& name) {
  const Handle space(::H5Dget_space(dataset), dataspace, name);
  if (::H5Sget_simple_extent_type(space.get()) == H5S_NULL) return {0};
  std::vector<hsize_t> extents(
      static_cast<std::size_t>(check(::H5Sget_simple_extent_ndims(space.get()), name)));
  ::H5Sget_simple_extent_dims(space.get(), extents.data(), nullptr);
  return {extents.begin(), extents.end()};
}

std::vector<std::uint64_t> chunk_of(hid_t creation, std::size_t rank) {
  if (rank == 0 || ::H5Pget_layout(creation) != H5D_CHUNKED) return {};
  std::vector<hsize_t> extents(rank);
  ::H5Pget_chunk(creation, static_cast<int>(rank), extents.data());
  return {extents.begin(), extents.end()};
}

bool is_number(hid_t type) {
  const H5T_class_t kind = ::H5Tget_class(type);
  return kind == H5T_FLOAT || kind == H5T_INTEGER;
}

std::optional<DType> dtype_of(hid_t type) {
  const auto equal = [&](hid_t other) { return ::H5Tequal(type, other) > 0; };
  if (equal(H5T_IEEE_F32LE) || equal(H5T_IEEE_F32BE)) return DType::f32;
  if (equal(H5T_IEEE_F64LE) || equal(H5T_IEEE_F64BE)) return DType::f64;
  return std::nullopt;
}

std::string type_text(hid_t type) {
  const std::size_t bits = 8 * ::H5Tget_size(type);
  switch (::H5Tget_class(type)) {
    case H5T_INTEGER:
      return fmt::format("{}int{}", ::H5Tget_sign(type) == H5T_SGN_NONE ? "u" : "", bits);
    case H5T_FLOAT: return fmt::format("float{}", bits);
    case H5T_STRING: return "text";
    case H5T_COMPOUND: return "a compound type";
    case H5T_ENUM: return "an enumeration";
    case H5T_REFERENCE: return "references";
    default: return "no numbers";
  }
}

void add_attribute(hid_t dataset, const char* name, Variable& variable) {
  if (::H5Aexists(dataset, name) <= 0) return;
  const Handle found(::H5Aopen(dataset, name, H5P_DEFAULT), attribute, name);
  const Handle type(::H5Aget_type(found.get()), datatype, name);
  const Handle space(::H5Aget_space(found.get()), dataspace, name);
  const hssize_t count = ::H5Sget_simple_extent_npoints(space.get());
  if (!is_number(type.get()) || count < 1) return;
  std::vector<double> values(static_cast<std::size_t>(count));
  check(::H5Aread(found.get(), H5T_NATIVE_DOUBLE, values.data()), name);
  for (const double value : values) variable.add_fill(value);
}

void add_fills(hid_t dataset, hid_t creation, Variable& variable) {
  H5D_fill_value_t defined = H5D_FILL_VALUE_UNDEFINED;
  double value = 0;
  if (::H5Pfill_value_defined(creation, &defined) >= 0 && defined == H5D_FILL_VALUE_USER_DEFINED &&
      ::H5Pget_fill_value(creation, H5T_NATIVE_DOUBLE, &value) >= 0) {
    variable.add_fill(value);
  }
  add_attribute(dataset, "_FillValue", variable);
  add_attribute(dataset, "missing_value", variable);
}

}  // namespace

Variable describe(hid_t dataset, const std::string& name) {
  const Handle type(::H5Dget_type(dataset), datatype, name);
  const Handle creation(::H5Dget_create_plist(dataset), properties, name);
  Variable variable;
  variable.name = name;
  variable.type = type_text(type.get());
  variable.dtype = dtype_of(type.get());
  variable.extents = extents_of(dataset, name);
  variable.chunk = chunk_of(creation.get(), variable.extents.size());
  if (variable.dtype) add_fills(dataset, creation.get(), variable);
  variable.stored_bytes = ::H5Dget_storage_size(dataset);
  variable.is_elsewhere =
      ::H5Pget_layout(creation.get()) == H5D_VIRTUAL || ::H5Pget_external_count(creation.get()) > 0;
  variable.is_packed =
      ::H5Tget_class(type.get()) == H5T_INTEGER &&
      (::H5Aexists(dataset, "scale_factor") > 0 || ::H5Aexists(dataset, "add_offset") > 0);
  variable.is_coordinate = text_attribute(dataset, "CLASS") == "DIMENSION_SCALE";
  return variable;
}

std::string text_attribute(hid_t object, const char* name) {
  if (::H5Aexists(object, name) <= 0) return {};
  const Handle found(::H5Aopen(object, name, H5P_DEFAULT), attribute, name);
  const Handle type(::H5Aget_type(found.get()), datatype, name);
  const Handle space(::H5Aget_space(found.get()), dataspace, name);
  if (::H5Tget_class(type.get()) != H5T_STRING ||
      ::H5Sget_simple_extent_npoints(space.get()) != 1) {
    return {};
  }
  if (::H5Tis_variable_str(type.get()) > 0) {
    char* text = nullptr;
    check(::H5Aread(found.get(), type.get(), &text), name);
    const std::unique_ptr<char, herr_t (*)(void*)> owned(
        text, [](void* memory) { return ::H5free_memory(memory); });
    return text == nullptr ? std::string() : std::string(text);
  }
  std::string text(::H5Tget_size(type.get()), '\0');
  check(::H5Aread(found.get(), type.get(), text.data()), name);
  return text.substr(0, text.find('\0'));
}

}  // namespace cuszi::hdf5

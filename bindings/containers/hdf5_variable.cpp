#include <fmt/format.h>

#include <array>
#include <cstring>

#include "bindings/containers/hdf5_container.hpp"
#include "bindings/containers/hdf5_handle.hpp"

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

/// By its exponent's bits.
std::optional<DType> half_of(hid_t type) {
  std::size_t sign = 0;
  std::size_t exponent = 0;
  std::size_t exponent_bits = 0;
  std::size_t fraction = 0;
  std::size_t fraction_bits = 0;
  ::H5Tget_fields(type, &sign, &exponent, &exponent_bits, &fraction, &fraction_bits);
  const std::size_t bias = ::H5Tget_ebias(type);
  const bool is_usual = sign == 15 && fraction == 0 && exponent == fraction_bits &&
                        ::H5Tget_norm(type) == H5T_NORM_IMPLIED;
  if (is_usual && exponent_bits == 5 && bias == 15) return DType::f16;
  if (is_usual && exponent_bits == 8 && bias == 127) return DType::bf16;
  return std::nullopt;
}

std::optional<DType> dtype_of(hid_t type) {
  const auto equal = [&](hid_t other) { return ::H5Tequal(type, other) > 0; };
  if (equal(H5T_IEEE_F32LE) || equal(H5T_IEEE_F32BE)) return DType::f32;
  if (equal(H5T_IEEE_F64LE) || equal(H5T_IEEE_F64BE)) return DType::f64;
  const std::size_t bytes = ::H5Tget_size(type);
  const bool is_whole = ::H5Tget_precision(type) == 8 * bytes && ::H5Tget_offset(type) == 0;
  if (::H5Tget_class(type) == H5T_FLOAT && bytes == 2 && is_whole) return half_of(type);
  if (::H5Tget_class(type) != H5T_INTEGER || !is_whole) return std::nullopt;
  const bool is_unsigned = ::H5Tget_sign(type) == H5T_SGN_NONE;
  return dtype_named(fmt::format("{}{}", is_unsigned ? 'u' : 'i', 8 * bytes));
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

/// Perhaps unreadable, but copied as stored.
std::string lacking_filter(hid_t creation) {
  for (unsigned i = 0; ::H5Pget_nfilters(creation) > static_cast<int>(i); ++i) {
    std::array<char, 64> name{};
    unsigned flags = 0;
    std::size_t numbers = 0;
    const H5Z_filter_t filter =
        ::H5Pget_filter2(creation, i, &flags, &numbers, nullptr, name.size(), name.data(), nullptr);
    if (::H5Zfilter_avail(filter) > 0) continue;
    return fmt::format("{}{}{}", filter, name[0] == 0 ? "" : ", ", name.data());
  }
  return {};
}

void add_fill(hid_t creation, Variable& variable) {
  H5D_fill_value_t defined = H5D_FILL_VALUE_UNDEFINED;
  double value = 0;
  if (::H5Pfill_value_defined(creation, &defined) >= 0 && defined == H5D_FILL_VALUE_USER_DEFINED &&
      ::H5Pget_fill_value(creation, H5T_NATIVE_DOUBLE, &value) >= 0) {
    variable.add_fill(value);
  }
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
  if (variable.dtype) add_fill(creation.get(), variable);
  variable.lacking_filter = lacking_filter(creation.get());
  variable.stored_bytes = ::H5Dget_storage_size(dataset);
  H5O_info_t info{};
  check(::H5Oget_info2(dataset, &info, H5O_INFO_BASIC), name);
  variable.address = info.addr;
  variable.is_elsewhere =
      ::H5Pget_layout(creation.get()) == H5D_VIRTUAL || ::H5Pget_external_count(creation.get()) > 0;
  variable.is_packed =
      ::H5Tget_class(type.get()) == H5T_INTEGER &&
      (::H5Aexists(dataset, "scale_factor") > 0 || ::H5Aexists(dataset, "add_offset") > 0);
  const DatasetAttributes attributes(dataset);
  variable.is_auxiliary = attributes.text("CLASS") == "DIMENSION_SCALE";
  apply_conventions(attributes, variable);
  return variable;
}

std::string DatasetAttributes::text(const char* name) const {
  if (::H5Aexists(dataset_, name) <= 0) return {};
  const Handle found(::H5Aopen(dataset_, name, H5P_DEFAULT), attribute, name);
  const Handle type(::H5Aget_type(found.get()), datatype, name);
  const Handle space(::H5Aget_space(found.get()), dataspace, name);
  if (::H5Tget_class(type.get()) != H5T_STRING) return {};
  Values values(type.get(), space.get(), name);
  if (values.count() == 0) return {};
  check(::H5Aread(found.get(), type.get(), values.data()), name);
  const bool any_length = ::H5Tis_variable_str(type.get()) > 0;
  std::string all;
  for (std::size_t i = 0; i < values.count(); ++i) {
    const char* text = static_cast<const char*>(values.at(i));
    if (any_length) std::memcpy(&text, values.at(i), sizeof text);
    if (text == nullptr) continue;
    const std::size_t most = any_length ? std::strlen(text) : ::H5Tget_size(type.get());
    all.append(all.empty() ? "" : " ").append(text, ::strnlen(text, most));
  }
  return all;
}

std::vector<double> DatasetAttributes::numbers(const char* name) const {
  if (::H5Aexists(dataset_, name) <= 0) return {};
  const Handle found(::H5Aopen(dataset_, name, H5P_DEFAULT), attribute, name);
  const Handle type(::H5Aget_type(found.get()), datatype, name);
  const Handle space(::H5Aget_space(found.get()), dataspace, name);
  const hssize_t count = ::H5Sget_simple_extent_npoints(space.get());
  if (!is_number(type.get()) || count < 1) return {};
  std::vector<double> values(static_cast<std::size_t>(count));
  check(::H5Aread(found.get(), H5T_NATIVE_DOUBLE, values.data()), name);
  return values;
}

}  // namespace cuszi::hdf5

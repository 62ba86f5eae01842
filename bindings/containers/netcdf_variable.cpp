#include <netcdf.h>

#include <array>
#include <cerrno>

#include "bindings/containers/hdf5_handle.hpp"
#include "bindings/containers/netcdf.hpp"
#include "core/base/error.hpp"
#include "core/field/stored_type.hpp"

namespace cuszi::netcdf {

namespace {

bool is_integer(nc_type type) {
  return type == NC_BYTE || type == NC_UBYTE || (type >= NC_SHORT && type <= NC_INT) ||
         (type >= NC_USHORT && type <= NC_UINT64);
}

bool is_number(nc_type type) { return type == NC_FLOAT || type == NC_DOUBLE || is_integer(type); }

bool has_attribute(int group, int variable, const char* name) {
  return ::nc_inq_attid(group, variable, name, nullptr) == NC_NOERR;
}

/// Adds the fill value of unwritten points.
void add_fill_mode(int group, int id, Variable& variable) {
  int no_fill = 0;
  if (size_of(*variable.dtype) == 1) return;  // bytes have none, by convention
  with_stored_type_of(*variable.dtype, [&](auto value) {
    if (::nc_inq_var_fill(group, id, &no_fill, &value) != NC_NOERR || no_fill != 0) return;
    if constexpr (std::is_arithmetic_v<decltype(value)>) {
      variable.add_fill(static_cast<double>(value));
    }
  });
}

std::optional<DType> dtype_of(nc_type type) {
  switch (type) {
    case NC_FLOAT: return DType::f32;
    case NC_DOUBLE: return DType::f64;
    case NC_BYTE: return DType::i8;
    case NC_UBYTE: return DType::u8;
    case NC_SHORT: return DType::i16;
    case NC_USHORT: return DType::u16;
    case NC_INT: return DType::i32;
    case NC_UINT: return DType::u32;
    case NC_INT64: return DType::i64;
    case NC_UINT64: return DType::u64;
    default: return std::nullopt;
  }
}

/// Empty if contiguous.
std::vector<std::uint64_t> chunk_of(int group, int variable, std::size_t rank) {
  int storage = NC_CONTIGUOUS;
  std::vector<std::size_t> extents(rank);
  const bool is_chunked =
      rank != 0 && ::nc_inq_var_chunking(group, variable, &storage, extents.data()) == NC_NOERR &&
      storage == NC_CHUNKED;
  return is_chunked ? std::vector<std::uint64_t>(extents.begin(), extents.end())
                    : std::vector<std::uint64_t>();
}

}  // namespace

std::string reason_of(int status) {
  const bool is_of_hdf5 =
      status == NC_EHDFERR || status == EACCES;  // EACCES also means that HDF5 could not create
  const std::string reason = is_of_hdf5 ? hdf5::kept_reason() : "";
  return reason.empty() ? ::nc_strerror(status) : reason;
}

void check(int status, const std::string& subject) {
  if (status == NC_NOERR) return;
  throw InputError(subject + ": NetCDF fails: " + reason_of(status));
}

Variable describe(int group, int id, const std::string& prefix) {
  std::array<char, NC_MAX_NAME + 1> name{};
  nc_type type = NC_NAT;
  int rank = 0;
  check(::nc_inq_var(group, id, name.data(), &type, &rank, nullptr, nullptr), prefix);
  Variable variable;
  variable.name = prefix + name.data();
  std::array<char, NC_MAX_NAME + 1> type_name{};
  check(::nc_inq_type(group, type, type_name.data(), nullptr), variable.name);
  variable.type = type_name.data();
  variable.dtype = dtype_of(type);
  std::vector<int> dims(static_cast<std::size_t>(rank));
  check(::nc_inq_vardimid(group, id, dims.data()), variable.name);
  for (const int dim : dims) {
    std::size_t length = 0;
    std::array<char, NC_MAX_NAME + 1> dim_name{};
    check(::nc_inq_dim(group, dim, dim_name.data(), &length), variable.name);
    variable.extents.push_back(length);
    if (rank == 1 && name == dim_name) variable.is_auxiliary = true;
  }
  variable.chunk = chunk_of(group, id, dims.size());
  variable.is_packed = is_integer(type) && (has_attribute(group, id, "scale_factor") ||
                                            has_attribute(group, id, "add_offset"));
  if (variable.dtype) add_fill_mode(group, id, variable);
  apply_conventions(VariableAttributes(group, id), variable);
  return variable;
}

std::string VariableAttributes::text(const char* name) const {
  nc_type type = NC_NAT;
  std::size_t count = 0;
  if (::nc_inq_att(group_, variable_, name, &type, &count) != NC_NOERR) return {};
  if (type == NC_CHAR) {
    std::string text(count, '\0');
    check(::nc_get_att_text(group_, variable_, name, text.data()), name);
    return text.substr(0, text.find('\0'));
  }
  if (type != NC_STRING) return {};
  std::vector<char*> values(count);
  check(::nc_get_att_string(group_, variable_, name, values.data()), name);
  std::string text;
  for (const char* const value : values) {
    if (value != nullptr) text.append(text.empty() ? "" : " ").append(value);
  }
  ::nc_free_string(count, values.data());
  return text;
}

std::vector<double> VariableAttributes::numbers(const char* name) const {
  nc_type type = NC_NAT;
  std::size_t count = 0;
  if (::nc_inq_att(group_, variable_, name, &type, &count) != NC_NOERR || !is_number(type)) {
    return {};
  }
  std::vector<double> values(count);
  check(::nc_get_att_double(group_, variable_, name, values.data()), name);
  return values;
}

}  // namespace cuszi::netcdf

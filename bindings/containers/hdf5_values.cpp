#include "bindings/containers/hdf5_values.hpp"

namespace cuszi::hdf5 {

Values::Values(hid_t type, hid_t space, const Subject& subject)
    : type_(type),
      space_(space),
      count_(static_cast<std::size_t>(check(::H5Sget_simple_extent_npoints(space), subject))),
      value_bytes_(::H5Tget_size(type)),
      bytes_(count_ * value_bytes_) {}

Values::~Values() {
  if (count_ != 0) ::H5Dvlen_reclaim(type_, space_, H5P_DEFAULT, bytes_.data());
}

bool has_variable_length(hid_t type) {
  const H5T_class_t kind = ::H5Tget_class(type);
  if (kind == H5T_VLEN || (kind == H5T_STRING && ::H5Tis_variable_str(type) > 0)) return true;
  if (kind == H5T_ARRAY) {
    const Handle inner(::H5Tget_super(type), ::H5Tclose, "a type");
    return has_variable_length(inner.get());
  }
  if (kind != H5T_COMPOUND) return false;
  for (int i = 0; i < ::H5Tget_nmembers(type); ++i) {
    const Handle inner(::H5Tget_member_type(type, static_cast<unsigned>(i)), ::H5Tclose, "a type");
    if (has_variable_length(inner.get())) return true;
  }
  return false;
}

}  // namespace cuszi::hdf5

#include "bindings/containers/hdf5_attributes.hpp"

#include <vector>

#include "bindings/containers/hdf5_values.hpp"

namespace cuszi::hdf5 {

namespace {

herr_t take_name(hid_t /*object*/, const char* name, const H5A_info_t* /*info*/, void* names) {
  static_cast<std::vector<std::string>*>(names)->emplace_back(name);
  return 0;
}

/// In creation order, if tracked.
std::vector<std::string> attribute_names(hid_t object, const Subject& subject) {
  std::vector<std::string> names;
  hsize_t at = 0;
  if (::H5Aiterate2(object, H5_INDEX_CRT_ORDER, H5_ITER_INC, &at, take_name, &names) >= 0) {
    return names;
  }
  names.clear();
  at = 0;
  check(::H5Aiterate2(object, H5_INDEX_NAME, H5_ITER_INC, &at, take_name, &names), subject);
  return names;
}

void copy_value(hid_t from, hid_t to, hid_t type, hid_t space, const Names& names) {
  Values values(type, space, names.from);
  if (values.count() == 0) return;
  check(::H5Aread(from, type, values.data()), names.from);
  check(::H5Awrite(to, type, values.data()), names.to);
}

void copy_comment(hid_t from, hid_t to, const Names& names) {
  const ssize_t length = check(::H5Oget_comment(from, nullptr, 0), names.from);
  if (length == 0) return;
  std::string comment(static_cast<std::size_t>(length) + 1, '\0');
  check(::H5Oget_comment(from, comment.data(), comment.size()), names.from);
  check(::H5Oset_comment(to, comment.c_str()), names.to);
}

}  // namespace

void copy_attributes(hid_t from, hid_t to, const ReferenceMap& references, const Names& names) {
  copy_comment(from, to, names);
  for (const std::string& name : attribute_names(from, names.from)) {
    const Handle source(::H5Aopen(from, name.c_str(), H5P_DEFAULT), ::H5Aclose, names.from);
    const Handle stored(::H5Aget_type(source.get()), ::H5Tclose, names.from);
    const Handle type = references.type_in_copy(stored.get());
    const Handle space(::H5Aget_space(source.get()), ::H5Sclose, names.from);
    const Handle creation(::H5Aget_create_plist(source.get()), ::H5Pclose, names.from);
    const Handle copy(
        ::H5Acreate2(to, name.c_str(), type.get(), space.get(), creation.get(), H5P_DEFAULT),
        ::H5Aclose, names.to);
    if (!holds_references(type.get())) {
      copy_value(source.get(), copy.get(), stored.get(), space.get(), names);
    }
  }
}

void translate_attributes(hid_t from, hid_t to, const ReferenceMap& references,
                          const Names& names) {
  for (const std::string& name : attribute_names(from, names.from)) {
    const Handle source(::H5Aopen(from, name.c_str(), H5P_DEFAULT), ::H5Aclose, names.from);
    const Handle type(::H5Aget_type(source.get()), ::H5Tclose, names.from);
    if (!holds_references(type.get())) continue;
    const Handle copy(::H5Aopen(to, name.c_str(), H5P_DEFAULT), ::H5Aclose, names.to);
    references.translate_attribute(source.get(), copy.get());
  }
}

}  // namespace cuszi::hdf5

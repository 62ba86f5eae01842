#include "bindings/containers/hdf5_references.hpp"

#include <cstddef>
#include <cstring>
#include <vector>

#include "bindings/containers/hdf5_handle.hpp"

namespace cuszi::hdf5 {

namespace {

const Subject references("references");

}  // namespace

bool holds_references(hid_t type) { return ::H5Tdetect_class(type, H5T_REFERENCE) > 0; }

const std::string* ReferenceMap::path_of(haddr_t object) const {
  const auto found = paths_.find(object);
  return found == paths_.end() ? nullptr : &found->second;
}

Handle ReferenceMap::type_in_copy(hid_t type) const {
  if (::H5Tcommitted(type) > 0) {
    H5O_info_t info{};
    check(::H5Oget_info2(type, &info, H5O_INFO_BASIC), references);
    if (const std::string* const path = path_of(info.addr)) {
      return {::H5Topen2(to_, path->c_str(), H5P_DEFAULT), ::H5Tclose, references};
    }
  }
  return {::H5Tcopy(type), ::H5Tclose, references};
}

void ReferenceMap::translate_attribute(hid_t from, hid_t to) const {
  const Handle type(::H5Aget_type(from), ::H5Tclose, references);
  const Handle space(::H5Aget_space(from), ::H5Sclose, references);
  Values values(type.get(), space.get(), references);
  check(::H5Aread(from, type.get(), values.data()), references);
  for (std::size_t i = 0; i < values.count(); ++i) translate(type.get(), values.at(i));
  check(::H5Awrite(to, type.get(), values.data()), Subject(references.name, true));
}

void ReferenceMap::translate_dataset(hid_t from, hid_t to) const {
  const Handle type(::H5Dget_type(from), ::H5Tclose, references);
  const Handle space(::H5Dget_space(from), ::H5Sclose, references);
  Values values(type.get(), space.get(), references);
  check(::H5Dread(from, type.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), references);
  for (std::size_t i = 0; i < values.count(); ++i) translate(type.get(), values.at(i));
  check(::H5Dwrite(to, type.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()),
        Subject(references.name, true));
}

void ReferenceMap::translate(hid_t type, void* value) const {
  if (!holds_references(type)) return;
  const H5T_class_t kind = ::H5Tget_class(type);
  auto* const bytes = static_cast<std::byte*>(value);
  if (kind == H5T_REFERENCE) {
    translate_reference(type, value);
  } else if (kind == H5T_COMPOUND) {
    for (int i = 0; i < ::H5Tget_nmembers(type); ++i) {
      const auto member = static_cast<unsigned>(i);
      const Handle inner(::H5Tget_member_type(type, member), ::H5Tclose, references);
      translate(inner.get(), bytes + ::H5Tget_member_offset(type, member));
    }
  } else if (kind == H5T_VLEN || kind == H5T_ARRAY) {
    const Handle inner(::H5Tget_super(type), ::H5Tclose, references);
    const std::size_t size = ::H5Tget_size(inner.get());
    hvl_t list{::H5Tget_size(type) / size, value};
    if (kind == H5T_VLEN) std::memcpy(&list, value, sizeof list);
    for (std::size_t i = 0; i < list.len; ++i) {
      translate(inner.get(), static_cast<std::byte*>(list.p) + i * size);
    }
  }
}

/// Null if no path is known.
void ReferenceMap::translate_reference(hid_t type, void* value) const {
  const H5R_type_t kind = ::H5Tequal(type, H5T_STD_REF_OBJ) > 0 ? H5R_OBJECT : H5R_DATASET_REGION;
  const std::vector<std::byte> nothing(::H5Tget_size(type));
  if (std::memcmp(value, nothing.data(), nothing.size()) == 0) return;
  const hid_t opened = ::H5Rdereference2(from_, H5P_DEFAULT, kind, value);
  const std::string* path = nullptr;
  if (opened >= 0) {
    const Handle object(opened, ::H5Oclose, references);
    H5O_info_t info{};
    check(::H5Oget_info2(opened, &info, H5O_INFO_BASIC), references);
    path = path_of(info.addr);
  }
  if (path == nullptr) {
    std::memset(value, 0, nothing.size());
    return;
  }
  const Handle region = kind == H5R_OBJECT
                            ? Handle()
                            : Handle(::H5Rget_region(from_, kind, value), ::H5Sclose, references);
  check(::H5Rcreate(value, to_, path->c_str(), kind, region.get()), Subject(references.name, true));
}

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

#pragma once

#include <map>
#include <string>

#include "bindings/containers/hdf5_handle.hpp"

namespace cuszi::hdf5 {

bool holds_references(hid_t type);

/// Maps references of a file to its copy, by path.
class ReferenceMap {
 public:
  ReferenceMap(hid_t from, hid_t to) : from_(from), to_(to) {}

  void add(haddr_t object, const std::string& path) { paths_.emplace(object, path); }

  /// The object's path in the copy; null if not copied yet.
  const std::string* path_of(haddr_t object) const;

  /// The copy's named type, or an unnamed one.
  Handle type_in_copy(hid_t type) const;

  void translate_attribute(hid_t from, hid_t to) const;

  void translate_dataset(hid_t from, hid_t to) const;

 private:
  void translate(hid_t type, void* value) const;
  void translate_reference(hid_t type, void* value) const;

  hid_t from_;
  hid_t to_;
  std::map<haddr_t, std::string> paths_;
};

/// Copies attributes, in order, and the comment; references need translate_attributes().
void copy_attributes(hid_t from, hid_t to, const ReferenceMap& references, const Names& names);

/// Redirects references to the file of `to`.
void translate_attributes(hid_t from, hid_t to, const ReferenceMap& references, const Names& names);

}  // namespace cuszi::hdf5

#pragma once

#include <map>
#include <string>

#include "bindings/containers/hdf5_handle.hpp"

namespace cuszi::hdf5 {

/// True if values of a type are references to objects, or hold some.
bool holds_references(hid_t type);

/// Turns references of a file into those of its copy, whose objects have the same paths.
class ReferenceMap {
 public:
  ReferenceMap(hid_t from, hid_t to) : from_(from), to_(to) {}

  /// An object of the file is at this path in the copy.
  void add(haddr_t object, const std::string& path) { paths_.emplace(object, path); }

  /// The object's path in the copy; none if the copy has no such object yet.
  const std::string* path_of(haddr_t object) const;

  /// The type for what is made in the copy from a type of the file: the copy's named type, or an
  /// unnamed one.
  Handle type_in_copy(hid_t type) const;

  /// Translates what an attribute holds to the copy's attribute.
  void translate_attribute(hid_t from, hid_t to) const;

  /// Translates what a dataset holds to the copy's dataset.
  void translate_dataset(hid_t from, hid_t to) const;

 private:
  void translate(hid_t type, void* value) const;
  void translate_reference(hid_t type, void* value) const;

  hid_t from_;
  hid_t to_;
  std::map<haddr_t, std::string> paths_;
};

}  // namespace cuszi::hdf5

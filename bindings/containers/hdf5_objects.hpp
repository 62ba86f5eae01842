#pragma once

#include <map>
#include <string>
#include <vector>

#include "bindings/containers/hdf5_output.hpp"
#include "bindings/containers/hdf5_references.hpp"
#include "codec/files/container.hpp"

namespace cuszi::hdf5 {

struct LinkPlace {
  hid_t group;
  const char* name;
  hid_t properties;  ///< of the link
};

/// Creates a dataset like `from` with cuszi's filter only, without values and attributes.
Handle create_filtered(hid_t from, const LinkPlace& to, const FilteredVariable& filtered,
                       const ReferenceMap& references, const Subject& subject);

/// H5Ocopy() of HDF5 1.10 leaves a variable-length fill value in the old file.
bool has_distant_fill(hid_t dataset, const Subject& subject);

/// Copies a dataset through memory, without attributes.
Handle copy_by_values(hid_t from, const LinkPlace& to, const ReferenceMap& references,
                      const Subject& subject);

/// Copies values by whole chunks.
void copy_values(Container& container, const FilteredVariable& filtered, hid_t to,
                 const Subject& subject, const CopyLook& look);

/// Sets creation properties like those of `group`, for a group or a file's root. Its own list has
/// link addresses, which HDF5 1.10 would follow in the other file.
void create_like(hid_t group, hid_t properties, const Subject& subject);

/// Copies objects and links, filtered datasets through their values. Paths, order, sharing and
/// references stay; later objects share named types.
class ObjectCopier {
 public:
  ObjectCopier(Container& container, hid_t from, const OutputFile& to, Names names,
               const std::vector<FilteredVariable>& filtered, const CopyLook& look);

  void run();

 private:
  void copy_group(hid_t from, hid_t to, const std::string& path);
  void copy_link(hid_t from, hid_t to, const std::string& name, const std::string& path);
  void copy_soft_link(hid_t from, hid_t to, const std::string& name, std::size_t size);
  void copy_external_link(hid_t from, hid_t to, const std::string& name, std::size_t size);
  void copy_object(hid_t from, hid_t to, const std::string& name, const std::string& path);
  bool copy_dataset(hid_t from, const LinkPlace& to, haddr_t address);
  void translate_references(const std::string& path);

  Container& container_;
  hid_t from_;
  const OutputFile& to_;
  Names names_;
  const Subject& source_;
  const Subject& output_;
  std::map<haddr_t, const FilteredVariable*> filtered_;
  const CopyLook& look_;
  ReferenceMap references_;
  Handle link_properties_;
  Handle copy_properties_;
  std::vector<std::string> paths_;  ///< of all objects
};

}  // namespace cuszi::hdf5

#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "bindings/containers/hdf5_dataset.hpp"
#include "bindings/containers/hdf5_output.hpp"
#include "bindings/containers/hdf5_references.hpp"
#include "codec/files/container.hpp"

namespace cuszi::hdf5 {

/// Makes a property list for creating groups, or files for the sake of their root, one that creates
/// groups like `group`. A group's own list also has where its links lie in its file, and HDF5 1.10
/// would look for them there in another file.
void create_like(hid_t group, hid_t properties, const Subject& subject);

/// Copies all objects and links of a file, those to be filtered by way of their values, others as
/// they are. Objects keep their paths, their order and what they share; references lead to the
/// copies. Named types are shared by what comes behind them.
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

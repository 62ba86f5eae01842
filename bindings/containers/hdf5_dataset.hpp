#pragma once

#include <functional>

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

}  // namespace cuszi::hdf5

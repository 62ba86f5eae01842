#pragma once

#include <functional>

#include "bindings/containers/hdf5_references.hpp"
#include "codec/files/container.hpp"

namespace cuszi::hdf5 {

/// Where a dataset is to be.
struct LinkPlace {
  hid_t group;
  const char* name;
  hid_t properties;  ///< of the link
};

/// Creates the dataset `to` with the type, extents, fill value, attributes' order and times of
/// `from`, and with the filter instead of others; without values and attributes. Returns it.
Handle create_filtered(hid_t from, const LinkPlace& to, const FilteredVariable& filtered,
                       const ReferenceMap& references, const Subject& subject);

/// True if H5Ocopy() would leave a dataset's fill value in the old file, as HDF5 1.10 does where
/// that has variable length.
bool has_distant_fill(hid_t dataset, const Subject& subject);

/// Creates the dataset `to` like `from`, with its values, which take their size in memory, and
/// without attributes. Returns it.
Handle copy_by_values(hid_t from, const LinkPlace& to, const ReferenceMap& references,
                      const Subject& subject);

/// Writes the values of a variable of `container` to the dataset `to`, whole chunks at a time.
void copy_values(Container& container, const FilteredVariable& filtered, hid_t to,
                 const Subject& subject, const CopyLook& look);

}  // namespace cuszi::hdf5

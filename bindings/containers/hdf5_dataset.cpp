#include "bindings/containers/blocks.hpp"
#include "bindings/containers/hdf5_handle.hpp"
#include "bindings/containers/hdf5_objects.hpp"
#include "core/base/growing_memory.hpp"

namespace cuszi::hdf5 {

namespace {

std::vector<std::uint64_t> chunk_of(const Variable& variable) {
  return chunk_in_copy(variable.extents, variable.chunk, size_of(*variable.dtype));
}

}  // namespace

Handle create_filtered(hid_t from, const LinkPlace& to, const FilteredVariable& filtered,
                       const ReferenceMap& references, const Subject& subject) {
  const Handle stored(::H5Dget_type(from), ::H5Tclose, subject);
  const Handle type = references.type_in_copy(stored.get());
  const Handle space(::H5Dget_space(from), ::H5Sclose, subject);
  const Handle properties(::H5Dget_create_plist(from), ::H5Pclose, subject);
  const std::vector<std::uint64_t> extents = chunk_of(filtered.variable);
  const std::vector<hsize_t> chunk(extents.begin(), extents.end());
  const ChunkSettings::Numbers numbers = filter_numbers(filtered);
  check(::H5Premove_filter(properties.get(), H5Z_FILTER_ALL), subject);
  check(::H5Pset_chunk(properties.get(), static_cast<int>(chunk.size()), chunk.data()), subject);
  check(::H5Pset_alloc_time(properties.get(), H5D_ALLOC_TIME_INCR), subject);
  check(::H5Pset_filter(properties.get(), CUSZI_H5_FILTER, H5Z_FLAG_MANDATORY, numbers.size(),
                        numbers.data()),
        subject);
  return {::H5Dcreate2(to.group, to.name, type.get(), space.get(), to.properties, properties.get(),
                       H5P_DEFAULT),
          ::H5Dclose, subject};
}

bool has_distant_fill(hid_t dataset, const Subject& subject) {
  const Handle type(::H5Dget_type(dataset), ::H5Tclose, subject);
  const Handle properties(::H5Dget_create_plist(dataset), ::H5Pclose, subject);
  H5D_fill_value_t defined = H5D_FILL_VALUE_UNDEFINED;
  check(::H5Pfill_value_defined(properties.get(), &defined), subject);
  return defined == H5D_FILL_VALUE_USER_DEFINED && has_variable_length(type.get());
}

Handle copy_by_values(hid_t from, const LinkPlace& to, const ReferenceMap& references,
                      const Subject& subject) {
  const Handle stored(::H5Dget_type(from), ::H5Tclose, subject);
  const Handle type = references.type_in_copy(stored.get());
  const Handle space(::H5Dget_space(from), ::H5Sclose, subject);
  const Handle properties(::H5Dget_create_plist(from), ::H5Pclose, subject);
  Handle copy(::H5Dcreate2(to.group, to.name, type.get(), space.get(), to.properties,
                           properties.get(), H5P_DEFAULT),
              ::H5Dclose, subject);
  Values values(stored.get(), space.get(), subject);
  if (values.count() == 0) return copy;
  check(::H5Dread(from, stored.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), subject);
  check(::H5Dwrite(copy.get(), stored.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()),
        subject);
  return copy;
}

void copy_values(Container& container, const FilteredVariable& filtered, hid_t to,
                 const Subject& subject, const CopyLook& look) {
  const Variable& variable = filtered.variable;
  const ByteCount value_bytes = size_of(*variable.dtype);
  const Handle type = native_type(to, subject);
  Buffer buffer;
  for_each_block(variable.extents, chunk_of(variable), value_bytes, [&](const Block& block) {
    const MutableBytes values = buffer.resize(block.values() * value_bytes);
    container.read(variable, block.first, block.count, values);
    const std::vector<hsize_t> first(block.first.begin(), block.first.end());
    const std::vector<hsize_t> count(block.count.begin(), block.count.end());
    const Handle place(::H5Dget_space(to), ::H5Sclose, subject);
    const Handle memory(::H5Screate_simple(static_cast<int>(count.size()), count.data(), nullptr),
                        ::H5Sclose, subject);
    check(::H5Sselect_hyperslab(place.get(), H5S_SELECT_SET, first.data(), nullptr, count.data(),
                                nullptr),
          subject);
    check(::H5Dwrite(to, type.get(), memory.get(), place.get(), H5P_DEFAULT, values.data()),
          subject);
    look(filtered, values);
  });
}

}  // namespace cuszi::hdf5

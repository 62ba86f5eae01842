#include "bindings/containers/hdf5_container.hpp"

#include <fmt/format.h>

#include "bindings/containers/hdf5_objects.hpp"
#include "core/base/error.hpp"

namespace cuszi::hdf5 {

namespace {

constexpr std::size_t chunk_cache_bytes = 64 << 20;
constexpr std::size_t chunk_cache_slots = 12421;  ///< prime, as HDF5 recommends

herr_t take_name(hid_t /*root*/, const char* name, const H5O_info_t* info, void* names) {
  if (info->type == H5O_TYPE_DATASET) {
    static_cast<std::vector<std::string>*>(names)->emplace_back(name);
  }
  return 0;
}

/// NetCDF-4's dimension without variable.
bool is_dimension_alone(hid_t dataset) {
  return DatasetAttributes(dataset).text("NAME").starts_with(
      "This is a netCDF dimension but not a netCDF variable");
}

/// NetCDF-4's name for a variable that has the name of a dimension, but is no coordinate.
std::string name_beside_dimension(const std::string& name) {
  const std::size_t last = name.rfind('/') + 1;  // 0 without groups
  return name.substr(0, last) + "_nc4_non_coord_" + name.substr(last);
}

/// Like `file` and its root, without user block.
Handle creation_like(hid_t file, const Subject& subject) {
  Handle creation(::H5Fget_create_plist(file), ::H5Pclose, subject);
  const Handle root(::H5Gopen2(file, "/", H5P_DEFAULT), ::H5Gclose, subject);
  create_like(root.get(), creation.get(), subject);
  check(::H5Pset_userblock(creation.get(), 0), subject);
  return creation;
}

/// Keeps an old superblock for older readers.
Handle access_like(hid_t file, const Subject& subject) {
  Handle access(::H5Pcreate(H5P_FILE_ACCESS), ::H5Pclose, subject);
  H5F_info2_t info{};
  check(::H5Fget_info2(file, &info), subject);
  const bool is_newer = info.super.version >= 2;
  ::H5Pset_libver_bounds(access.get(), is_newer ? H5F_LIBVER_V18 : H5F_LIBVER_EARLIEST,
                         H5F_LIBVER_LATEST);
  return access;
}

}  // namespace

Hdf5Container::Hdf5Container(const std::string& path) : path_(path) {
  prepare_library();
  if (::H5Fis_hdf5(path.c_str()) <= 0) throw InputError(path + ": is not an HDF5 file");
  const Handle access(::H5Pcreate(H5P_FILE_ACCESS), ::H5Pclose, path);
  // The default driver resolves links, which deleted files lack.
  if (path.starts_with("/proc/self/fd/")) ::H5Pset_fapl_stdio(access.get());
  file_ = Handle(::H5Fopen(path.c_str(), H5F_ACC_RDONLY, access.get()), ::H5Fclose, path);
}

std::vector<Variable> Hdf5Container::variables() {
  std::vector<std::string> names;
  check(::H5Ovisit(file_.get(), H5_INDEX_NAME, H5_ITER_NATIVE, take_name, &names), path_);
  std::vector<Variable> found;
  std::set<std::string> auxiliary;
  for (const std::string& name : names) {
    const Handle dataset = open_dataset(name);
    if (is_dimension_alone(dataset.get())) continue;
    found.push_back(describe(dataset.get(), name));
    add_auxiliary_names(DatasetAttributes(dataset.get()), auxiliary);
  }
  mark_auxiliary(auxiliary, found);
  return found;
}

std::optional<Variable> Hdf5Container::find(const std::string& name) {
  const std::string plain = name.substr(name.starts_with('/') ? 1 : 0);
  if (plain.empty() || ::H5Oexists_by_name(file_.get(), plain.c_str(), H5P_DEFAULT) <= 0) {
    return std::nullopt;
  }
  const Handle object(::H5Oopen(file_.get(), plain.c_str(), H5P_DEFAULT), ::H5Oclose,
                      subject(plain));
  if (::H5Iget_type(object.get()) != H5I_DATASET) return std::nullopt;
  if (is_dimension_alone(object.get())) return find(name_beside_dimension(plain));
  Variable variable = describe(object.get(), plain);
  H5O_info_t root{};
  H5O_info_t own{};
  check(::H5Oget_info2(file_.get(), &root, H5O_INFO_BASIC), path_);
  check(::H5Oget_info2(object.get(), &own, H5O_INFO_BASIC), subject(plain));
  if (own.fileno != root.fileno) variable.address = 0;  // behind an external link
  return variable;
}

Handle Hdf5Container::open_dataset(const std::string& name) const {
  const Handle access(::H5Pcreate(H5P_DATASET_ACCESS), ::H5Pclose, subject(name));
  ::H5Pset_chunk_cache(access.get(), chunk_cache_slots, chunk_cache_bytes,
                       H5D_CHUNK_CACHE_W0_DEFAULT);
  return {::H5Dopen2(file_.get(), name.c_str(), access.get()), ::H5Dclose, subject(name)};
}

void Hdf5Container::read(const Variable& variable, std::span<const std::uint64_t> first,
                         std::span<const std::uint64_t> count, MutableBytes out) {
  const std::string name = subject(variable.name);
  if (open_name_ != variable.name) {
    open_ = open_dataset(variable.name);
    open_name_ = variable.name;
  }
  const Handle place(::H5Dget_space(open_.get()), ::H5Sclose, name);
  if (!first.empty()) {
    const std::vector<hsize_t> start(first.begin(), first.end());
    const std::vector<hsize_t> counts(count.begin(), count.end());
    check(::H5Sselect_hyperslab(place.get(), H5S_SELECT_SET, start.data(), nullptr, counts.data(),
                                nullptr),
          name);
  }
  const hsize_t values = out.size() / size_of(*variable.dtype);
  const Handle memory(::H5Screate_simple(1, &values, nullptr), ::H5Sclose, name);
  const Handle type = native_type(open_.get(), name);
  check(::H5Dread(open_.get(), type.get(), memory.get(), place.get(), H5P_DEFAULT, out.data()),
        name);
}

void Hdf5Container::copy(const std::string& path, const std::string& name,
                         const std::vector<FilteredVariable>& filtered, const CopyLook& look) {
  const Subject output(name, true);
  const Handle creation = creation_like(file_.get(), path_);
  const Handle access = access_like(file_.get(), output);
  OutputFile to(path, creation.get(), access.get(), output);
  try {
    ObjectCopier(*this, file_.get(), to, {path_, output}, filtered, look).run();
  } catch (const Error&) {
    to.require_written();  // a write error takes precedence
    throw;
  }
  to.close();
}

}  // namespace cuszi::hdf5

// NOLINTNEXTLINE(readability-identifier-naming)
extern "C" __attribute__((visibility("default"))) void cuszi_open_container(
    const std::string& path, std::unique_ptr<cuszi::Container>& opened) {
  opened = std::make_unique<cuszi::hdf5::Hdf5Container>(path);
}

// NOLINTNEXTLINE(readability-identifier-naming)
extern "C" __attribute__((visibility("default"))) void cuszi_container_library(
    std::string& version) {
  version = cuszi::hdf5::library_version();
}

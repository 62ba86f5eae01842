#include "codec/files/container.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include "codec/files/copy_notes.hpp"
#include "core/base/error.hpp"

namespace cuszi {

namespace {

struct Module {
  const char* file;
  const char* library;
};

constexpr Module module_of(Format format) {
  return format == Format::netcdf ? Module{"libcuszi_netcdf.so", "NetCDF"}
                                  : Module{"libcuszi_hdf5.so", "HDF5"};
}

/// Null on failure, see dlerror(). Searches RUNPATH. Never unloads: the library keeps state.
void* symbol_of(const Module& module, const char* name) {
  void* const loaded = ::dlopen(module.file, RTLD_NOW | RTLD_LOCAL);
  return loaded == nullptr ? nullptr : ::dlsym(loaded, name);
}

/// Throws DeviceError.
void* required_symbol(Format format, const char* name, const std::string& path) {
  const Module module = module_of(format);
  void* const symbol = symbol_of(module, name);
  if (symbol != nullptr) return symbol;
  throw DeviceError(
      fmt::format("{}: this cuszi was built without {}, or its module is missing ({})", path,
                  module.library, ::dlerror()));
}

}  // namespace

std::unique_ptr<Container> open_container(Format format, const std::string& path) {
  void* const symbol = required_symbol(format, open_container_symbol, path);
  std::unique_ptr<Container> opened;
  reinterpret_cast<OpenContainer*>(symbol)(path, opened);
  return opened;
}

void write_notes(const std::string& path, const std::string& name, const CopyNotes& notes) {
  void* const symbol = required_symbol(Format::hdf5, write_notes_symbol, name);
  reinterpret_cast<WriteNotes*>(symbol)(path, name, notes);
}

std::optional<std::string> container_library(Format format) {
  void* const symbol = symbol_of(module_of(format), container_library_symbol);
  if (symbol == nullptr) return std::nullopt;
  std::string version;
  reinterpret_cast<ContainerLibrary*>(symbol)(version);
  return version;
}

}  // namespace cuszi

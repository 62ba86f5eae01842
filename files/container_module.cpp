#include "files/container_module.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include "core/error.hpp"

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

}  // namespace

std::unique_ptr<Container> open_container(Format format, const std::string& path) {
  const Module module = module_of(format);
  // Looked for where the program's RUNPATH says. Never unloaded: its library keeps state.
  void* const loaded = ::dlopen(module.file, RTLD_NOW | RTLD_LOCAL);
  void* const symbol = loaded == nullptr ? nullptr : ::dlsym(loaded, open_container_symbol);
  if (symbol == nullptr) {
    throw DeviceError(
        fmt::format("{}: this cuszi was built without {}, or its module is missing ({})", path,
                    module.library, ::dlerror()));
  }
  std::unique_ptr<Container> opened;
  reinterpret_cast<OpenContainer*>(symbol)(path, opened);
  return opened;
}

}  // namespace cuszi

#include "app/cli/version.hpp"

#include <fmt/format.h>

#include "app/commit.hpp"
#include "codec/files/container_module.hpp"
#include "codec/frames/backend_choice.hpp"
#include "core/archive/archive.hpp"
#include "cpu_ref/session/cpu_backend.hpp"

namespace cuszi::app {

std::string version_text() {
  std::string text = "cuszi " CUSZI_VERSION;
  if (!commit.empty()) text += fmt::format(", commit {}", commit);
  text += fmt::format("\narchive format {}\nSIMD {}\n", format_version, cpu::simd_in_use());
  const auto toolkit = cuda_toolkit();
  text += toolkit ? fmt::format("CUDA {}", *toolkit) : "without CUDA";
  const auto add = [&](const char* library, const std::optional<std::string>& version) {
    if (version) text += fmt::format("\n{} {}", library, *version);
  };
  add("HDF5", container_library(Format::hdf5));
  add("NetCDF", container_library(Format::netcdf));
  add("nvCOMP", nvcomp_version());
  return text;
}

}  // namespace cuszi::app

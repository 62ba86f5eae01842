"""Recipe of Spack 1.0 and newer, for a clone of the project:

    spack repo add packaging/spack/spack_repo/cuszi
    spack dev-build cuszi@1.0.0 +cuda cuda_arch=90
"""

from spack_repo.builtin.build_systems.cmake import CMakePackage, generator
from spack_repo.builtin.build_systems.cuda import CudaPackage

from spack.package import *


class Cuszi(CMakePackage, CudaPackage):
    """Error-bounded lossy compression of scientific fields on NVIDIA GPUs and CPUs: a tool, a
    library and a filter for HDF5."""

    license("BSD-3-Clause")

    version("1.0.0")

    variant("fortran", default=True, description="Build the Fortran module")
    variant("hdf5", default=True, description="Build the HDF5 filter")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("fortran", type="build", when="+fortran")
    depends_on("cmake@3.25:", type="build")
    depends_on("ninja", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("cli11@2.2:", type="build")
    depends_on("nlohmann-json@3.11:", type="build")
    depends_on("fmt@9:")
    depends_on("spdlog@1.10:")
    depends_on("xxhash@0.8:")
    depends_on("zstd@1.5:")
    # Its headers: the filter takes HDF5's functions from the library that loads it.
    depends_on("hdf5@1.10:", when="+hdf5")
    depends_on("cuda@12:", when="+cuda")  # for C++20

    generator("ninja")

    def cmake_args(self):
        args = [
            self.define("BUILD_TESTING", False),
            self.define("CUSZI_CUDA", "ON" if self.spec.satisfies("+cuda") else "OFF"),
            self.define("CUSZI_FORTRAN", self.spec.satisfies("+fortran")),
            self.define("CMAKE_DISABLE_FIND_PACKAGE_HDF5", not self.spec.satisfies("+hdf5")),
        ]
        architectures = self.spec.variants["cuda_arch"].value if "+cuda" in self.spec else ("none",)
        if "none" not in architectures:
            args.append(self.define("CMAKE_CUDA_ARCHITECTURES", architectures))
        return args

    def setup_run_environment(self, env):
        if self.spec.satisfies("+hdf5"):
            env.prepend_path("HDF5_PLUGIN_PATH", self.prefix.lib.hdf5.plugins)

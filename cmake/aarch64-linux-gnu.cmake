# Cross-compiles for 64-bit ARM with Debian's compiler; CUSZI_ARM64_ROOT has arm64 libraries.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)

set(CUSZI_ARM64_ROOT "" CACHE PATH "A root of Debian for arm64")
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES CUSZI_ARM64_ROOT)
set(CMAKE_SYSROOT ${CUSZI_ARM64_ROOT})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
# Debian's HDF5 has its own folders, which only the host's compiler wrapper would report.
set(CMAKE_LIBRARY_PATH /usr/lib/aarch64-linux-gnu/hdf5/serial)
set(CMAKE_INCLUDE_PATH /usr/include/hdf5/serial)
# pkg-config must search the root and report paths within it.
set(ENV{PKG_CONFIG_LIBDIR} ${CUSZI_ARM64_ROOT}/usr/lib/aarch64-linux-gnu/pkgconfig:${CUSZI_ARM64_ROOT}/usr/share/pkgconfig)
set(ENV{PKG_CONFIG_SYSROOT_DIR} ${CUSZI_ARM64_ROOT})

set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64 -L ${CUSZI_ARM64_ROOT})

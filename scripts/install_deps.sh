#!/usr/bin/env bash
# Installs missing packages for building cuszi.
set -euo pipefail

usage() {
    cat <<'USAGE'
Usage: scripts/install_deps.sh [--dev] [--no-install]

Installs, through apt-get, the packages needed to build cuszi on Debian 12 or Ubuntu 24.04.

  --dev         also what the tests need: clang with its linker and sanitizer runtime, clang-format, clang-tidy,
                zfp to compare with, the tools of HDF5 and netCDF, NCO, parallel HDF5, gfortran,
                what packages are made with, groff and zsh for the man page and completions,
                Doxygen for the reference of the C API
  --no-install  only report what is missing; exit 1 if anything is
USAGE
}

build_packages=(cmake make ninja-build g++ pkgconf libcli11-dev libfmt-dev libspdlog-dev
    catch2 nlohmann-json3-dev libxxhash-dev libzstd-dev libhdf5-dev libnetcdf-dev python3 python3-venv)
# Pinned: other versions format and warn differently.
dev_packages=(clang lld libclang-rt-dev clang-format-14 clang-tidy-14 libzfp-dev zfp gfortran
    hdf5-tools netcdf-bin nco libhdf5-openmpi-dev dpkg-dev strace groff-base zsh doxygen)

packages=("${build_packages[@]}")
install=yes
for argument in "$@"; do
    case $argument in
        --dev) packages+=("${dev_packages[@]}") ;;
        --no-install) install=no ;;
        -h | --help) usage; exit 0 ;;
        *) echo "install_deps.sh: unknown option $argument; see --help" >&2; exit 1 ;;
    esac
done

if ! command -v dpkg-query >/dev/null; then
    echo "install_deps.sh: this is no Debian or Ubuntu; install by hand: ${packages[*]}" >&2
    exit 1
fi

# dpkg-query reports unknown packages on stderr only.
mapfile -t installed < <(dpkg-query -W -f '${db:Status-Abbrev}${Package}\n' "${packages[@]}" \
    2>/dev/null | sed -n 's/^.i[^ ]* *//p')
missing=()
for package in "${packages[@]}"; do
    if [[ " ${installed[*]} " == *" $package "* ]]; then
        echo "present  $package"
    else
        echo "missing  $package"
        missing+=("$package")
    fi
done

[[ ${#missing[@]} -gt 0 ]] || exit 0
if [[ $install == no ]]; then
    echo "install_deps.sh: ${#missing[@]} missing; run: apt-get install ${missing[*]}" >&2
    exit 1
fi

apt() {
    local as_root=()
    [[ $EUID -eq 0 ]] || as_root=(sudo)
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq "$@"
}
apt update
apt install -y --no-install-recommends "${missing[@]}"
for package in "${missing[@]}"; do
    echo "installed $package"
done

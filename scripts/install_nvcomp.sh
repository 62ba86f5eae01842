#!/usr/bin/env bash
# Installs NVIDIA's nvCOMP for --lossless bitcomp.
set -euo pipefail

requirements=$(dirname "$(realpath "$0")")/requirements/nvcomp.txt
package=$(grep -o '^nvidia[^ ]*' "$requirements")
library=libnvcomp.so.6

usage() {
    cat <<USAGE
Usage: scripts/install_nvcomp.sh [FOLDER]

Downloads the package $package from PyPI and puts $library, with its
license, into FOLDER: ~/.local/lib/cuszi, where cuszi looks, unless another one is given. For any
other folder but /usr/local/lib/cuszi set CUSZI_NVCOMP_LIB to FOLDER/$library. Does nothing if it is
there already. nvCOMP is proprietary software of NVIDIA Corporation.
USAGE
}

case ${1:-} in
    -h | --help) usage; exit 0 ;;
    -*) echo "install_nvcomp.sh: unknown option $1; see --help" >&2; exit 1 ;;
esac
folder=${1:-$HOME/.local/lib/cuszi}

if [[ -e $folder/$library ]]; then
    echo "present  $folder/$library"
    exit 0
fi
if ! python3 -m pip --version >/dev/null 2>&1; then
    echo "install_nvcomp.sh: python3 has no pip; on Debian and Ubuntu: apt-get install python3-pip" >&2
    exit 1
fi

download=$(mktemp -d)
trap 'rm -rf "$download"' EXIT
python3 -m pip download --quiet --disable-pip-version-check --no-deps --only-binary=:all: \
    --require-hashes --dest "$download" -r "$requirements"
python3 -m zipfile -e "$download"/*.whl "$download"
mkdir -p "$folder"
cp "$download"/nvidia/libnvcomp/LICENSE "$folder/nvcomp-LICENSE"
cp "$download"/nvidia/libnvcomp/NOTICE "$folder/nvcomp-NOTICE"
# The rename is atomic.
cp "$download/nvidia/libnvcomp/lib64/$library" "$folder/.$library"
mv "$folder/.$library" "$folder/$library"
echo "installed $folder/$library"

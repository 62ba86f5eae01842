#!/usr/bin/env bash
# Checks that a release is possible, builds its packages, and prints the remaining steps.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

usage() {
    cat <<'USAGE'
Usage: scripts/release.sh [--check] [--out FOLDER]
       scripts/release.sh --address URL

Checks the version, the changelog, the ledger, the tag, the archives of earlier versions and the tables; builds the sdist
and the wheel, the Debian package and an archive of the sources into FOLDER (dist) with their SHA-256; prints the commands
that tag and publish. It publishes nothing itself.

  --check        only say what stands in the way; exit 1 if anything does
  --address URL  only make URL the address of the repository: in CMakeLists.txt, pyproject.toml, CITATION.cff and the
                 recipes of Spack and conda
USAGE
}

check_only=no
new_address=
out=dist
while [[ $# -gt 0 ]]; do
    case $1 in
        --check) check_only=yes ;;
        --out) out=${2?}; shift ;;
        --address) new_address=${2?}; shift ;;
        -h | --help) usage; exit 0 ;;
        *) echo "release.sh: unknown option $1; see --help" >&2; exit 1 ;;
    esac
    shift
done

version=$(sed -n 's/^project(cuszi VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
address=$(sed -n 's/.*HOMEPAGE_URL "\(.*\)".*/\1/p' CMakeLists.txt)

set_line() { # FILE AFTER KEY VALUE: sets KEY, after the line that starts with AFTER
    sed -i -e "/^$3/d" -e "\\|^$2|a\\$3$4" "$1"
}

if [[ -n $new_address ]]; then
    url=${new_address%/}
    sed -i "s|$address|$url|" CMakeLists.txt
    set_line CITATION.cff 'license: ' 'repository-code: ' "$url"
    set_line packaging/conda/recipe.yaml 'about:' '  homepage: ' "$url"
    set_line packaging/spack/spack_repo/cuszi/packages/cuszi/package.py '    license(' '    homepage = ' "\"$url\""
    set_line pyproject.toml '[[]project.urls]' 'Homepage = ' "\"$url\""
    set_line pyproject.toml 'Homepage = ' 'Documentation = ' "\"$url/docs\""
    set_line pyproject.toml 'Documentation = ' 'Changelog = ' "\"$url/blob/main/CHANGELOG.md\""
    set_line pyproject.toml 'Changelog = ' 'Issues = ' "\"$url/issues\""
    exit
fi

failed=0
check() { # WHAT COMMAND...
    if "${@:2}" >/dev/null 2>&1; then
        echo "good     $1"
    else
        echo "not yet  $1"
        failed=1
    fi
}

one_version() { python3 -m unittest discover -s tests/scripts -p test_packaging.py; }
conda_recipe_renders() {
    "$(scripts/python_env.sh scripts/requirements/conda.txt build/conda-env)" -m unittest discover -s tests/scripts -p test_conda.py
}
changelog_has_a_date() { grep -qE "^## ${version//./\\.}, [0-9]{4}-[0-9]{2}-[0-9]{2}$" CHANGELOG.md; }
citation_has_that_date() {
    grep -qxF "## $version, $(sed -n 's/^date-released: //p' CITATION.cff)" CHANGELOG.md
}
tree_is_clean() { [[ -z $(git status --porcelain) ]]; }
tag_is_free() { ! git rev-parse -q --verify "refs/tags/v$version"; }
archives_restore() {
    CUSZI=$PWD/build/default/app/cuszi MAKE_FIELD=$PWD/build/default/test_data/make_field \
        SLOW_DECODER=$PWD/build/default/tests/slow_decoder PYTHONDONTWRITEBYTECODE=1 python3 tests/golden/test_golden.py
}
released_archives_restore() { build/default/tests/compat_tests; }
ledger_is_reviewed() { grep -qF "Reviewed for $version." docs/reference/ledger.md; }
address_is_real() { [[ $address != *.example ]]; }

echo "cuszi $version"
check "one version and one address in CMake, the changelog, CITATION.cff, the header and recipes" one_version
check "the conda recipe renders, for the CPU and for CUDA" conda_recipe_renders
check "CHANGELOG.md has a date: '## $version, YYYY-MM-DD'" changelog_has_a_date
check "CITATION.cff has the same date" citation_has_that_date
check "docs/reference/ledger.md has all versions that wrote wrong archives: 'Reviewed for $version.'" ledger_is_reviewed
check "pages are those of the tables (bench/report.py --check)" python3 bench/report.py --check
check "golden archives restore, and are made again, by build/default" archives_restore
check "test_data/compat restores, and has all that archives can have, by build/default" released_archives_restore
check "nothing is uncommitted" tree_is_clean
check "there is no tag v$version" tag_is_free
check "$address is the address of a repository" address_is_real

cat <<SET

What only a person can set, each in one place:

  the version               CMakeLists.txt; the others of the first check follow it
  the ledger                docs/reference/ledger.md: known defects of archives, and the version it was reviewed for
  the date                  CHANGELOG.md, and date-released in CITATION.cff
  the repository's address  scripts/release.sh --address URL
  HDF5's filter number      CUSZI_H5_FILTER in include/cuszi/cuszi.h, once The HDF Group has given one
                            (packaging/registrations); now $(sed -n 's/^#define CUSZI_H5_FILTER \([0-9]*\).*/\1/p' include/cuszi/cuszi.h)
  accounts                  of PyPI, the forge and signing keys: the project knows none
SET
[[ $check_only == no ]] || exit "$failed"
[[ $failed == 0 ]] || { echo "release.sh: not yet" >&2; exit 1; }

mkdir -p "$out"
scripts/build_wheels.sh --out "$out"
cpack --config build/default/CPackConfig.cmake -B "$out"
rm -rf "$out/_CPack_Packages"
git archive --format=tar.gz --prefix="cuszi-$version/" -o "$out/cuszi-$version-source.tar.gz" HEAD
(cd "$out" && sha256sum -- *"$version"*.whl *"$version"*.deb *"$version"*.tar.gz | tee SHA256SUMS)

cat <<NEXT

Built in $out. What a person does now:

  CUSZI_ALL_CASES=1 CUSZI_PARTIAL_WRITES=300 .ci/run --tidy && ctest --preset default           # on a machine with a GPU: gpu_tests "[gpu]"
  git tag -s v$version -m "cuszi $version"
  git push origin v$version
  python3 -m twine upload $out/cuszi-$version.tar.gz $out/cuszi-$version-*.whl
  gh release create v$version --notes-file <(sed -n '/^## ${version//./\\.},/,/^## /{/^## /d;p}' CHANGELOG.md) $out/*

and, where it is the first release, packaging/registrations; pull requests with the version $version and the SHA-256 of
cuszi-$version-source.tar.gz for Spack and for conda-forge (packaging/conda, whose source is then that archive's address).
NEXT

#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes a release's packages and their checksums in build/packages: the sources of the commit, the Debian package, the
# recipes for Conan and vcpkg, and the recorded runs in full.
#   packaging/build.sh            of the working tree's commit
#   packaging/build.sh --check    verifies the checksums of packages made before
# shellcheck source=scripts/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../scripts/lib.sh"

packages=build/packages
if [ "${1:-}" = --check ]; then
  cd "$packages"
  exec sha256sum --check SHA256SUMS
fi
[ $# -eq 0 ] || die "usage: packaging/build.sh [--check]"

version=$(cmake -P cmake/PrintVersion.cmake 2>&1)
python3 scripts/check_version.py
rm -rf "$packages"
mkdir -p "$packages"
git archive --format=tar.gz --prefix="tilehash-$version/" -o "$packages/tilehash-$version.tar.gz" HEAD
git archive --format=tar.gz --prefix="tilehash-recipes-$version/" -o "$packages/tilehash-recipes-$version.tar.gz" HEAD \
  packaging cmake/TilehashVersion.cmake LICENSE
cmake --preset library >"$packages/cmake.log"
(cd build/library && cpack) >>"$packages/cmake.log"
mv build/library/libtilehash-dev_*.deb "$packages/"
packaging/results_archive.sh "$packages/tilehash-results-$version.tar.gz"
rm "$packages/cmake.log"
(cd "$packages" && sha256sum -- *.tar.gz *.deb >SHA256SUMS)
say "packages of $version: $PWD/$packages"
cat "$packages/SHA256SUMS"

#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes tetrahedral meshes of real models, for `tilehash bench hashgraph/meshes`: of 1, 5, 30, 240 thousand and 1.9 million
# cells. The surfaces are models of the package libcgal-demo, which is unpacked and not installed (it would bring other
# headers of Boost); TetGen, which is installed by apt (with sudo when not root), fills them. Takes two minutes; what is there is
# kept.
#   scripts/meshes.sh [FOLDER]                                  default: build/meshes
#   tilehash bench hashgraph/meshes build/meshes/*.ele
# shellcheck source=scripts/lib.sh
caller=$PWD
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
[ $# -le 1 ] || die "usage: scripts/meshes.sh [FOLDER]"
folder=$PWD/build/meshes
if [ $# -eq 1 ]; then folder=$(cd "$caller" && realpath -m "$1"); fi

# A model, and TetGen's options: a mesh of a piecewise linear complex (p) of some quality (q), cells of at most this volume (a).
meshes=(
  "dragknob -pq"
  "cactus -pq"
  "hand -pq"
  "elephant -pqa0.00000059"
  "armadillo -pqa0.38"
)

# Surfaces as they are: for `tilehash bench coherent/voxels --mesh` and `example_sparse_paint --object`.
surfaces=(armadillo bunny00)

install_tetgen() {
  command -v apt-get >/dev/null || die "no tetgen and no apt-get here; install tetgen by hand"
  local root=()
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || die "no tetgen, not root and no sudo; install tetgen by hand"
    root=(sudo)
  fi
  say "installing tetgen"
  "${root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends --no-remove tetgen \
    >/dev/null || die "apt-get install tetgen failed"
}

# Leaves the models in $work/data/meshes/NAME.off.
unpack_models() {
  say "unpacking the models of the package libcgal-demo"
  (cd "$work" && apt-get download -q libcgal-demo >/dev/null 2>&1) || die "apt-get download libcgal-demo failed"
  dpkg-deb -x "$work"/libcgal-demo_*.deb "$work/package"
  local archive
  archive=$(find "$work/package" -name data.tar.gz)
  [ -n "$archive" ] || die "the package libcgal-demo holds no data.tar.gz"
  tar -xzf "$archive" -C "$work"
}

mkdir -p "$folder"
work=""
trap 'rm -rf "$work"' EXIT
for surface in "${surfaces[@]}"; do
  [ -s "$folder/$surface.off" ] && continue
  if [ -z "$work" ]; then
    work=$(mktemp -d)
    unpack_models
  fi
  cp "$work/data/meshes/$surface.off" "$folder/$surface.off" || die "the package libcgal-demo holds no $surface.off"
done
for mesh in "${meshes[@]}"; do
  read -r model options <<<"$mesh"
  made=$folder/$model.ele
  if [ ! -s "$made" ]; then
    command -v tetgen >/dev/null || install_tetgen
    if [ -z "$work" ]; then
      work=$(mktemp -d)
      unpack_models
    fi
    surface=$work/data/meshes/$model.off
    [ -r "$surface" ] || die "the package libcgal-demo holds no $model.off"
    tetgen "${options}Q" "$surface" >"$work/log" 2>&1 || true # says 0 when it fails, too
    if [ ! -s "$work/data/meshes/$model.1.ele" ]; then
      tail -n 5 "$work/log" >&2
      die "tetgen made no mesh of $model.off"
    fi
    mv "$work/data/meshes/$model.1.ele" "$made" # whole, or not at all
  fi
  say "$made: $(awk '{print $1; exit}' "$made") cells"
done

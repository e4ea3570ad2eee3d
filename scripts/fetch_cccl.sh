#!/usr/bin/env bash
# Fetches CCCL's headers (libcu++, CUB, Thrust) from their Python package into the user's cache, where CMake finds
# them, for machines without a CUDA toolkit.  --check: only says, by its status, whether they are there already.
# shellcheck source=scripts/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

version=13.0.85
target="${XDG_CACHE_HOME:-$HOME/.cache}/tilehash/cccl"

if [ "$(cat "$target/version" 2>/dev/null)" = "$version" ] && [ -e "$target/include/cuda/std/version" ]; then
  exit 0
fi
[ "${1:-}" != --check ] || exit 1

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python=python3
if ! $python -m pip --version >/dev/null 2>&1; then
  $python -m venv "$work/venv" >/dev/null 2>&1 || die "pip not found: install python3-pip or python3-venv"
  python="$work/venv/bin/python3"
fi
$python -m pip download --quiet --disable-pip-version-check --no-deps --only-binary=:all: \
  --dest "$work" "nvidia-cuda-cccl==$version" || die "pip could not download nvidia-cuda-cccl $version"
$python -m zipfile -e "$work"/nvidia_cuda_cccl-*.whl "$work/unpacked"
headers=$(dirname "$(dirname "$(dirname "$(find "$work/unpacked" -path '*/cuda/std/version' | head -n 1)")")")
[ -e "$headers/cuda/std/version" ] || die "the package nvidia-cuda-cccl $version holds no cuda/std/version"

rm -rf "$target"
mkdir -p "$target"
mv "$headers" "$target/include"
echo "$version" >"$target/version"
say "CCCL $version is in $target/include"

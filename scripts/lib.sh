# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# What the scripts share. Sourced, not run; leaves the caller in the repository's root.
set -euo pipefail
export LC_ALL=C.UTF-8 # files and lines come in one order everywhere
cd "$(dirname "${BASH_SOURCE[0]}")/.."

say() { printf '== %s\n' "$*"; }
die() {
  printf 'error: %s\n' "$*" >&2
  exit 1
}

# How many compilers at once: one for each processor, as far as memory goes (nvcc wants about 2 GB), or TILEHASH_JOBS.
jobs() {
  local processors memory
  if [ -n "${TILEHASH_JOBS:-}" ]; then
    echo "$TILEHASH_JOBS"
    return
  fi
  processors=$(nproc)
  memory=$(awk '/^MemAvailable:/ {print int($2 / 2000000)}' /proc/meminfo)
  [ "$memory" -ge 1 ] || memory=1
  echo $((processors < memory ? processors : memory))
}

# Prints the first of these tools that exists: llvm_tool clang-format -> clang-format-16, else another version.
# Formatting differs between versions, so 16 is the project's wherever it can be had.
llvm_tool() {
  local version
  for version in 16 17 18 19 20 21; do
    if command -v "$1-$version" >/dev/null; then
      echo "$1-$version"
      return
    fi
  done
  command -v "$1" >/dev/null || die "$1 not found: run scripts/bootstrap.sh, or install $1-16"
  echo "$1"
}

# The commit that results are labelled with; a copy without .git gets it from TILEHASH_COMMIT.
commit() {
  if [ -n "${TILEHASH_COMMIT:-}" ]; then
    echo "$TILEHASH_COMMIT"
  elif git rev-parse HEAD >/dev/null 2>&1; then
    git describe --always --dirty --abbrev=40 --exclude '*'
  else
    echo unknown
  fi
}

have_gpu() { command -v nvidia-smi >/dev/null && nvidia-smi -L >/dev/null 2>&1; }

find_nvcc() {
  local place
  for place in "${CUDACXX:-}" "$(command -v nvcc || true)" "${CUDA_HOME:-/usr/local/cuda}/bin/nvcc" \
    /usr/local/cuda/bin/nvcc; do
    if [ -n "$place" ] && [ -x "$place" ]; then
      echo "$place"
      return
    fi
  done
  return 1
}

# The GPU's architecture as CMake wants it: 90 for compute capability 9.0.
gpu_architecture() {
  nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | head -n 1 | tr -d '. ' || true
}

# The program that was built last, if any.
built_program() {
  find bin build -maxdepth 3 -path '*bin/tilehash' -executable -printf '%T@ %p\n' 2>/dev/null | sort -rn | sed -n '1s/^[^ ]* //p'
}

# Puts the program where README calls it, bin/tilehash: put_program BUILT.
put_program() {
  [ -x "$1" ] || die "the build left no program $1"
  mkdir -p bin
  ln -sfn "../$1" bin/tilehash
}

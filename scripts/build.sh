#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Configures and builds one preset of CMakePresets.json, and with --test runs its tests.
#   scripts/build.sh PRESET [--test] [CMake options]
# shellcheck source=scripts/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

[ $# -ge 1 ] || die "usage: scripts/build.sh release|debug|cpu|asan|tsan [--test] [-DOPTION=VALUE..]"
preset=$1
shift
run_tests=""
if [ "${1:-}" = --test ]; then
  run_tests=yes
  shift
fi
options=("$@")
if [[ "$preset" =~ ^(cpu|asan|tsan)$ ]]; then
  options+=("-DCMAKE_CXX_COMPILER=$(llvm_tool clang++)")
fi

# ccache learns a source's headers from the compile itself. It would else run the preprocessor first, for a tenth of the time
# of a small test.
export CCACHE_DEPEND=1

log=$(mktemp)
trap 'rm -f "$log"' EXIT
if ! cmake --preset "$preset" "${options[@]}" >"$log" 2>&1; then
  cat "$log" >&2
  die "configuring the preset $preset failed (see above)"
fi
grep -E 'tilehash: ' "$log" || true
# -k 0: one run shows every error.
cmake --build "build/$preset" --parallel "$(jobs)" -- -k 0 || die "building the preset $preset failed (see above)"

if [ -n "$run_tests" ]; then
  # Address-space randomisation of newer kernels is more than ThreadSanitizer's of g++ 12 and clang 16 can take.
  runner=()
  if [ "$preset" = tsan ] && setarch "$(uname -m)" -R true 2>/dev/null; then
    runner=(setarch "$(uname -m)" -R)
  fi
  # On all processors: concurrent builds have usually ended by now.
  "${runner[@]}" ctest --preset "$preset" --parallel "$(TILEHASH_JOBS="" jobs)"
fi

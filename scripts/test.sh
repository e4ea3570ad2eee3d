#!/usr/bin/env bash
# Installs what is missing, builds, and runs every test there is for this machine. ctest's summary has the last word.
#   scripts/test.sh [ctest options]      e.g. scripts/test.sh -R contract
# shellcheck source=scripts/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

scripts/bootstrap.sh

# A build that fails is not the end: the tests build.gcc and sanitize.* repeat it and report it.
broken=""
build() {
  local begin=$SECONDS
  say "building $*"
  if scripts/build.sh "$@"; then
    say "built $1 in $((SECONDS - begin)) s"
  else
    say "building $1 FAILED"
    broken+=" $1"
  fi
}
build release -DTILEHASH_CHECKS=ON -DTILEHASH_WERROR=ON
[ -e build/release/CTestTestfile.cmake ] || die "build/release is not configured, so there is nothing to test"
if [ $# -eq 0 ]; then
  build asan
  build tsan
fi

if ! find_nvcc >/dev/null; then say "no nvcc: CUDA sources are not compiled here"; fi
if ! have_gpu; then say "skipped: no GPU (tests labelled cuda are compiled and shown as skipped)"; fi
if [ -n "$broken" ]; then say "builds that failed:$broken"; fi
exec ctest --test-dir build/release --output-on-failure --no-tests=error --parallel "$(jobs)" "$@"

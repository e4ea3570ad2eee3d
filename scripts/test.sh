#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs what is missing, builds, and runs every test there is for this machine. ctest's summary comes at the end.
#   scripts/test.sh [quick|full|gpu] [ctest options]      e.g. scripts/test.sh full -R contract
# quick (CI) leaves some out to save time, full nothing; gpu is scripts/gpu_check.sh: see CONTRIBUTING.md.
# shellcheck source=scripts/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

tier=quick
case "${1:-}" in
  quick | full)
    tier=$1
    shift
    ;;
  gpu)
    shift
    exec scripts/gpu_check.sh "$@"
    ;;
esac
scripts/bootstrap.sh

# A build that fails is not the end: the tests build.gcc, build.cpu and sanitize.* repeat it and report it.
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
options=("-DTILEHASH_TIER=$tier" -DTILEHASH_CHECKS=ON -DTILEHASH_WERROR=ON -DTILEHASH_INSTANCES=ON)
# Nearly all the time goes to compiling. So the program gets two pairs of types, what the sanitizers run as it is is not built
# twice, and CUDA sources that no GPU will run are compiled to see that they compile.
if have_gpu; then
  options+=(-DTILEHASH_CUDA_COMPILE_ONLY=OFF "-DCMAKE_CUDA_ARCHITECTURES=$(gpu_architecture)")
else
  options+=(-DTILEHASH_CUDA_COMPILE_ONLY=ON)
fi
# A whole run has a build of its own, by clang, for what runs on the CPU; programs that a GPU runs are not among that.
if [ $# -eq 0 ] && [ "$tier" = quick ]; then
  cpu_part=elsewhere
else
  cpu_part=""
fi
# Where nothing of the program runs in release, its kernels are compiled for the widest words alone.
pairs="u32/u32;u64/u64"
if [ "$tier" = full ]; then
  pairs=""
elif [ -n "$cpu_part" ] && ! have_gpu; then
  pairs="u64/u64"
fi
options+=("-DTILEHASH_CLI_PAIRS=$pairs")
build_cpu() {
  local programs=ON
  if have_gpu; then programs=OFF; fi
  build cpu -DTILEHASH_BUILD_{CLI,EXAMPLES}=$programs
}
build release "-DTILEHASH_CPU_PART=$cpu_part" "${options[@]}"
parallel=$(jobs)
if [ -n "$cpu_part" ] && ! have_gpu && [ "$parallel" -gt 1 ]; then
  # ctest starts two other builds at once, runs their tests when they are built, and its own meanwhile. Each takes all processors,
  # or half of what the memory allows: the lines end at different times, and no processor is to wait for the longer one.
  half=$(((parallel + 1) / 2))
  TILEHASH_JOBS=$(awk -v most="$parallel" -v least=$half '/^MemAvailable:/ {
    n = int($2 / 4000000); print n < least ? least : n > most ? most : n }' /proc/meminfo)
  export TILEHASH_JOBS
  say "the tests build.cpu, sanitize.asan and sanitize.tsan are whole builds; ctest shows the output of those that fail"
elif [ $# -eq 0 ]; then
  if [ -n "$cpu_part" ]; then build_cpu; fi
  build asan "-DTILEHASH_TIER=$tier"
  build tsan "-DTILEHASH_TIER=$tier"
fi
[ -e build/release/CTestTestfile.cmake ] || die "build/release is not configured, so there is nothing to test"

if ! find_nvcc >/dev/null; then say "no nvcc: CUDA sources are not compiled here"; fi
if ! have_gpu; then say "skipped: no GPU (tests labelled cuda are compiled and shown as skipped)"; fi
if [ -n "$broken" ]; then say "builds that failed:$broken"; fi
result=0
ctest --test-dir build/release --output-on-failure --no-tests=error --parallel "$parallel" "$@" || result=$?
# Unless scripts/demo.sh has built one for all pairs of types, and optimised.
built=build/release/bin/tilehash
if [ -n "$cpu_part" ] && ! have_gpu; then built=build/cpu/bin/tilehash; fi
if [ -x $built ] && { [ ! -x bin/tilehash ] || [ "$(readlink bin/tilehash)" != ../build/demo/bin/tilehash ]; }; then
  put_program $built
fi
if [ "$(readlink bin/tilehash)" = "../$built" ]; then
  say "program: $PWD/bin/tilehash, for two pairs of types, not optimised and without benchmarks; scripts/demo.sh builds the whole"
elif [ -x bin/tilehash ]; then
  say "program: $PWD/bin/tilehash"
fi
exit $result

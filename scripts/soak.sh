#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Random histories of tables, compared with models after each call, until time is up.
#
#   scripts/soak.sh MINUTES [cpu|cuda] [-j N] [--seed S] [--world NAME] [--most ITEMS]
#
# It configures and builds what it needs, in build/soak-cpu or build/soak-cuda (nothing is downloaded), and runs N processes
# at once: on cpu one for each processor, on cuda three. Each round has a seed of its own, which a process prints to its log
# before the round begins. The last line adds up: rounds, items checked, wrong. Exit code 1 where an answer is wrong, a round
# does not end in 300 s, or a process dies; then the output names the seed.
#
#   scripts/soak.sh 1 cpu --seed S --world NAME      repeats one round (as its log says) in one process
#   build/soak-cpu/bin/soak_cpu --list               the worlds: designs with their types, joins, ids
# shellcheck source=scripts/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

minutes=${1:-}
[[ $minutes =~ ^[0-9]+(\.[0-9]+)?$ ]] || die "how many minutes? scripts/soak.sh MINUTES [cpu|cuda] [-j N] [--seed S] [--world NAME]"
shift
kind=cpu
if [[ ${1:-} =~ ^(cpu|cuda)$ ]]; then
  kind=$1
  shift
fi
processes=""
seed=""
options=()
while [ $# -gt 0 ]; do
  [ $# -ge 2 ] || die "$1 needs a value"
  case "$1" in
    -j) processes=$2 ;;
    --seed) seed=$2 ;;
    --world | --most) options+=("$1" "$2") ;;
    *) die "unknown option $1 (known: -j --seed --world --most)" ;;
  esac
  shift 2
done
if [ -n "$seed" ]; then processes=1; fi
if [ -z "$processes" ]; then
  processes=3
  if [ "$kind" = cpu ]; then processes=$(nproc); fi
fi
[[ $processes =~ ^[1-9][0-9]*$ ]] || die "-j $processes: not a number of processes"

build=build/soak-$kind
program=$build/bin/soak_$kind
configure=(-DCMAKE_BUILD_TYPE=Release -DTILEHASH_BUILD_{CLI,BENCH,EXAMPLES}"=OFF")
if [ "$kind" = cuda ]; then
  have_gpu || die "no GPU here: scripts/soak.sh $minutes cpu"
  configure+=(-DTILEHASH_CUDA=ON "-DCMAKE_CUDA_ARCHITECTURES=$(gpu_architecture)")
else
  configure+=(-DTILEHASH_CUDA=OFF)
fi
if [ -d .vendor/include ]; then configure+=("-DTILEHASH_VENDOR_INCLUDE=$PWD/.vendor/include"); fi
if [ ! -e "$build/CMakeCache.txt" ] && command -v ninja >/dev/null; then configure+=(-G Ninja); fi
say "building soak_$kind"
mkdir -p "$build"
cmake -S . -B "$build" "${configure[@]}" >"$build/configure.log" || die "CMake fails: see $build/configure.log"
cmake --build "$build" --parallel "$(jobs)" --target "soak_$kind"

if [ -n "$seed" ]; then exec "$program" --seed "$seed" "${options[@]}"; fi
say "$processes processes for $minutes minutes on $kind; logs: $build/log.*"
rm -f "$build"/log.*
running=()
for ((i = 0; i < processes; ++i)); do
  "$program" --minutes "$minutes" "${options[@]}" >"$build/log.$i" 2>&1 &
  running+=($!)
done
failed=0
for ((i = 0; i < processes; ++i)); do
  status=0
  wait "${running[$i]}" || status=$?
  if [ $status -ne 0 ]; then
    failed=$((failed + 1))
    echo "process $i ended with $status; its log, $build/log.$i, ends"
    tail -n 6 "$build/log.$i" | sed 's/^/   /'
  fi
done
awk -v failed="$failed" '/ rounds, .* items checked, / {rounds += $1; items += $3; wrong += $6}
  END {printf "%d rounds, %.0f items checked, %d wrong, %d processes failed\n", rounds, items, wrong, failed; exit failed != 0}' "$build"/log.*

#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Records a release on this machine: bench/results/MACHINE/VERSION, a file for each table and figure of the papers, by one
# program of one clean commit. Figures of the same runs share a file, by symbolic links. It goes on after an interruption, and
# never writes into a folder that exists.
#   scripts/record.sh MACHINE [options of `tilehash reproduce`]       h100, h200, xeon, cpu: bench/results/README.md
# shellcheck source=scripts/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

[ $# -ge 1 ] || die "usage: scripts/record.sh MACHINE [options of tilehash reproduce]"
machine=$1
shift
program=${TILEHASH_PROGRAM:-$(built_program)}
[ -n "$program" ] || die "there is no program: scripts/build.sh cpu makes build/cpu/bin/tilehash"
[ -z "$(git status --porcelain)" ] || die "the tree has changes: commit them, so that the results have a commit"
# "tilehash 0.1.0 (40a1402026b6; g++ 12.2.0, Release)"
read -r _ version built _ <<<"$("$program" --version | tr -d '(;')"
[ "$(git rev-parse HEAD)" = "$(git rev-parse "$built" 2>/dev/null || true)" ] || die "$program is of $built, not of $(commit): build it again"
folder=bench/results/$machine/$version
[ ! -e "$folder" ] || die "$folder exists: a release is recorded once on a machine"

work=build/results/$machine-$version-$built
"$program" reproduce all --results "$work" "$@"
mkdir -p "$folder"
cp "$work"/*.json "$folder"
scripts/check_results.py --pack "$folder"/*.json
scripts/check_results.py --share "$folder"/*.json
if ! scripts/check_results.py; then
  rm -r "$folder"
  die "the results are in $work, whole; packaging/results_archive.sh takes that folder"
fi
say "recorded: $folder, $(find "$folder" -type f | wc -l) files"

#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Records a release on this machine: bench/results/MACHINE/VERSION, a file for each table and figure of the papers, by one
# program of one clean commit. Figures of the same runs share a file, by symbolic links. It goes on after an interruption, and
# never writes into a folder that exists.
#   scripts/record.sh MACHINE [options of `tilehash reproduce`]       h100, h200, xeon, cpu: bench/results/README.md
#   scripts/record.sh MACHINE --from FOLDER     the files that `tilehash reproduce all` wrote elsewhere into FOLDER, as
#                                               `scripts/gpu_check.sh papers` does without git; of a commit before this one, or of it
# shellcheck source=scripts/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

[ $# -ge 1 ] || die "usage: scripts/record.sh MACHINE [options of tilehash reproduce | --from FOLDER]"
machine=$1
shift
[ -z "$(git status --porcelain)" ] || die "the tree has changes: commit them, so that the results have a commit"
refuse_recorded() { [ ! -e "$1" ] || die "$1 exists: a release is recorded once on a machine"; }

if [ "${1:-}" = --from ]; then
  { [ $# -eq 2 ] && [ -d "$2" ]; } || die "--from needs a folder that exists, and nothing else"
  work=$2
else
  program=${TILEHASH_PROGRAM:-$(built_program)}
  [ -n "$program" ] || die "there is no program: scripts/build.sh cpu makes build/cpu/bin/tilehash"
  # "tilehash 0.1.0 (40a1402026b6; g++ 12.2.0, Release)"
  read -r _ version built _ <<<"$("$program" --version | tr -d '(;')"
  [ "$(git rev-parse HEAD)" = "$(git rev-parse "$built" 2>/dev/null || true)" ] || die "$program is of $built, not of $(commit): build it again"
  refuse_recorded "bench/results/$machine/$version"
  work=build/results/$machine-$version-$built
  "$program" reproduce all --results "$work" "$@"
fi

origin=$(scripts/check_results.py --origin "$machine" "$work")
read -r version built <<<"${origin%%$'\n'*}"
mapfile -t files < <(sed 1d <<<"$origin")
git merge-base --is-ancestor "$built" HEAD 2>/dev/null || die "$work is of $built, which is no clean commit before $(commit)"
folder=bench/results/$machine/$version
refuse_recorded "$folder"
mkdir -p "$folder"
cp "${files[@]}" "$folder"
scripts/check_results.py --pack "$folder"/*.json
scripts/check_results.py --share "$folder"/*.json
if ! scripts/check_results.py; then
  rm -r "$folder"
  die "the results are in $work, whole; packaging/results_archive.sh takes that folder"
fi
say "recorded: $folder of $built, $(find "$folder" -type f | wc -l) files"

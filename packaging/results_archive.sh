#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Packs all recorded runs, with their single measurements and pictures, into one archive with checksums. bench/results has
# only what the documents cite, packed (scripts/check_results.py).
#   packaging/results_archive.sh FILE.tar.gz [FOLDER...]
# Paths are relative to the root of the repository. The folders of the archive: history/, bench/results as it was in the last
# commit with whole files; packed/, as it was before files that no page needs left; present/, the same folder of the present commit;
# and each FOLDER under its name (whole files of runs since then, as scripts/gpu_check.sh leaves them).
# shellcheck source=scripts/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../scripts/lib.sh"

last_whole=8235d4fe2b01
before_files_left=34d52c26c376
[ $# -ge 1 ] || die "usage: packaging/results_archive.sh FILE.tar.gz [FOLDER...]"
file=$(realpath -m "$1")
shift
for commit in "$last_whole" "$before_files_left"; do
  git cat-file -e "$commit" 2>/dev/null || die "this copy has no commit $commit: git fetch --unshallow"
done

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$(dirname "$file")"
of_commit() { # its bench/results, in a folder of the archive
  mkdir -p "$work/results/$2"
  git archive "$1" bench/results | tar -x -C "$work/results/$2" --strip-components=2
}
of_commit "$last_whole" history
of_commit "$before_files_left" packed
of_commit HEAD present
for folder in "$@"; do
  [ -d "$folder" ] || die "$folder is no folder"
  name=$(basename "$(realpath "$folder")")
  [ ! -e "$work/results/$name" ] || die "two folders have the name $name"
  cp -r "$folder" "$work/results/$name"
done
(cd "$work/results" && find . -type f -print0 | sort -z | xargs -0 sha256sum) >"$work/SHA256SUMS"
mv "$work/SHA256SUMS" "$work/results/SHA256SUMS"
# The same files make the same archive.
date=$(git log -1 --format=%ct HEAD)
tar --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$date" -C "$work" -cf - results | gzip -n9 >"$file"
say "results: $file, $(grep -c . "$work/results/SHA256SUMS") files"

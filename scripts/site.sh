#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the documents as a site, build/site/index.html, with MkDocs from a virtual environment in the user's cache that the
# first call makes; a warning is an error. Where the environment cannot be made for want of a network, it says so and ends
# with 77.
#   scripts/site.sh [--pictures]     --pictures: with the pictures of results, which scripts/plot.sh draws first (a minute), and
#                                    with the report of the papers, which the program writes
# shellcheck source=scripts/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

if [ "${1:-}" = --pictures ]; then
  # A link to results with the title "picture".
  grep -rhoE 'bench/results/\S+\.json "picture"' docs | cut -d'"' -f1 | sort -u | while read -r results; do
    picture="build/pictures/${results%.json}.png"
    mkdir -p "$(dirname "$picture")"
    [ "$picture" -nt "$results" ] || scripts/plot.sh "$results" "$picture" </dev/null
  done
  # The program is TILEHASH_PROGRAM, or the one that was built last.
  program=${TILEHASH_PROGRAM:-$(built_program)}
  [ -n "$program" ] || die "the report needs the program: scripts/build.sh cpu makes build/cpu/bin/tilehash"
  mkdir -p build/pictures
  "$program" report bench/results -o build/pictures/report.html
elif [ $# -gt 0 ]; then
  die "usage: scripts/site.sh [--pictures]"
else
  rm -rf build/pictures
fi

environment="${XDG_CACHE_HOME:-$HOME/.cache}/tilehash/site"
pins=docs/requirements.txt
if ! cmp -s "$pins" "$environment/requirements.txt" || ! "$environment/bin/python3" -c 'import mkdocs' 2>/dev/null; then
  say "making a Python environment for the site in $environment"
  rm -rf "$environment"
  python3 -m venv "$environment" >/dev/null 2>&1 || die "python3 -m venv failed: run scripts/bootstrap.sh, or install python3-venv"
  if ! "$environment/bin/python3" -m pip install --quiet --disable-pip-version-check --requirement "$pins"; then
    say "skipped: pip could not install what $pins names"
    exit 77
  fi
  cp "$pins" "$environment/requirements.txt"
fi
NO_MKDOCS_2_WARNING=1 "$environment/bin/python3" -m mkdocs build --quiet --clean || die "the site has gaps (see above)"
if grep -rlE '<script src="https?:' build/site --include='*.html' | head -3 | grep .; then
  die "these pages load a script from the network"
fi
if command -v doxygen >/dev/null; then
  scripts/docs.sh
  cp -r build/docs/html build/site/reference/api
fi
say "site: $PWD/build/site/index.html"

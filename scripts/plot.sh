#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Draws a plot of the program's figures, with matplotlib from a virtual environment in the user's cache that the first
# call makes. (Not from the distribution: Debian 12's python3-matplotlib brings in Boost 1.74's headers, and apt takes
# those and the tests' Boost 1.81 for each other's enemies.)
#   scripts/plot.sh run demo.json demo.png      what `tilehash run --json` wrote; demo.svg comes beside it
#   scripts/plot.sh run demo.json --terminal    as bars in the terminal; --rank find_hit orders either by an operation
#   scripts/plot.sh size.json size.png          what `tilehash bench ... --json` wrote; its header names the experiment
#   scripts/plot.sh --prepare                   only makes the environment
# shellcheck source=scripts/lib.sh
caller=$PWD
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# Bars in the terminal need no matplotlib.
for argument in "$@"; do
  if [ "$1" = run ] && [ "$argument" = --terminal ]; then
    drawer=$PWD/bench/plots/plot_run.py
    shift
    cd "$caller"
    exec python3 "$drawer" "$@"
  fi
done

environment="${XDG_CACHE_HOME:-$HOME/.cache}/tilehash/plots"
pins=$PWD/bench/plots/requirements.txt

# The copy of the pins says that the environment is whole; the import, that its Python is still there.
if ! cmp -s "$pins" "$environment/requirements.txt" || ! "$environment/bin/python3" -c 'import matplotlib' 2>/dev/null; then
  say "making a Python environment for plots in $environment"
  rm -rf "$environment"
  python3 -m venv "$environment" >/dev/null 2>&1 || die "python3 -m venv failed: run scripts/bootstrap.sh, or install python3-venv"
  "$environment/bin/python3" -m pip install --quiet --disable-pip-version-check --only-binary=:all: \
    --requirement "$pins" || die "pip could not install what bench/plots/requirements.txt names"
  cp "$pins" "$environment/requirements.txt"
fi

drawer=$PWD/bench/plots/plot.py
case "${1:-}" in
  --prepare) exit ;;
  run)
    shift
    drawer=$PWD/bench/plots/plot_run.py
    ;;
  *.json) ;;
  *) die "usage: scripts/plot.sh FIGURES.json PLOT.png, or scripts/plot.sh run FIGURES.json PLOT.png [--rank OP] | --terminal" ;;
esac
cd "$caller" # whose files these are
exec "$environment/bin/python3" "$drawer" "$@"

#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs what is missing to build tilehash on Debian 12 or Ubuntu 24.04: packages by apt (with sudo when not root),
# CCCL's headers where there is no CUDA toolkit, and for the demo what draws its plot. Quick, and silent but for one line, when nothing is missing.
#   scripts/bootstrap.sh          everything: building, testing, checking
#   scripts/bootstrap.sh --demo   what scripts/demo.sh needs
# shellcheck source=scripts/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

installed() { [ "$(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null)" = installed ]; }

# One entry a package; a|b: either, the first that the distribution has.
packages=(
  ca-certificates g++ cmake ninja-build ccache python3 python3-venv bowtie-examples
  libtbb-dev zlib1g-dev libzstd-dev libbwa-dev libcuckoo-dev libcli11-dev libfmt-dev nlohmann-json3-dev
)
case "${1:-}" in
  --demo) ;;
  "")
    packages+=(
      clang-16 libclang-rt-16-dev clang-format-16 clang-tidy-16 codespell shellcheck
      doxygen universal-ctags libgtest-dev librapidcheck-dev libabsl-dev libassimp-dev assimp-testmodels libpng-dev sqlite3
    )
    # Two versions of Boost's headers cannot be installed at once, so one that is here already is kept, though the
    # benchmarks would compare with the map that came with 1.81.
    if installed libboost1.74-dev; then
      packages+=(libboost-context1.74-dev)
    else
      packages+=("libboost-context1.83-dev|libboost-context1.81-dev")
    fi
    ;;
  *) die "unknown argument '$1' (none, or --demo)" ;;
esac

any_installed() {
  local one
  for one in ${1//|/ }; do
    if installed "$one"; then return 0; fi
  done
  return 1
}

missing=()
for entry in "${packages[@]}"; do
  any_installed "$entry" || missing+=("$entry")
done

if [ ${#missing[@]} -gt 0 ]; then
  command -v apt-get >/dev/null || die "no apt-get here; install these by hand: ${missing[*]}"
  root=()
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || die "not root and no sudo; install these by hand: ${missing[*]}"
    root=(sudo)
  fi
  say "installing ${missing[*]%%|*}"
  log=$(mktemp)
  trap 'rm -f "$log"' EXIT
  as_root() { "${root[@]}" env DEBIAN_FRONTEND=noninteractive "$@" >"$log" 2>&1; }
  if ! as_root apt-get update -q; then
    tail -n 5 "$log" >&2
    die "apt-get update failed (its last lines are above)"
  fi
  chosen=()
  for entry in "${missing[@]}"; do
    choice=""
    for one in ${entry//|/ }; do
      if apt-cache show --no-all-versions "$one" >/dev/null 2>&1; then
        choice=$one
        break
      fi
    done
    [ -n "$choice" ] || die "this distribution has no package ${entry//|/ or } (Debian 12 and Ubuntu 24.04 do)"
    chosen+=("$choice")
  done
  # Nothing of the user's is removed for it.
  if ! as_root apt-get install -q -y --no-install-recommends --no-remove "${chosen[@]}"; then
    tail -n 15 "$log" >&2
    die "apt-get install failed (its last lines are above)"
  fi
fi

if [ "${1:-}" = --demo ]; then scripts/plot.sh --prepare; fi
say "all that is needed is installed"

#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the Conan recipe with its test package, with and without oneTBB, by a Conan from a virtual environment in the user's
# cache that the first call makes. Needs a network for that; oneTBB is the system's, as the recipe of Conan's centre would
# compile it. (The Debian package and the vcpkg port: the test install.package.)
# shellcheck source=scripts/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

environment="${XDG_CACHE_HOME:-$HOME/.cache}/tilehash/conan"
conan=$environment/bin/conan
if ! "$conan" --version >/dev/null 2>&1; then
  say "making a Python environment for Conan in $environment"
  rm -rf "$environment"
  python3 -m venv "$environment" >/dev/null 2>&1 || die "python3 -m venv failed: run scripts/bootstrap.sh, or install python3-venv"
  "$environment/bin/python3" -m pip install --quiet --disable-pip-version-check 'conan>=2.4,<3' || die "pip could not install conan"
fi

CONAN_HOME=$(mktemp -d)
export CONAN_HOME
trap 'rm -rf "$CONAN_HOME"' EXIT
"$conan" profile detect >/dev/null 2>&1 || die "conan profile detect failed"
profile=$CONAN_HOME/profiles/tilehash
printf '%s\n' "include(default)" "[platform_requires]" "onetbb/2021.8.0" >"$profile"
# The command that packaging/README.md names, by the default profile.
# shellcheck disable=SC2016 # the backquotes are the README's
read -ra create < <(sed -n 's/^| Conan 2 | `conan \([^`]*\)`.*/\1/p' packaging/README.md)
[ "${create[0]:-}" = create ] || die "packaging/README.md names no conan command"
for threads in True False; do
  say "conan create, threads=$threads"
  log=$CONAN_HOME/log
  if ! "$conan" "${create[@]}" --profile:all "$profile" --no-remote -o "&:threads=$threads" >"$log" 2>&1 ||
    ! grep "an outside project stored and found" "$log"; then
    tail -n 30 "$log" >&2
    die "the Conan recipe failed with threads=$threads (its last lines are above)"
  fi
done

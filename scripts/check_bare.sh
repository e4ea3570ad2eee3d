#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Checks on a bare Debian that scripts/demo.sh and scripts/test.sh bear with each other: in a new root file system, what
# they install is installed in turns, demo, test, demo, test; nothing may be removed, nothing installed twice, and the
# plot must come out each time. For root, takes minutes and a gigabyte or two, and is not part of scripts/test.sh.
#   scripts/check_bare.sh            the installing, and the plot of figures that are in the repository
#   scripts/check_bare.sh --whole    the two scripts themselves, which takes an hour
#   scripts/check_bare.sh --package  the Debian package instead: made there, installed with apt, and used by CMake and
#                                    pkg-config
#   scripts/check_bare.sh --python   the Python package instead: pip install . with the distribution's g++ and Python, then
#                                    the code of its README from outside the sources
# Environment: TILEHASH_SUITE (default bookworm), TILEHASH_MIRROR (default: the distribution's)
# shellcheck source=scripts/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

what=${1:-}
case "$what" in
  "" | --whole | --package | --python) ;;
  *) die "usage: scripts/check_bare.sh [--whole | --package | --python]" ;;
esac
[ "$(id -u)" -eq 0 ] || die "a root file system is made by root"
bare=$PWD/build/bare
suite=${TILEHASH_SUITE:-bookworm}
mirror=${TILEHASH_MIRROR:-}

# In a mount namespace of its own, whose mounts end with it.
if [ -z "${TILEHASH_BARE_UNSHARED:-}" ]; then
  TILEHASH_BARE_UNSHARED=yes exec unshare --mount -- "$0" "$@"
fi

say "making a bare $suite in $bare"
rm -rf --one-file-system "$bare"
mkdir -p build
if command -v mmdebstrap >/dev/null; then
  mmdebstrap --quiet --variant=minbase --include=ca-certificates,apt "$suite" "$bare" ${mirror:+"$mirror"}
elif command -v debootstrap >/dev/null; then
  debootstrap --variant=minbase --include=ca-certificates "$suite" "$bare" ${mirror:+"$mirror"} >/dev/null
else
  die "neither mmdebstrap nor debootstrap is here: apt-get install mmdebstrap"
fi
# The ways of this machine to its packages.
apt-config dump | grep '^Acquire::' >"$bare/etc/apt/apt.conf.d/99machine" || true
for file in /etc/resolv.conf /etc/pip.conf /etc/ssl/certs/ca-certificates.crt; do
  if [ -e "$file" ]; then cp -L "$file" "$bare$file"; fi
done
for folder in proc dev; do mount --rbind "/$folder" "$bare/$folder"; done

# The working tree as it is, without what git ignores.
mkdir "$bare/tilehash"
git ls-files -z -co --exclude-standard | tar --create --null --ignore-failed-read --files-from=- | tar -x -C "$bare/tilehash"

inside() { chroot "$bare" env -u XDG_CACHE_HOME HOME=/root LC_ALL=C.UTF-8 bash -c "cd /tilehash && $1"; }
apt_log=$bare/var/log/apt/history.log
installations() { grep -c "^Start-Date" "$apt_log" 2>/dev/null || true; }

if [ "$what" = --package ]; then
  say "the Debian package"
  inside "apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends g++ cmake \
    ninja-build pkg-config" >"$bare/apt.log" 2>&1 || die "apt-get failed: $bare/apt.log"
  inside "cmake --preset library >/dev/null && cd build/library && cpack" || die "no package was made (see above)"
  inside "apt-get install -q -y --no-install-recommends ./build/library/libtilehash-dev_*.deb" >>"$bare/apt.log" 2>&1 ||
    die "apt-get did not take the package: $bare/apt.log"
  inside "cmake -G Ninja -S tests/install -B /tmp/outside && cmake --build /tmp/outside && /tmp/outside/app" ||
    die "a project did not find or not build against the package (see above)"
  inside "g++ -std=c++20 -O2 tests/install/main.cpp -o /tmp/plain \$(pkg-config --cflags --libs tilehash) && /tmp/plain" ||
    die "a program did not build by pkg-config (see above)"
  say "the package was installed with what it needs, and used; $bare can be deleted"
  exit
fi

if [ "$what" = --python ]; then
  say "the Python package"
  inside "apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends g++ python3-dev \
    python3-venv" >"$bare/apt.log" 2>&1 || die "apt-get failed: $bare/apt.log"
  inside "python3 -m venv /root/venv && cd python && /root/venv/bin/pip install --quiet ." || die "pip install . failed (see above)"
  inside "cp python/tests/test_readme.py /root && rm -r /tilehash/* && cd /root && /root/venv/bin/python -c '
import sys
import numpy, test_readme, tilehash
for name, test in vars(test_readme).items():
    if name.startswith(\"test_\"):
        test()
print(sys.version.split()[0], numpy.__version__, tilehash.__file__)'" || die "the code of the README failed (see above)"
  say "pip installed the package on a bare $suite, and the code of its README ran; $bare can be deleted"
  exit
fi

declare -A steps=(
  [demo]="scripts/bootstrap.sh --demo && scripts/plot.sh run bench/results/h200/run.json demo.png"
  [test]="scripts/bootstrap.sh"
)
if [ "$what" = --whole ]; then steps=([demo]=scripts/demo.sh [test]=scripts/test.sh); fi

for round in first second; do
  before=$(installations)
  for step in demo test; do
    say "$step, the $round time"
    rm -f "$bare/tilehash/demo.png"
    inside "${steps[$step]}" || die "$step failed the $round time (see above)"
    if [ "$step" = demo ] && [ ! -s "$bare/tilehash/demo.png" ]; then die "no plot the $round time"; fi
    if grep -E '^(Remove|Purge|Downgrade):' "$apt_log"; then die "apt removed what the line above names"; fi
  done
  if [ "$round" = second ] && [ "$(installations)" -ne "$before" ]; then
    tail -n 5 "$apt_log" >&2
    die "what was installed already was installed again (see above)"
  fi
done
say "nothing was removed and nothing installed twice; $bare can be deleted"

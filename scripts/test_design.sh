#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What asks questions of one design alone, after a change of its header: built and run in cpu, in asan, and in release what
# stays optimised. (What it shares with others is in the tests of scripts/test.sh.)
#   scripts/test_design.sh horton
# shellcheck source=scripts/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

[ $# -eq 1 ] || die "usage: scripts/test_design.sh DESIGN"
grep -q "^tilehash_test_design($1\$" tests/designs.cmake || die "no design '$1': tests/designs.cmake lists them"
tests="(contract|emulated)_$1(_cpu)?"
for preset in cpu asan release; do
  if [ "$preset" = release ]; then
    options=(-DTILEHASH_TIER=quick -DTILEHASH_CPU_PART=elsewhere)
  else
    options=("-DCMAKE_CXX_COMPILER=$(llvm_tool clang++)")
  fi
  cmake --preset "$preset" "${options[@]}" >/dev/null || die "configuring the preset $preset failed"
  mapfile -t targets < <(ninja -C "build/$preset" -t targets all | sed -nE "s/^($tests): phony\$/\1/p")
  [ ${#targets[@]} -gt 0 ] || continue
  cmake --build "build/$preset" --parallel "$(jobs)" --target "${targets[@]}" || die "building $preset failed (see above)"
  ctest --preset "$preset" --parallel "$(jobs)" -R "^$tests\$"
done

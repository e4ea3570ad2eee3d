#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Is docs/reference/verbs.md what the tables say of themselves?
#   scripts/verbs.sh          compares
#   scripts/verbs.sh --fix    writes it
# shellcheck source=scripts/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

compiler=${CXX:-g++}
command -v "$compiler" >/dev/null || die "$compiler not found: run scripts/bootstrap.sh"
made=build/lint/verbs
mkdir -p $made
rm -rf $made/designs
cmake -D OUTPUT="$PWD/$made" -P apps/tilehash/designs/describe.cmake || die "apps/tilehash/designs.cmake cannot be read (above)"
{
  names=""
  for file in "$made"/designs/*.hpp; do
    name=$(basename "$file" .hpp)
    names+=" X($name)"
    echo "#include \"designs/$name.hpp\""
  done
  echo "#define VERBS_OF_ALL(X)$names"
} >$made/verbs_designs.hpp
# Nothing runs but printf: no optimisation, no threads.
flags=(-std=c++20 -w -DTILEHASH_WITHOUT_TBB -DTILEHASH_ALL_NAMES -Iinclude -Iapps/tilehash "-I$made")
"$compiler" "${flags[@]}" -O0 scripts/verbs.cpp -o $made/verbs || die "scripts/verbs.cpp does not compile (above)"
# A constraint may hold where the verb's body does not compile. By clang, which reads faster. (The tier quick has the contract.)
if [ "${TILEHASH_TIER:-}" != quick ]; then
  clang=$(llvm_tool clang++)
  "$clang" "${flags[@]}" -fsyntax-only -DVERBS_ARE_CALLED scripts/verbs.cpp ||
    die "a verb that a table offers does not compile (above): constrain it in include/tilehash/table/, or mend it"
fi
$made/verbs >$made/verbs.md
if [ "${1:-}" = --fix ]; then
  cp $made/verbs.md docs/reference/verbs.md
else
  diff -u docs/reference/verbs.md $made/verbs.md || die "docs/reference/verbs.md differs from what the tables offer: scripts/verbs.sh --fix"
fi

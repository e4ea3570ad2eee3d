#!/usr/bin/env bash
# Is docs/verbs.md what the tables say of themselves?
#   scripts/verbs.sh          compares
#   scripts/verbs.sh --fix    writes it
# shellcheck source=scripts/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

compiler=${CXX:-g++}
command -v "$compiler" >/dev/null || die "$compiler not found: run scripts/bootstrap.sh"
made=build/lint/verbs
mkdir -p $made
{
  names=""
  for file in apps/tilehash/designs/*.hpp; do
    name=$(basename "$file" .hpp)
    names+=" X($name)"
    echo "#include \"designs/$name.hpp\""
  done
  echo "#define VERBS_OF_ALL(X)$names"
} >$made/verbs_designs.hpp
# Nothing runs but printf: no optimisation, no threads.
"$compiler" -std=c++20 -O0 -DTILEHASH_WITHOUT_TBB -Iinclude -Iapps/tilehash -I$made scripts/verbs.cpp -o $made/verbs ||
  die "scripts/verbs.cpp does not compile (above)"
$made/verbs >$made/verbs.md
if [ "${1:-}" = --fix ]; then
  cp $made/verbs.md docs/verbs.md
else
  diff -u docs/verbs.md $made/verbs.md || die "docs/verbs.md differs from what the tables offer: scripts/verbs.sh --fix"
fi

#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Checks what needs no run: format, tidy, words, spelling, includes, verbs, shell. All of them, or those named.
#   scripts/lint.sh [format|tidy|spelling|words|subjects|version|spdx|includes|names|functions|tuning|quotes|papers|verbs|shell]...
#   scripts/lint.sh fix   formats, quotes and writes docs/reference/verbs.md and docs/reference/verbs/ in place
# shellcheck source=scripts/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# Files of the working tree, tracked or not, that git does not ignore; without git, all outside build/.
files() {
  if git rev-parse --is-inside-work-tree >/dev/null 2>&1; then
    git ls-files -co --exclude-standard
  else
    find . -type f -not -path './build*' -not -path './.git/*' -not -path './.vendor/*' -printf '%P\n'
  fi | sort -u | while read -r file; do if [ -f "$file" ]; then echo "$file"; fi; done
}
sources() { files | grep -E '\.(hpp|cpp|cuh|cu)$' || true; }

check_format() {
  local tool
  tool=$(llvm_tool clang-format)
  sources | xargs --no-run-if-empty "$tool" --style=file --dry-run -Werror ||
    die "format differs: scripts/lint.sh fix ($tool)"
}

fix_format() {
  sources | xargs --no-run-if-empty "$(llvm_tool clang-format)" --style=file -i
  python3 scripts/check_quotes.py --fix
  python3 scripts/reference.py --fix
  python3 scripts/check_spdx.py --fix
  scripts/verbs.sh --fix
}

# Two units (tidy_units.py), of which one includes all of the library.
check_tidy() {
  local tool stamp hash units=()
  tool=$(llvm_tool clang-tidy)
  [ -e build/asan/compile_commands.json ] || scripts/build.sh asan
  mapfile -t units < <(python3 scripts/tidy_units.py build/asan/compile_commands.json)
  [ ${#units[@]} -gt 0 ] || die "no source for clang-tidy in build/asan/compile_commands.json"
  mkdir -p build/lint
  local failed=0 unit
  export -f
  for unit in "${units[@]}"; do
    # Nothing to do when neither the headers, the unit, the checks nor the tool have changed.
    hash=$( (
      sources | grep -E '^(include|apps|tests)/.*\.(hpp|cuh)$' | xargs --no-run-if-empty cat
      cat "$unit" .clang-tidy tests/.clang-tidy
      "$tool" --version
    ) | sha256sum | cut -c1-32)
    stamp="build/lint/$hash"
    if [ -e "$stamp" ]; then continue; fi
    if "$tool" --quiet --warnings-as-errors='*' -p build/asan "$unit" 2> >(grep -vE 'warnings? generated|^Suppressed|^Use -' >&2); then
      touch "$stamp"
    else
      failed=1
    fi
  done
  [ "$failed" -eq 0 ] || die "clang-tidy has complaints (above)"
}

check_spelling() {
  command -v codespell >/dev/null || die "codespell not found: run scripts/bootstrap.sh"
  files | grep -vE '^LICENSE$|^tests/fuzz/corpus/|\.(png|json|svg|gz|ipynb)$' | xargs --no-run-if-empty codespell || die "codespell has complaints (above)"
}

check_words() { python3 scripts/check_prose.py; }

check_version() { python3 scripts/check_version.py; }

check_spdx() { python3 scripts/check_spdx.py; }

# Subjects of at most 72 characters, of the commits since the rule.
check_subjects() {
  local since=7fec2a345ffc long
  git merge-base --is-ancestor "$since" HEAD 2>/dev/null || return 0 # a copy without history, or with a part of it
  long=$(git log --no-merges --format=%s "$since..HEAD" | awk 'length($0) > 72')
  [ -z "$long" ] || die "a commit's subject has more than 72 characters: $long"
}

check_quotes() { python3 scripts/check_quotes.py && python3 scripts/reference.py && python3 scripts/invariants.py --check; }

check_papers() { python3 scripts/check_papers.py && python3 scripts/check_pages.py && python3 scripts/check_results.py && python3 scripts/several_model.py --check; }

check_verbs() { scripts/verbs.sh; }

check_includes() { python3 scripts/check_includes.py; }

check_names() { python3 scripts/check_names.py; }

check_functions() { python3 scripts/check_functions.py; }

check_tuning() { python3 scripts/check_tuning.py; }

check_shell() {
  command -v shellcheck >/dev/null || die "shellcheck not found: run scripts/bootstrap.sh"
  { files | grep -E '\.sh$'; echo .ci/run; } | xargs --no-run-if-empty shellcheck --external-sources
}

[ $# -gt 0 ] || set -- format spelling words subjects version spdx includes names functions tuning quotes papers verbs shell tidy
for what in "$@"; do
  case "$what" in
    format | tidy | spelling | words | subjects | version | spdx | includes | names | functions | tuning | quotes | papers | verbs | shell)
      "check_$what"
      say "$what: nothing to complain about"
      ;;
    fix) fix_format ;;
    *) die "unknown check '$what' (format, tidy, spelling, words, subjects, version, spdx, includes, names, functions, tuning, quotes, papers, verbs, shell, fix)" ;;
  esac
done

#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes the reference of the public headers, build/docs/html, with Doxygen. A public name without a word about it is an
# error.
# shellcheck source=scripts/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

command -v doxygen >/dev/null || die "doxygen not found: run scripts/bootstrap.sh"
# What a user includes, and what it brings along for him to name.
public=(
  include/tilehash/*.hpp include/tilehash/analysis/{factorize,group_by}.hpp include/tilehash/table/*.hpp include/tilehash/engine/*_verbs.hpp
  include/tilehash/core/{arrays,error,join_options,op,options,result}.hpp
  include/tilehash/space/{buffer,cpu,memory_resource}.hpp include/tilehash/space/cuda.cuh
  include/tilehash/engine/{records_view,multi_view}.hpp
)
mkdir -p build/docs
gaps=build/docs/gaps.txt
{ cat docs/Doxyfile && echo "INPUT = ${public[*]}" && echo "WARN_LOGFILE = $gaps"; } | doxygen -
# Type aliases and friends need no words.
if grep -vE '\((typedef|friend)\) of .* is not documented' $gaps; then die "the reference has gaps (see above)"; fi
say "reference: $PWD/build/docs/html/index.html"

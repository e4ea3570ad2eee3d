#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Packs copies of what tilehash's programs and tests are built with, for a machine that has neither the packages nor a
# network: the headers of {fmt}, nlohmann-json, CLI11 and kseq into .vendor/include, GoogleTest's source into
# .vendor/googletest, RapidCheck's headers and library, compiled for this kind of machine, into .vendor/rapidcheck. Git
# ignores .vendor; take it along with the tree. CMake uses it where the packages are missing.
# shellcheck source=scripts/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

rm -rf .vendor
mkdir -p .vendor/include
for header in fmt nlohmann CLI; do
  [ -d "/usr/include/$header" ] || die "/usr/include/$header not found: run scripts/bootstrap.sh first"
  cp -r "/usr/include/$header" .vendor/include/
done
[ -r /usr/include/bwa/kseq.h ] || die "/usr/include/bwa/kseq.h not found: run scripts/bootstrap.sh first"
mkdir .vendor/include/bwa
cp /usr/include/bwa/kseq.h .vendor/include/bwa/
[ -d /usr/src/googletest ] || die "/usr/src/googletest not found: run scripts/bootstrap.sh first"
mkdir .vendor/googletest
cp -rL /usr/src/googletest/. .vendor/googletest/
library=$(find /usr/lib /usr/local/lib -name librapidcheck.a -print -quit)
[ -n "$library" ] || die "librapidcheck.a not found: run scripts/bootstrap.sh first"
mkdir -p .vendor/rapidcheck/include
cp "$library" .vendor/rapidcheck/
cp -r /usr/include/rapidcheck /usr/include/rapidcheck.h .vendor/rapidcheck/include/
say ".vendor is packed ($(du -sh .vendor | cut -f1))"

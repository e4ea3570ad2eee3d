#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs what is missing, builds the program with its benchmarks, bin/tilehash, and runs every design on the 21-mers of the
# E. coli genome. Leaves demo.json and its plot demo.png in the repository's root.
#   scripts/demo.sh [options of `tilehash run`]      given last, so they win
# shellcheck source=scripts/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

scripts/bootstrap.sh --demo

genome=/usr/share/doc/bowtie/examples/genomes/NC_008253.fna.gz
if [ ! -r "$genome" ]; then
  # Container images often leave out /usr/share/doc; the package itself still has the file.
  kept="${XDG_CACHE_HOME:-$HOME/.cache}/tilehash/bowtie-examples"
  if [ ! -r "$kept$genome" ]; then
    say "unpacking the genome from the package bowtie-examples"
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    (cd "$work" && apt-get download -q bowtie-examples >/dev/null) || die "apt-get download bowtie-examples failed"
    mkdir -p "$kept"
    dpkg-deb -x "$work"/bowtie-examples_*.deb "$kept"
  fi
  genome="$kept$genome"
  [ -r "$genome" ] || die "the package bowtie-examples holds no $genome"
fi

options=(-DTILEHASH_CUDA=OFF)
if have_gpu; then
  if find_nvcc >/dev/null; then
    options=(-DTILEHASH_CUDA=ON "-DCMAKE_CUDA_ARCHITECTURES=$(gpu_architecture)")
  else
    say "there is a GPU but no nvcc, so only the CPU's part is built (install the CUDA toolkit, 12.6 or newer)"
  fi
fi

say "building the program"
log=$(mktemp)
trap 'rm -rf "$log" "${work:-}"' EXIT
if ! cmake --preset release -B build/demo -DTILEHASH_BUILD_TESTS=OFF -DTILEHASH_BUILD_BENCH=ON \
  -DTILEHASH_BUILD_EXAMPLES=OFF "${options[@]}" >"$log" 2>&1; then
  cat "$log" >&2
  die "configuring failed (see above)"
fi
cmake --build build/demo --target tilehash_cli --parallel "$(jobs)"
program=bin/tilehash
put_program build/demo/bin/tilehash

say "every design on the 21-mers of E. coli"
"$program" run --design all --space auto --input "fasta:$genome,k=21" --key-bits 64 --value-bits 64 --repeat 3 \
  --probes --json demo.json "$@"

scripts/plot.sh run demo.json demo.png
say "figures: $PWD/demo.json"
say "plot:    $PWD/demo.png"
say "program: $PWD/$program"

#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Ranks of the libraries that users have, from PyPI: MPI (mpich, mpi4py), torch.distributed and Ray.
#   scripts/check_distributed.sh [mpi|python]...     both, or those named
#     mpi       the tests of tables over MPI, with 1 to 4 ranks; needs GoogleTest
#     python    tilehash.distributed by torchrun, mpiexec and actors; 7 GB of disk: torch comes with its CUDA libraries
# Needs the network for the first run. Not part of CI.
# shellcheck source=scripts/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

venv=$PWD/build/python/venv
export PATH="$venv/bin:$PATH" OMP_NUM_THREADS=1

check_mpi() {
  "$venv/bin/pip" install --quiet mpich
  local program=build/several_over_mpi ranks
  mpicxx -std=c++20 -O1 -Wall -Wextra -Werror -DTILEHASH_RANKS_OVER_MPI -DTILEHASH_ALL_NAMES -DTILEHASH_FEW_TYPES=1 \
    -DTILEHASH_HAS_RAPIDCHECK=0 -DTILEHASH_WITHOUT_TBB -Iinclude -Itests tests/contract/several_test.cpp -o "$program" \
    -lgtest -pthread
  for ranks in 1 2 3 4; do
    say "$ranks ranks"
    mpiexec -n "$ranks" "$program"
  done
}

check_python() {
  "$venv/bin/pip" install --quiet mypy pytest hypothesis numpy pandas polars pyarrow duckdb 'dask[dataframe]' distributed \
    mpich mpi4py ray torch
  scripts/python_test.sh -rs test_communicators.py test_dask_frames.py test_distributed.py test_streamed.py
}

[ -e "$venv/bin/python" ] || "${PYTHON:-python3}" -m venv "$venv"
[ $# -gt 0 ] || set -- mpi python
for part; do
  case $part in
    mpi | python) "check_$part" ;;
    *) die "usage: scripts/check_distributed.sh [mpi|python]..." ;;
  esac
done

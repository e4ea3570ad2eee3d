#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Ranks of the libraries that users have, from PyPI: torch.distributed, mpi4py and Ray.
#   scripts/check_distributed.sh     tilehash.distributed over them, by torchrun, mpiexec and actors
# Needs the network for the first run, and 7 GB of disk: torch comes with its CUDA libraries. Not part of CI.
# shellcheck source=scripts/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

venv=$PWD/build/python/venv
[ -e "$venv/bin/python" ] || "${PYTHON:-python3}" -m venv "$venv"
"$venv/bin/pip" install --quiet mypy pytest hypothesis numpy pandas polars pyarrow 'dask[dataframe]' distributed \
  mpich mpi4py ray torch
export PATH="$venv/bin:$PATH" OMP_NUM_THREADS=1
scripts/python_test.sh -rs test_communicators.py test_distributed.py

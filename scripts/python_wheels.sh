#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The Python package's wheels, in build/python/wheels.
#   scripts/python_wheels.sh          tilehash, for CPUs
#   scripts/python_wheels.sh cuda     tilehash-cu13 too, which adds the GPU part; needs nvcc, and 15 minutes of one core.
#                                     CUDA_ARCHITECTURES="90;100" chooses GPUs (default: 80;90)
# PYTHON=python3.12 chooses the interpreter. From 3.12 on one wheel serves all later ones.
# shellcheck source=scripts/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

python=${PYTHON:-python3}
wheels=build/python/wheels
rm -rf "$wheels"
"$python" -m pip wheel --quiet --no-deps --wheel-dir "$wheels" ./python
if [ "${1:-}" = cuda ]; then
  "$python" -m pip wheel --quiet --no-deps --wheel-dir "$wheels" ./python/gpu \
    -C "cmake.define.CMAKE_CUDA_ARCHITECTURES=${CUDA_ARCHITECTURES:-80;90}"
fi
for wheel in "$wheels"/*.whl; do
  size=$(stat -c %s "$wheel")
  echo "$wheel: $((size / 1024)) KiB"
  case $wheel in
    *cu13*) ;;
    *) [ "$size" -lt $((8 << 20)) ] || die "the wheel has over 8 MB" ;;
  esac
done

#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Compiler launcher: where CMake asks nvcc for PTX, it goes on to machine code. The host's half, two thirds of the time, is not
# compiled: in the tiers full and gpu, examples and programs have that.
for argument; do
  shift
  if [ "$argument" = -ptx ]; then argument=-cubin; fi
  set -- "$@" "$argument"
done
exec "$@"

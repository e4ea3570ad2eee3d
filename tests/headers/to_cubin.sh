#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Compiler launcher: where CMake asks nvcc for PTX, it goes on to machine code. The host's half, two thirds of the time, is not
# compiled: the example kernel_view has that.
for argument; do
  shift
  if [ "$argument" = -ptx ]; then argument=-cubin; fi
  set -- "$@" "$argument"
done
exec "$@"

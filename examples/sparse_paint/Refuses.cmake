# SPDX-License-Identifier: Apache-2.0
# cmake -DPROGRAM=example_sparse_paint -P Refuses.cmake
# What the example says to bad input.
cmake_minimum_required(VERSION 3.24)
include(${CMAKE_CURRENT_LIST_DIR}/../Refuses.cmake)

refuses("--side is '32'. it must be a number from 64 to 1048576" --side 32)
refuses("--side is 512. it must be at least the window's" --side 512 --window 1024)
refuses("morton: a grid of 131072 x 131072 points takes keys of 34 bits, but these have 32" --side 131072 --frames 1)
refuses("unknown option brush" brush)
refuses("no_such.off: no OFF file of triangles" --side 1024 --object no_such.off)
refuses("--side is 100. the 40000 triangles need 568" --side 100 --window 10 --brush 2 --object sphere)
refuses("--frames is '0'" --frames 0)
refuses("no_such_folder" --side 512 --window 16 --brush 2 --frames 1 --picture no_such_folder/x.png)

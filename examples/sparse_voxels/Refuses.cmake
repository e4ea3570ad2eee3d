# SPDX-License-Identifier: Apache-2.0
# cmake -DPROGRAM=example_sparse_voxels -P Refuses.cmake
# What the example says to bad input.
cmake_minimum_required(VERSION 3.24)
include(${CMAKE_CURRENT_LIST_DIR}/../Refuses.cmake)

set(folder ${CMAKE_CURRENT_BINARY_DIR}/sparse_voxels_refuses)
file(WRITE ${folder}/points.obj "v 0 0 0\nv 1 0 0\nv 0 1 0\np 1 2 3\n")
file(WRITE ${folder}/triangle.obj "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")

refuses("the mesh has no faces" points.obj)
refuses("none.obj" none.obj)
refuses("give one mesh, or none" triangle.obj triangle.obj)
refuses("row_major: a grid of 2048 x 2048 x 2048 points takes keys of 33 bits, but these have 32" triangle.obj --grid 2048)
refuses("--slices is 'many'" --slices many)
refuses("unknown option --gird" triangle.obj --gird 64)
refuses("no_such_folder" triangle.obj --grid 16 --slices 1 --repeat 1 --prefix no_such_folder/)

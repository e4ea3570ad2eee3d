# SPDX-License-Identifier: Apache-2.0
# cmake -DPROGRAM=example_voxel_boolean -P Refuses.cmake
# What the example says to bad input.
cmake_minimum_required(VERSION 3.24)
include(${CMAKE_CURRENT_LIST_DIR}/../Refuses.cmake)

set(folder ${CMAKE_CURRENT_BINARY_DIR}/voxel_boolean_refuses)
file(WRITE ${folder}/points.obj "v 0 0 0\nv 1 0 0\nv 0 1 0\np 1 2 3\n")
file(WRITE ${folder}/triangle.obj "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")

refuses("the mesh has no faces" points.obj triangle.obj)
refuses("none.obj" triangle.obj none.obj)
refuses("give two meshes" triangle.obj)
refuses("--grid is '2097153'. it must be a number from 8 to 2097152" triangle.obj triangle.obj --grid 2097153)
refuses("--points is 'many'" triangle.obj triangle.obj --points many)
refuses("ask for fewer items" triangle.obj triangle.obj --grid 2097152 --points 10)
refuses("unknown option --gird" triangle.obj triangle.obj --gird 64)
refuses("no_such_folder" triangle.obj triangle.obj --grid 32 --points 100 --frames 1 --picture no_such_folder/x.png)

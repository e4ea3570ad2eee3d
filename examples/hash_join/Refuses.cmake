# SPDX-License-Identifier: Apache-2.0
# cmake -DPROGRAM=example_hash_join -P Refuses.cmake
# What the example says to bad input.
cmake_minimum_required(VERSION 3.24)
include(${CMAKE_CURRENT_LIST_DIR}/../Refuses.cmake)

refuses("--scale is '0'. it must be a number from 0.0001 to 500" --scale 0)
refuses("--scale is '1x'" --scale 1x)
refuses("--scale is 'nan'" --scale nan)
refuses("--seed is '-1'" --seed -1)
refuses("--csv is 'no/such/folder'" --csv no/such/folder)
refuses("--threads needs a value" --threads)
refuses("unknown option --sale" --sale 2)
refuses("unknown option 7" 7)

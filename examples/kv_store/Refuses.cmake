# SPDX-License-Identifier: Apache-2.0
# cmake -DPROGRAM=example_kv_store -P Refuses.cmake
# What the example says to bad input.
cmake_minimum_required(VERSION 3.24)
include(${CMAKE_CURRENT_LIST_DIR}/../Refuses.cmake)

refuses("--records is '0'. it must be a number from 1 to 1000000000" --records 0)
refuses("--batch is '8k'" --batch 8k)
refuses("--threads needs a value" --records 10 --threads)
refuses("unknown option --theads" --theads 2)
refuses("--workloads is 'ABE'" --workloads ABE)
refuses("--space is 'gpu'" --space gpu)

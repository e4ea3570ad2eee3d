// SPDX-License-Identifier: Apache-2.0
// tilehash: hash tables for GPUs and CPUs from one source. This header has everything for the CPU; a .cu file
// also includes <tilehash/space/cuda.cuh>. <tilehash/papers/papers.hpp> has the baselines of the papers.
#pragma once

#include <tilehash/core/layout.hpp>
#include <tilehash/designs/bucketed_cuckoo.hpp>
#include <tilehash/designs/double_hashing.hpp>
#include <tilehash/designs/dynamic_cuckoo.hpp>
#include <tilehash/designs/horton.hpp>
#include <tilehash/designs/linear_probing.hpp>
#include <tilehash/designs/robin_hood.hpp>
#include <tilehash/designs/tiled.hpp>
#include <tilehash/dynamic_map.hpp>
#include <tilehash/engine/subtables.hpp>
#include <tilehash/index.hpp>
#include <tilehash/join.hpp>
#include <tilehash/join_graph.hpp>
#include <tilehash/map.hpp>
#include <tilehash/multimap.hpp>
#include <tilehash/rows.hpp>
#include <tilehash/set.hpp>
#include <tilehash/space/cpu.hpp>

// SPDX-License-Identifier: Apache-2.0
// Precompiled maps and sets of the common types. A unit compiles none of their verbs if it includes this in
// place of <tilehash/map.hpp> and <tilehash/set.hpp>, and its program links CMake's target
// tilehash::instances.
//
//   map<Key, Value, Space>, set<Key, Space>     Key, Value: std::uint32_t or std::uint64_t
//                                               Space: cpu; in .cu files for sm_90 and newer cuda too
//
// Nothing else changes: other tables, for_each(), views and ops except op::sum are compiled where they are
// used. A unit also compiles these maps and sets if its processor flags differ from the library's, or if only
// one of the two has oneTBB.
#pragma once

#include <tilehash/instances/parts.hpp>
#include <tilehash/map.hpp>
#include <tilehash/set.hpp>
#include <tilehash/space/cpu.hpp>
#if defined(__CUDACC__)
#include <tilehash/space/cuda.cuh>
#endif

#define TILEHASH_MAPS(how, Space, Key)                                                              \
  TILEHASH_SET_PARTS(how, Space, tilehash::TILEHASH_ABI::default_design<Key, void, Space>)          \
  TILEHASH_MAP_PARTS(how, Space, tilehash::TILEHASH_ABI::default_design<Key, std::uint32_t, Space>) \
  TILEHASH_MAP_PARTS(how, Space, tilehash::TILEHASH_ABI::default_design<Key, std::uint64_t, Space>)

#if TILEHASH_HAS_INSTANCES
namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
TILEHASH_MAPS(extern template, cpu, std::uint32_t)
TILEHASH_MAPS(extern template, cpu, std::uint64_t)
#if TILEHASH_HAS_CUDA_INSTANCES
TILEHASH_MAPS(extern template, cuda, std::uint32_t)
TILEHASH_MAPS(extern template, cuda, std::uint64_t)
#endif
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash
#endif

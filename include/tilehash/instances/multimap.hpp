// SPDX-License-Identifier: Apache-2.0
// Precompiled multimaps of the common types: see map.hpp in this folder.
#pragma once

#include <tilehash/instances/map.hpp>
#include <tilehash/multimap.hpp>

#define TILEHASH_MULTIMAP_PARTS(how, Space, Key, Value)                                                     \
  how insert_report engine::multi<multi<Key, Value>, Space>::build_arrays(Space&, const Key*, const Value*, \
                                                                          u64, grouping);                   \
  how void engine::multi<multi<Key, Value>, Space>::copy_entries(Space&, Key*, Value*) const;               \
  how detail::found_ranges<u32, Space> engine::multi<multi<Key, Value>, Space>::find_ranges(                \
      Space&, const Key*, u64, u64*, Value*, u64) const;                                                    \
  how void engine::multi<multi<Key, Value>, Space>::copy_values(                                            \
      Space&, std::span<const u64>, const buffer<u32, Space>&, Value*, u64) const;                          \
  how void engine::multi<multi<Key, Value>, Space>::look_up(Space&, const Key*, u64, detail::lookup_sink)   \
      const;                                                                                                \
  how void engine::multi<multi<Key, Value>, Space>::look_up(Space&, const Key*, u64,                        \
                                                            detail::value_sink<Value>) const;
#define TILEHASH_MULTIMAPS(how, Space, Key)               \
  TILEHASH_MULTIMAP_PARTS(how, Space, Key, std::uint32_t) \
  TILEHASH_MULTIMAP_PARTS(how, Space, Key, std::uint64_t)

#if TILEHASH_HAS_INSTANCES
namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
TILEHASH_MULTIMAPS(extern template, cpu, std::uint32_t)
TILEHASH_MULTIMAPS(extern template, cpu, std::uint64_t)
#if TILEHASH_HAS_CUDA_INSTANCES
TILEHASH_MULTIMAPS(extern template, cuda, std::uint32_t)
TILEHASH_MULTIMAPS(extern template, cuda, std::uint64_t)
#endif
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash
#endif

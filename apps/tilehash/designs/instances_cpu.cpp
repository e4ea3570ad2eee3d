// SPDX-License-Identifier: Apache-2.0
// The compiled parts of the program's tables of common types. Those with values as long as their keys are the
// benchmarks' as well, which update them.
#include <tilehash/instances/multimap.hpp>

#define TILEHASH_PROGRAM_TABLES(Key, Other)                                                    \
  TILEHASH_TABLE_PARTS(template, cpu, tilehash::TILEHASH_ABI::default_design<Key, void, cpu>)  \
  TILEHASH_TABLE_PARTS(template, cpu, tilehash::TILEHASH_ABI::default_design<Key, Other, cpu>) \
  TILEHASH_VALUE_PARTS(template, cpu, tilehash::TILEHASH_ABI::default_design<Key, Other, cpu>) \
  TILEHASH_MAP_PARTS(template, cpu, tilehash::TILEHASH_ABI::default_design<Key, Key, cpu>)     \
  TILEHASH_MULTIMAPS(template, cpu, Key)

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
TILEHASH_PROGRAM_TABLES(u32, u64)
TILEHASH_PROGRAM_TABLES(u64, u32)
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash

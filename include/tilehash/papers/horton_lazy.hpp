// SPDX-License-Identifier: Apache-2.0
// Horton tables that put repatriation off: an erase moves items back to their primary buckets once the number of
// erased keys pays for a pass over the table.
//
// Source: A. Breslow et al., Horton Tables, USENIX ATC 2016, section 5.4.1, which leaves it for later.
#pragma once

#include <tilehash/designs/horton.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace papers {

template <class Key, class Value, u32 Slots = 64 / sizeof(typename horton_slot<Key, Value>::word)>
using horton_lazy = horton<Key, Value, Slots, repatriation::lazy>;

static_assert(probe_inserting<horton_lazy<u32, u32>> && erasable<horton_lazy<u32, u32>>);

}  // namespace papers
TILEHASH_END_ABI_NAMESPACE
TILEHASH_PUBLIC_NAMESPACE(papers);
}  // namespace tilehash

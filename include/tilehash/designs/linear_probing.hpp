// SPDX-License-Identifier: Apache-2.0
// Linear probing: the slots after the key's own, one by one.
//
//   hash(k) -> | a | b | c | k | . |        probes: a, b, c, k
//
// Neighbouring probes share cache lines, but runs of taken slots grow together: at load 0.8 a failed lookup
// reads 13 slots on average, at 0.95 over 200 (open_addressing.hpp has the design; thesis Table 3.2).
#pragma once

#include <tilehash/designs/open_addressing.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE

template <class Key, class Value, class Hash = murmur>
using linear_probing = open_addressing<Key, Value, probe::linear, Hash>;

TILEHASH_END_ABI_NAMESPACE
TILEHASH_PUBLIC(linear_probing);
}  // namespace tilehash

// SPDX-License-Identifier: Apache-2.0
// Linear probing: the slots after the key's own, one by one.
//
//   hash(k) -> | a | b | c | k | . |        probes: a, b, c, k
//
// Neighbouring probes share cache lines, but runs of taken slots grow together. At load 0.8 a failed lookup
// reads 13 slots on average, at 0.95 over 200 (open_addressing.hpp has the design; thesis Table 3.2).
#pragma once

#include <tilehash/designs/open_addressing.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE

/// Open addressing in neighbouring slots, for low loads. Keep the load factor below 0.7.
///
/// Each verb takes O(1) expected a key at a fixed load factor. A slot has the bytes of key and value, rounded
/// up to a power of two. Load factor: at most 1 / 1.05. In kernels, verbs of one kind may run concurrently.
/// \tparam Key,Value of at most 16 bytes together; Value may be void.
template <class Key, class Value, class Hash = murmur>
using linear_probing = open_addressing<Key, Value, probe::linear, Hash>;

TILEHASH_END_ABI_NAMESPACE
TILEHASH_PUBLIC(linear_probing);
}  // namespace tilehash

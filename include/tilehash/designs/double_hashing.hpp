// SPDX-License-Identifier: Apache-2.0
// Double hashing: each key jumps by a distance of its own, 1 + k mod 41.
//
//   hash(k) -> | a | . | . | b | . | . | k |        probes: a, b, k  (jump 3)
//
// The shortest sequences of the three schemes: at load 0.8 a failed lookup reads 5 slots on average, at 0.95
// about 21 (thesis Table 3.2). The capacity is prime, so that every jump visits every slot
// (open_addressing.hpp has the design).
#pragma once

#include <tilehash/designs/open_addressing.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE

/// Open addressing by jumps, for low loads and single inserts.
///
/// Each verb takes O(1) expected a key at a fixed load factor. A slot has the bytes of key and value, rounded
/// up to a power of two. Load factor: at most 1 / 1.05. In kernels, verbs of one kind may run concurrently.
/// \tparam Key,Value of at most 16 bytes together; Value may be void.
/// \tparam JumpPrime the number of different jumps.
template <class Key, class Value, class Hash = murmur, u64 JumpPrime = 41>
using double_hashing = open_addressing<Key, Value, probe::double_hash_by<JumpPrime>, Hash>;

TILEHASH_END_ABI_NAMESPACE
TILEHASH_PUBLIC(double_hashing);
}  // namespace tilehash

// SPDX-License-Identifier: Apache-2.0
// Quadratic probing: the slots 1, 4, 9, 16, ... after the key's own.
//
//   hash(k) -> | a | b | . | . | c | . | . | . | . | k |        probes: a, b, c, k
//
// The sequence leaves crowded regions fast; keys of one home slot still share all of it. The capacity is
// prime, so that a sequence visits half of the slots before it repeats (open_addressing.hpp has the design).
#pragma once

#include <tilehash/designs/open_addressing.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace papers {

template <class Key, class Value, class Hash = murmur>
using quadratic_probing = open_addressing<Key, Value, probe::quadratic, Hash>;

}  // namespace papers
TILEHASH_END_ABI_NAMESPACE
TILEHASH_PUBLIC_NAMESPACE(papers);
}  // namespace tilehash

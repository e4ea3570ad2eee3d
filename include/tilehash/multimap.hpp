// SPDX-License-Identifier: Apache-2.0
// multimap<Key, Value, Space>: keeps all values of each key, in contiguous memory.
#pragma once

#include <tilehash/engine/multi.hpp>
#include <tilehash/space/forward.hpp>
#include <tilehash/table.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE

/// A table that keeps all values of repeated keys. See engine/multi_verbs.hpp for the verbs: build, insert, count,
/// retrieve, retrieve_all ... In kernels and on the CPU, the view's values_of(key) returns an array.
template <class Key, class Value, class Space = detail::no_space>
using multimap = table<multi<Key, Value>, Space>;

TILEHASH_END_ABI_NAMESPACE
TILEHASH_PUBLIC(multimap);
}  // namespace tilehash

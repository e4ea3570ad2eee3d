// multimap<Key, Value, Space>: keys that may come more than once; all values of a key are kept, side by side.
#pragma once

#include <tilehash/engine/multi.hpp>
#include <tilehash/space/forward.hpp>
#include <tilehash/table.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE

/// See engine/multi.hpp for the verbs: build, insert, count, retrieve, retrieve_all ..., and the view's
/// values_of(key), an array, in kernels and on the CPU.
template <class Key, class Value, class Space = detail::no_space>
using multimap = table<multi<Key, Value>, Space>;

TILEHASH_END_ABI_NAMESPACE
TILEHASH_PUBLIC(multimap);
}  // namespace tilehash

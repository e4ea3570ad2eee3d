// index<Key, Space>: keys to ids 0, 1, 2, ... and ids to keys, both O(1).
#pragma once

#include <tilehash/engine/records.hpp>
#include <tilehash/space/forward.hpp>
#include <tilehash/table.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE

/// See engine/records.hpp for the verbs: insert_and_find, find_ids, keys_of, and those of a set. Ids stay
/// while keys are added; options.reuse_ids says what becomes of those of erased keys. `Ids` is the design of
/// the table of ids (designs/indexed.hpp).
template <class Key, class Space = detail::no_space, class Ids = tiled<fingerprint_type<Key>, u32>>
using index = table<indexed<Key, void, murmur, Ids>, Space>;

/// The same type. After `using namespace tilehash` the name `index` is ambiguous, because POSIX declares a
/// function index() in the global namespace; write `key_index` or `tilehash::index` there.
template <class Key, class Space = detail::no_space, class Ids = tiled<fingerprint_type<Key>, u32>>
using key_index = index<Key, Space, Ids>;

TILEHASH_END_ABI_NAMESPACE
TILEHASH_PUBLIC(index);
TILEHASH_PUBLIC(key_index);
}  // namespace tilehash

// SPDX-License-Identifier: Apache-2.0
// index<Key, Space>: keys to ids 0, 1, 2, ... and ids to keys, both O(1).
#pragma once

#include <tilehash/engine/records.hpp>
#include <tilehash/space/forward.hpp>
#include <tilehash/table.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE

/// Maps keys to ids and ids to keys. The verbs are those of a set and insert_and_find, find_ids and keys_of
/// (engine/records_verbs.hpp).
///
/// An insert changes no id of a present key. options.reuse_ids selects whether ids of erased keys are reused.
/// \tparam Ids design of the table of ids (designs/indexed.hpp).
template <class Key, class Space = detail::no_space, class Ids = tiled<fingerprint_type<Key>, u32>>
using index = table<indexed<Key, void, murmur, Ids>, Space>;

/// Another name of `index`. After `using namespace tilehash` the name `index` is ambiguous, because POSIX
/// declares a function index() in the global namespace. Write `key_index` or `tilehash::index` there.
template <class Key, class Space = detail::no_space, class Ids = tiled<fingerprint_type<Key>, u32>>
using key_index = index<Key, Space, Ids>;

TILEHASH_END_ABI_NAMESPACE
TILEHASH_PUBLIC(index);
TILEHASH_PUBLIC(key_index);
}  // namespace tilehash

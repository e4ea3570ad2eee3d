// SPDX-License-Identifier: Apache-2.0
// set<Key, Space>: unique keys. The same table as map, with slots that hold no value.
#pragma once

#include <tilehash/map.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE

/// A table of unique keys. See table.hpp for the verbs.
template <class Key, class Space = detail::no_space>
using set = table<default_design<Key, void, Space>, Space>;

TILEHASH_END_ABI_NAMESPACE
TILEHASH_PUBLIC(set);
}  // namespace tilehash

// SPDX-License-Identifier: Apache-2.0
// map<Key, Value, Space>: the default table.
#pragma once

#include <tilehash/core/atomic.hpp>
#include <tilehash/designs/bucketed_cuckoo.hpp>
#include <tilehash/designs/tiled.hpp>
#include <tilehash/engine/records.hpp>
#include <tilehash/space/forward.hpp>
#include <tilehash/table.hpp>

#if TILEHASH_NARROW_GPUS
#include <tilehash/designs/dynamic_cuckoo.hpp>
#include <tilehash/engine/subtables.hpp>
#endif

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE

namespace detail {

template <class Key, class Value, class Space>
struct default_design {
  static constexpr u32 bytes = packed_bytes<Key> + bytes_of<Value>;
  static constexpr bool fits_tiled =
      packed_bytes<Key> <= 8 && bytes_of<Value> <= 8 &&
      sizeof(bits_t<(packed_bytes<Key> <= 4 ? 4 : 8) + bytes_of<Value>>) <= widest_atomic<Space>;
  static constexpr bool fits_word =
      bytes <= 16 && sizeof(bits_t < bytes <= 16 ? bytes : 16 >) <= widest_atomic<Space>;

  static auto choose() {
    if constexpr (fits_tiled)
      return std::type_identity<tiled<Key, Value>>{};
    else if constexpr (fits_word)
      return std::type_identity<bucketed_cuckoo<Key, Value>>{};
#if TILEHASH_NARROW_GPUS
    else if constexpr (widest_atomic<Space> < 16 && packed_bytes<Key> <= 8)
      return std::type_identity<dynamic_cuckoo<Key, Value>>{};
#endif
    else
      return std::type_identity<indexed<Key, Value>>{};
  }
  using type = typename decltype(choose())::type;
};

}  // namespace detail

/// The design of map and set: `tiled` for keys and values of up to 8 bytes, `bucketed_cuckoo` for other items
/// that fit a word of 16 bytes, `indexed` for larger items.
///
/// GPUs before sm_90 have no atomic operations on more than 8 bytes. In code for them, items that need a word
/// of 16 bytes are stored in `dynamic_cuckoo` if their keys have up to 8 bytes. Wider keys need sm_90.
template <class Key, class Value, class Space>
using default_design = typename detail::default_design<Key, Value, Space>::type;

/// A table of unique keys, each with a value. See table.hpp for the verbs.
template <class Key, class Value, class Space = detail::no_space>
using map = table<default_design<Key, Value, Space>, Space>;

TILEHASH_END_ABI_NAMESPACE
TILEHASH_PUBLIC(map);
}  // namespace tilehash

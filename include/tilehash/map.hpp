// map<Key, Value, Space>: the table to take when nothing special is needed.
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

/// What stands behind map and set: `tiled` for keys and values of up to 8 bytes; `bucketed_cuckoo` for others
/// that fit a word of 16; `indexed` for all that are larger. In code for GPUs before sm_90, which change no
/// more than 8 bytes at once, `dynamic_cuckoo` takes pairs that need a word of 16 and have keys of up to 8
/// bytes; wider keys need sm_90.
template <class Key, class Value, class Space>
using default_design = typename detail::default_design<Key, Value, Space>::type;

/// Unique keys with a value each. See table.hpp for the verbs.
template <class Key, class Value, class Space = detail::no_space>
using map = table<default_design<Key, Value, Space>, Space>;

TILEHASH_END_ABI_NAMESPACE
TILEHASH_PUBLIC(map);
}  // namespace tilehash

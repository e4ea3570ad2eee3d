// SPDX-License-Identifier: Apache-2.0
// A slot with a separate value: the key is a word that changes atomically, its value is at the same position
// of another array.
//
//   keys    | k0 k1 k2 k3 ... |     words, as in a set (core/slot.hpp); lookups compare them
//   values  | v0 v1 v2 v3 ... |     of any size; read only where a key was found
//
// So a value is never part of a word. Kernels carry the address of a given value in place of its bits
// (`value_bits`). The lane that inserts the key copies the value from there.
//
// One pattern, `empty`, marks free slots. Without spare bits one key looks like it. The design stores that
// key in a sentinel cell, in which it looks like `stored_sentinel`.
#pragma once

#include <cstring>

#include <tilehash/core/item.hpp>
#include <tilehash/core/slot.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE

template <class Key, class Value>
struct apart_slot : private slot<Key, void> {
  static_assert(detail::checked_value<Value>::is);
  using base = slot<Key, void>;
  using mapped_type = Value;
  using base::decode;
  using base::empty_mark;
  using base::empty_word;
  using base::encode;
  using base::hash_input;
  using base::key_bytes;
  using base::key_of;
  using base::stored_shift;
  using typename base::key_bits;
  using typename base::key_type;
  using typename base::stored_key;
  using typename base::word;
  using value_element = std::conditional_t<std::is_void_v<Value>, char, Value>;
  using value_bits = const value_element*;  // the address of the given value

  static constexpr bool is_set = std::is_void_v<Value>;
  static constexpr u32 value_bytes = detail::bytes_of<Value>;
  static constexpr bool has_sentinel_cell = base::reserves_keys;  // a key looks like the mark
  static constexpr bool reserves_keys = false;                    // sentinel cells are not needed
  static constexpr key_bits stored_sentinel = 0;

  // An in-flight item: its key's word, and the address of its value.
  struct carried {
    word key;
    value_bits value;
  };
  TILEHASH_FN static constexpr carried pack(key_bits k, value_bits v) { return {k, v}; }
  TILEHASH_FN static constexpr word written_over(word /*old*/, key_bits k, value_bits /*v*/) { return k; }
  TILEHASH_FN static constexpr bool is_free(word w) { return w == empty_word; }
  TILEHASH_FN static constexpr bool is_reserved(key_bits /*k*/) { return false; }
  // Does this key look like the mark of free slots?
  TILEHASH_FN static constexpr bool is_sentinel(key_bits k) { return has_sentinel_cell && k == empty_mark; }
};

namespace detail {

// The source of items whose values are in memory that this kernel does not change.
template <class Key, class Value>
struct array_source<apart_slot<Key, Value>> {
  using slot_type = apart_slot<Key, Value>;
  const Key* keys;
  const Value* values;  // null in a set

  TILEHASH_FN item<slot_type> operator()(u64 i) const {
    item<slot_type> x{query<slot_type>(keys[i]), nullptr, true};
    if constexpr (!slot_type::is_set) x.value = values + i;
    return x;
  }
};

// Copies a value that other threads of this kernel may have written. The accesses are volatile on a GPU,
// whose L1 would not show those writes.
template <class Value>
TILEHASH_FN void copy_value(Value* to, const Value* from) {
#if defined(__CUDA_ARCH__)
  constexpr u32 unit = alignof(Value) % 8 == 0 && sizeof(Value) % 8 == 0   ? 8
                       : alignof(Value) % 4 == 0 && sizeof(Value) % 4 == 0 ? 4
                       : alignof(Value) % 2 == 0 && sizeof(Value) % 2 == 0 ? 2
                                                                           : 1;
  using part =
      std::conditional_t<unit == 8, unsigned long long,
                         std::conditional_t<unit == 4, unsigned int,
                                            std::conditional_t<unit == 2, unsigned short, unsigned char>>>;
  const auto in = reinterpret_cast<const volatile part*>(from);
  const auto out = reinterpret_cast<volatile part*>(to);
  for (u32 i = 0; i < sizeof(Value) / unit; ++i) out[i] = in[i];
#else
  std::memcpy(static_cast<void*>(to), from, sizeof(Value));
#endif
}

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash

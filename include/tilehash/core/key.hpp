// SPDX-License-Identifier: Apache-2.0
// Equality and hashes of keys of any size.
#pragma once

#include <cstring>

#include <tilehash/core/hash.hpp>
#include <tilehash/core/key_members.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

// Writes the packed bytes of a key of any size; returns their end.
template <class Key>
TILEHASH_FN unsigned char* pack_key(const Key& key, unsigned char* to) {
  if constexpr (by_members<Key>) {
    keys::members_of<Key>::for_each(key, [&](const auto& member) { to = pack_key(member, to); });
    return to;
  } else {
    const Key same = canonical(key);
    memcpy(to, &same, sizeof same);
    return to + sizeof same;
  }
}

// Calls use(bytes, ...) with the packed bytes of the keys. Keys that are not compared by members are not
// copied.
template <class Key, class Use, class... Keys>
TILEHASH_FN auto with_packed(const Use& use, const Keys&... keys) {
  if constexpr (by_members<Key>) {
    struct packed {
      unsigned char bytes[packed_bytes<Key>];
      TILEHASH_FN explicit packed(const Key& key) { pack_key(key, bytes); }
    };
    return use(static_cast<const unsigned char*>(packed(keys).bytes)...);
  } else {
    return use(static_cast<const unsigned char*>(__builtin_assume_aligned(&keys, alignof(Key)))...);
  }
}

// Eight of `Size` bytes from `at` on, or fewer at the end.
template <u32 Size>
TILEHASH_FN u64 part_of(const unsigned char* bytes, u32 at) {
  u64 part = 0;
  memcpy(&part, bytes + at, Size - at < 8 ? Size - at : 8);
  return part;
}

// Two keys are equal when their packed bytes are equal.
template <key_like Key>
TILEHASH_FN bool same_key(const Key& a, const Key& b) {
  if constexpr (packed_bytes<Key> <= 16) {
    using bits = bits_t<packed_bytes<Key>>;
    return key_to_bits<bits>(a) == key_to_bits<bits>(b);
  } else {
    const auto compare = [](const unsigned char* x, const unsigned char* y) {
      constexpr u32 size = packed_bytes<Key>;
      u64 differ = 0;
      for (u32 at = 0; at < size; at += 8) differ |= part_of<size>(x, at) ^ part_of<size>(y, at);
      return differ == 0;
    };
    return with_packed<Key>(compare, a, b);
  }
}

// Hashes the packed bytes: 8 bytes at a time if there are more than 16.
template <class Hash, key_like Key>
TILEHASH_FN u64 hash_key(const Hash& hash, const Key& key) {
  constexpr u32 size = packed_bytes<Key>;
  if constexpr (size <= 16) {
    return hash(key_to_bits<bits_t<size>>(key));
  } else {
    const auto fold = [&](const unsigned char* bytes) {
      u64 h = size;
      for (u32 at = 0; at < size; at += 8) h = hash(rehash(h) ^ part_of<size>(bytes, at));
      return h;
    };
    return with_packed<Key>(fold, key);
  }
}

// Is a table's hasher noexcept? The table calls it while keys move.
template <class Hash, key_like Key>
constexpr bool hashes_without_throwing() {
  constexpr u32 size = packed_bytes<Key>;
  using bits = bits_t<(size <= 16 ? size : 8)>;
  if constexpr (requires(const Hash hash, bits key) { hash(key); })
    return noexcept(std::declval<const Hash&>()(bits()));
  else
    return true;  // never called
}

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash

// Keys of any size: when two are equal, and their hash.
#pragma once

#include <cstring>

#include <tilehash/core/hash.hpp>
#include <tilehash/core/slot.hpp>

namespace tilehash::inline TILEHASH_ABI::detail {

// Equal when their canonical bytes are.
template <key_like Key>
TILEHASH_FN bool same_key(const Key& a, const Key& b) {
  if constexpr (sizeof(Key) <= 16) {
    using bits = bits_t<sizeof(Key)>;
    return to_bits<bits>(canonical(a)) == to_bits<bits>(canonical(b));
  } else {
    const auto* x = reinterpret_cast<const unsigned char*>(&a);
    const auto* y = reinterpret_cast<const unsigned char*>(&b);
    bool same = true;
    for (u32 i = 0; i < sizeof(Key); ++i) same &= x[i] == y[i];
    return same;
  }
}

// ... and hashed 8 bytes at a time when they are longer than 16.
template <class Hash, key_like Key>
TILEHASH_FN u64 hash_key(const Hash& hash, const Key& key) {
  if constexpr (sizeof(Key) <= 16) {
    return hash(to_bits<bits_t<sizeof(Key)>>(canonical(key)));
  } else {
    const auto* bytes = reinterpret_cast<const unsigned char*>(&key);
    u64 h = sizeof(Key);
    for (u32 i = 0; i < sizeof(Key); i += 8) {
      u64 part = 0;
      memcpy(&part, bytes + i, sizeof(Key) - i < 8 ? sizeof(Key) - i : 8);
      h = hash(rehash(h) ^ part);
    }
    return h;
  }
}

}  // namespace tilehash::inline TILEHASH_ABI::detail

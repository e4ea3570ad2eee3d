// SPDX-License-Identifier: Apache-2.0
// The keys that a block has met, in open-addressed slots of its scratch.
//
// A key that gets no slot in a few probes has none for good, because no slot becomes free. Where few keys are
// expected, there are replicas of the slots, and neighbouring lanes use different ones. So the lanes of a warp
// meet equal keys at different words.
#pragma once

#include <type_traits>

#include <tilehash/algorithm/block.hpp>
#include <tilehash/core/atomic.hpp>
#include <tilehash/core/hash.hpp>

#include <tilehash/core/prologue.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

// `Slots` is a power of two. One slot more is that of the key that looks like a free slot.
template <class KeyBits, u32 Slots>
struct met_keys {
  using held_key = std::conditional_t<sizeof(KeyBits) == 8, u64, u32>;
  static constexpr u32 all = Slots + 1, max_probes = 8;
  static constexpr u32 no_slot = ~u32(0);
  static constexpr held_key free_slot = 0;

  template <class Block>
  struct of {
    scratch_in<held_key, Block> keys;
    u32 me;  // the thread's number
    u32 replicas_log2;

    TILEHASH_FN void clear(u32 threads) const {
      for (u32 s = me; s < all; s += threads) keys[s] = free_slot;
    }
    // The key's slot, or no_slot. `fresh`: the key has taken it in this call.
    TILEHASH_FN u32 claim(KeyBits bits, bool& fresh) const {
      using detail::compare_and_swap;
      using detail::load_relaxed;
      u32 found = no_slot;
      visit(bits, [&](u32 s, held_key key) {
        held_key seen = load_relaxed(keys + s);
        if (seen == free_slot) seen = compare_and_swap(keys + s, free_slot, key);
        fresh = seen == free_slot;
        if (fresh || seen == key) found = s;
        return found != no_slot;
      });
      return found;
    }
    TILEHASH_FN u32 find(KeyBits bits) const {
      using detail::load_relaxed;
      u32 found = no_slot;
      visit(bits, [&](u32 s, held_key key) {
        const held_key seen = load_relaxed(keys + s);
        if (seen == key) found = s;
        return seen == key || seen == free_slot;
      });
      return found;
    }
    TILEHASH_FN bool is_taken(u32 s) const { return held_key(keys[s]) != free_slot; }
    TILEHASH_FN KeyBits key_in(u32 s) const {
      return s == Slots ? KeyBits(0) : static_cast<KeyBits>(held_key(keys[s]));
    }

   private:
    // Calls look(s, content) for the slots that a key may have, until that returns true.
    template <class Look>
    TILEHASH_FN void visit(KeyBits bits, const Look& look) const {
      const held_key key = static_cast<held_key>(bits);
      if (key == free_slot) {
        look(Slots, held_key(1));
        return;
      }
      const u32 own = me & ((1U << replicas_log2) - 1), each = Slots >> replicas_log2;
      u32 at = hash_of(key) & (each - 1);
      for (u32 probes = 0; probes < max_probes; ++probes) {
        if (look(at << replicas_log2 | own, key)) return;
        at = (at + 1) & (each - 1);
      }
    }
    TILEHASH_FN static u32 hash_of(held_key key) {
      if constexpr (sizeof(held_key) == 4)
        return mix32(key);
      else
        return static_cast<u32>(mix64(key) >> 32);
    }
  };
};

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash

#include <tilehash/core/epilogue.hpp>

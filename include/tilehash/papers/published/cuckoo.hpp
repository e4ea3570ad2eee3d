// SPDX-License-Identifier: Apache-2.0
// Single-level cuckoo hashing as in Alcantara's thesis, and in the library CUDPP: chains of exchanges.
//
//   k ---> slot h1(k), from which x is evicted; x was in it by h3, so it takes slot h4(x); and so on
//          until a slot was empty, or after max_chain evictions the stash takes the pair in hand
//
// A new pair takes the slot of its first function. An evicted pair takes the slot of the function after the
// one that leads to the slot that it lost (round robin). No function's number is stored: all are calculated
// again, and the first that gives this slot counts. The pair at the end of a chain that is too long goes to
// the stash. That is the one slot of another function among 101, or, with `probed_stash`, the next free one
// of 16 (the thesis' footnote in 6.1.1). If that is taken, the pair is lost: the thesis builds the table
// again.
//
// A chain may have 7 lg S evictions for S slots: the thesis says 7 lg N for four functions and 1.25 N. Its
// "empirically determined formula" for other sizes is not printed. Here tables of less than 1.25 N, and those
// of two or three functions, have 100 lg S.
//
// The functions are the thesis': ((a XOR k) + b) mod 4294967291 mod S in 32 bits, a and b drawn for each.
//
// Keys are not compared. A key that comes more often than it has slots fills them with its copies, and a
// chain among copies does not end. So the data set COM of Li et al., whose keys come up to 14 times, makes
// CUDPP fail at every load (their Table 8).
//
// Source: D. Alcantara, Efficient Hash Tables on the GPU, PhD thesis, UC Davis 2011, section 6.1, Listings
// 6.1 and 6.2.
#pragma once

#include <type_traits>

#include <tilehash/core/bits.hpp>
#include <tilehash/core/hash.hpp>
#include <tilehash/papers/published/table.hpp>

#include <tilehash/core/prologue.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace papers::published {

// Stashes: put() stores a pair, find() returns its word or empty_word. `spot` is the stash's hash of the key.
template <u32 Slots = 101>
struct one_place_stash {
  static constexpr u32 slots = Slots;

  template <class Slot>
  TILEHASH_FN static bool put(typename Slot::word* stash, u32 spot, typename Slot::word word) {
    return detail::compare_and_swap(stash + spot % slots, Slot::empty_word, word) == Slot::empty_word;
  }
  template <class Slot>
  TILEHASH_FN static typename Slot::word find(const typename Slot::word* stash, u32 spot, u32 key) {
    const auto word = stash[spot % slots];
    return Slot::key_of(word) == key ? word : Slot::empty_word;
  }
};
template <u32 Slots = 16>
struct probed_stash {
  static constexpr u32 slots = Slots;

  template <class Slot>
  TILEHASH_FN static bool put(typename Slot::word* stash, u32 spot, typename Slot::word word) {
    for (u32 i = 0; i < slots; ++i) {
      if (one_place_stash<slots>::template put<Slot>(stash, spot % slots + i, word)) return true;
    }
    return false;
  }
  template <class Slot>
  TILEHASH_FN static typename Slot::word find(const typename Slot::word* stash, u32 spot, u32 key) {
    for (u32 i = 0; i < slots; ++i) {
      const auto word = stash[(spot % slots + i) % slots];
      if (word == Slot::empty_word || Slot::key_of(word) == key) return word;
    }
    return Slot::empty_word;
  }
};
struct no_stash {
  static constexpr u32 slots = 0;

  template <class Slot>
  TILEHASH_FN static bool put(typename Slot::word* /*stash*/, u32 /*spot*/, typename Slot::word /*word*/) {
    return false;
  }
  template <class Slot>
  TILEHASH_FN static typename Slot::word find(const typename Slot::word* /*stash*/, u32 /*spot*/,
                                              u32 /*key*/) {
    return Slot::empty_word;
  }
};

// `Slot` is slot<u32, void> for the thesis' sets (section 6.3).
template <u32 Functions = 4, class Stash = one_place_stash<>, class Slot = pair_slot>
class cuckoo {
  static_assert(Functions >= 2 && Functions <= 5, "tilehash: the thesis has 2, 3, 4 or 5 hash functions");

 public:
  using word = typename Slot::word;
  static constexpr word empty_word = Slot::empty_word;
  static constexpr u32 functions = Functions;
  static constexpr double max_load_factor = 1;

  // Slots without those of the stash.
  static u64 capacity_for(u64 pairs, double load_factor) {
    const u64 size = detail::slots_for(pairs, load_factor, max_load_factor);
    detail::require(size < u64(1) << 32, "published::cuckoo has fewer than 2^32 slots");
    return size;
  }
  // The stash and its flag come after the slots.
  static u64 words_for(u64 capacity) { return capacity + Stash::slots + 1; }

  cuckoo(word* memory, u64 capacity, u64 seed, double load_factor)
      : slots_(memory), size_(static_cast<u32>(capacity)) {
    for (u32 i = 0; i <= functions; ++i) {
      a_[i] = static_cast<u32>(mix64(seed * 16 + u64(2) * i + 1));
      b_[i] = static_cast<u32>(mix64(seed * 16 + u64(2) * i + 2) % thesis_prime);
    }
    const bool is_roomy = functions >= 4 && load_factor <= 0.8;
    max_chain_ = (is_roomy ? 7 : 100) * detail::bit_width(capacity);
  }
  TILEHASH_FN u32 max_chain() const { return max_chain_; }

  TILEHASH_FN insert_end insert(u32 key, u32 value) const { return chain<false>(Slot::pack(key, value)); }
  // Stores a key that may come several times: the chain also ends where it meets a copy of the key in hand.
  // Copies may remain in several slots of a key (section 6.3).
  TILEHASH_FN insert_end insert_key(u32 key) const { return chain<true>(Slot::pack(key, 0)); }

  // A chain that passed a slot filled it, so a lookup reads no slot after a free one. This does not hold where
  // slots were freed later. A key in the stash may have free slots: its chain ended before it came to them.
  template <bool EndsAtFree = true>
  TILEHASH_FN word find(u32 key) const {
    for (u32 i = 0; i < functions; ++i) {
      const word at = detail::load_relaxed(slots_ + slot_of(i, key));
      if (EndsAtFree && at == Slot::empty_word) break;
      if (Slot::key_of(at) == key) return at;
    }
    return uses_stash() ? stashed(hash(functions, key), key) : Slot::empty_word;
  }

  // Slots and those of the stash.
  TILEHASH_FN u64 places() const { return u64(size_) + Stash::slots; }
  TILEHASH_FN word* place(u64 i) const { return slots_ + i; }
  // Has the place a key that no place has which lookups read before it?
  TILEHASH_FN bool is_first(u64 at) const {
    if (slots_[at] == Slot::empty_word) return false;
    const u32 key = Slot::key_of(slots_[at]);
    for (u32 i = 0; i < functions; ++i) {
      const u32 other = slot_of(i, key);
      if (other == at) return true;
      if (Slot::key_of(slots_[other]) == key) return false;
    }
    return true;  // in the stash
  }

  TILEHASH_FN bool uses_stash() const { return detail::load_relaxed(stash_flag()) == 1; }
  TILEHASH_FN const word* stash() const { return slots_ + size_; }

 private:
  template <bool Copies>
  TILEHASH_FN insert_end chain(word in_hand) const {
    u32 key = Slot::key_of(in_hand), at = slot_of(0, key);
    for (u32 evicted = 0;; ++evicted) {
      in_hand = detail::exchange(slots_ + at, in_hand);
      if (in_hand == Slot::empty_word) return {false, false, evicted};
      if (Copies && Slot::key_of(in_hand) == key) return {false, true, evicted};
      key = Slot::key_of(in_hand);
      at = slot_after(key, at);
      if (evicted + 1 < max_chain_) continue;
      const u32 spot = hash(functions, key);
      const bool put = Stash::template put<Slot>(slots_ + size_, spot, in_hand);
      if (put) detail::store_relaxed(stash_flag(), word(1));
      const bool known = Copies && !put && stashed(spot, key) != Slot::empty_word;
      return {!put && !known, known, evicted + 1};
    }
  }
  TILEHASH_FN u32 hash(u32 i, u32 key) const {
    return static_cast<u32>(((a_[i] ^ key) + b_[i]) % static_cast<u32>(thesis_prime));
  }
  TILEHASH_FN u32 slot_of(u32 i, u32 key) const { return hash(i, key) % size_; }
  // The slot of the function after the first one that gives slot `at`.
  TILEHASH_FN u32 slot_after(u32 key, u32 at) const {
    u32 i = 0;
    while (i + 1 < functions && slot_of(i, key) != at) ++i;
    return slot_of(i + 1 == functions ? 0 : i + 1, key);
  }
  TILEHASH_FN word stashed(u32 spot, u32 key) const {
    return Stash::template find<Slot>(slots_ + size_, spot, key);
  }
  TILEHASH_FN word* stash_flag() const { return slots_ + size_ + Stash::slots; }

  word* slots_;
  u32 size_;
  u32 max_chain_;
  u32 a_[functions + 1], b_[functions + 1];  // the last pair is the stash's
};

static_assert(std::is_trivially_copyable_v<cuckoo<>>);

}  // namespace papers::published
TILEHASH_END_ABI_NAMESPACE
TILEHASH_PUBLIC_NAMESPACE(papers);
}  // namespace tilehash

#include <tilehash/core/epilogue.hpp>

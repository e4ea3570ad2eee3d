// SPDX-License-Identifier: Apache-2.0
// A bucket answers questions with a bitmask.
//
//   memory:    | w0 w1 | w2 w3 | w4 w5 | w6 w7 |      Slots words, 64 bytes where possible
//   a GPU:       lane0   lane1   lane2   lane3        one request; the answers are ballots
//   a CPU:     |            one thread         |      one cache line; the answers are SIMD compares
//
// Each lane of the tile holds per_lane neighbouring words. When the tile is wider than the bucket, the lanes
// beyond it hold nothing and match nothing. Every function here that takes the tile is a collective: all
// lanes of the warp call it together, before any branch.
#pragma once

#include <type_traits>

#include <tilehash/core/bits.hpp>
#include <tilehash/core/result.hpp>
#include <tilehash/core/slot.hpp>
#include <tilehash/space/solo_tile.hpp>

#include <tilehash/core/prologue.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE

namespace detail {
// The width of a tile that reads buckets of `bytes` bytes: 16 bytes a lane, at most eight lanes.
constexpr u32 width_for(u64 bytes) { return bytes < 32 ? 1 : bytes < 64 ? 2 : bytes < 128 ? 4 : 8; }
}  // namespace detail

template <class Slot, u32 Slots, class Tile>
class bucket {
 public:
  using word = typename Slot::word;
  using stored_key = typename Slot::stored_key;
  using value_bits = typename Slot::value_bits;
  static constexpr u32 slots = Slots;
  static constexpr u32 per_lane = Slots > Tile::width ? Slots / Tile::width : 1;
  static constexpr u32 parts =  // of 16 bytes, at most eight
      detail::width_for(Slots * sizeof(word)) < Slots ? detail::width_for(Slots * sizeof(word)) : Slots;
  static_assert(Slots <= 32 && (Slots & (Slots - 1)) == 0, "tilehash: a bucket has 1, 2, 4, ... 32 slots");

  // Reads the bucket at `base`. No thread may write it concurrently. An inactive tile's result is undefined.
  TILEHASH_FN static bucket read(Tile t, const word* base, bool active = true) {
    bucket b;
    if constexpr (by_one_thread)
      b.in_place_ = {true, base};
    else
      t.template load<per_lane>(base + first_of(t), b.words_, active && holds(t));
    return b;
  }
  // The same while other threads may claim and swap slots: each slot is read atomically, the bucket is not.
  TILEHASH_FN static bucket read_shared(Tile t, const word* base, bool active = true) {
    bucket b;
    t.template load_shared<per_lane>(base + first_of(t), b.words_, active && holds(t));
    return b;
  }
  // The same, but one thread may get an older state of a slot (solo_tile::load_stale()).
  TILEHASH_FN static bucket read_stale(Tile t, const word* base) {
    if constexpr (std::is_base_of_v<solo_tile, Tile>) {
      bucket b;
      t.template load_stale<per_lane>(base, b.words_, true);
      return b;
    } else {
      return read_shared(t, base);
    }
  }

  // The mask of the slots that hold this stored key.
  TILEHASH_FN u32 match(Tile t, stored_key wanted) const { return gather(t, mine_matching(t, wanted)); }
  TILEHASH_FN u32 match_empty(Tile t) const { return match(t, Slot::empty_mark); }
  TILEHASH_FN u32 match_tombstone(Tile t) const { return match(t, Slot::tombstone_mark); }

  // The mask of the slots whose words have bit `at` set.
  TILEHASH_FN u32 with_bit(Tile t, u32 at) const {
    u32 mine = 0;
    TILEHASH_UNROLL
    for (u32 k = 0; k < per_lane; ++k) mine |= static_cast<u32>(words()[k] >> at & 1) << k;
    return gather(t, holds(t) ? mine : 0);
  }

  // The mask of the slots whose words pass test(word).
  template <class Test>
  TILEHASH_FN u32 match_if(Tile t, const Test& test) const {
    u32 mine = 0;
    TILEHASH_UNROLL
    for (u32 k = 0; k < per_lane; ++k) mine |= u32(test(words()[k])) << k;
    return gather(t, holds(t) ? mine : 0);
  }

  // Does any slot hold this stored key? One ballot, cheaper than match().
  TILEHASH_FN bool has(Tile t, stored_key wanted) const {
    return t.ballot(mine_matching(t, wanted) != 0) != 0;
  }
  TILEHASH_FN bool has_empty(Tile t) const { return has(t, Slot::empty_mark); }
  // Has any word one of these bits?
  TILEHASH_FN bool has_bits(Tile t, word bits) const {
    word all = 0;
    TILEHASH_UNROLL
    for (u32 k = 0; k < per_lane; ++k) all = static_cast<word>(all | words()[k]);
    return t.ballot(holds(t) && (all & bits) != 0) != 0;
  }

  // The value of this stored key, if the bucket has it: one ballot and one broadcast.
  TILEHASH_FN lookup_answer<value_bits> look_up(Tile t, stored_key wanted) const {
    if constexpr (by_one_thread) {
      const u32 mine = mine_matching(t, wanted);
      return {mine != 0 ? lookup_state::found : lookup_state::absent,
              Slot::value_of(words()[mine != 0 ? detail::lowest(mine) : 0])};
    } else {
      bool mine = false;
      value_bits value = 0;
      TILEHASH_UNROLL
      for (u32 k = 0; k < per_lane; ++k) {
        const bool same = static_cast<stored_key>(words_[k] >> Slot::stored_shift) == wanted;
        value = same ? Slot::value_of(words_[k]) : value;
        mine |= same;
      }
      const u32 lanes = t.ballot(mine && holds(t));
      if constexpr (!Slot::is_set) value = t.broadcast(value, lanes != 0 ? detail::lowest(lanes) : 0);
      return {lanes != 0 ? lookup_state::found : lookup_state::absent, value};
    }
  }

  // The slot of a stored key, if the bucket has it: one ballot.
  struct slot_found {
    bool found;
    u32 slot;
  };
  TILEHASH_FN slot_found find_slot(Tile t, stored_key wanted) const {
    const u32 mine = mine_matching(t, wanted), k = mine != 0 ? detail::lowest(mine) : 0;
    const u32 lanes = t.ballot(mine != 0), owner = lanes != 0 ? detail::lowest(lanes) : 0;
    return {lanes != 0, slot_of(t, owner, k)};
  }

  // The same, with the slot's word: one more broadcast.
  struct own_slot {
    bool found;
    u32 slot;
    word content;
  };
  TILEHASH_FN own_slot find_own(Tile t, stored_key wanted) const {
    const u32 mine = mine_matching(t, wanted), k = mine != 0 ? detail::lowest(mine) : 0;
    const u32 lanes = t.ballot(mine != 0), owner = lanes != 0 ? detail::lowest(lanes) : 0;
    return {lanes != 0, slot_of(t, owner, k), t.broadcast(select(k), owner)};
  }

  // The slot of a key, or else the first slot that it may take: empty, or a tombstone. Two ballots. The
  // search for a free slot starts at part `start` of 16 bytes, the same for all inserts of a key. Otherwise keys
  // that reach an empty bucket together would all try the same slot, and all but one would fail. Tiles of all
  // widths agree on that slot, so that a thread and a tile that insert the same key do.
  struct own_or_free {
    bool own, free;
    u32 slot;
    word content;
  };
  TILEHASH_FN own_or_free find_own_or_free(Tile t, stored_key wanted, u32 start = 0) const {
    const u32 same = mine_matching(t, wanted);
    if constexpr (by_one_thread) {
      if (same != 0) return {true, false, detail::lowest(same), words()[detail::lowest(same)]};
    }
    u32 open = mine_matching(t, Slot::empty_mark);
    if constexpr (requires { Slot::tombstone_mark; }) open |= mine_matching(t, Slot::tombstone_mark);
    const bool own = t.ballot(same != 0) != 0;
    const u32 mine = own ? same : open;
    if constexpr (Tile::width == parts && parts != 1) {
      const u32 k = mine != 0 ? detail::lowest(mine) : 0;
      const u32 lanes = t.ballot(mine != 0), owner = lanes != 0 ? first_from<parts>(lanes, start % parts) : 0;
      return {own, !own && lanes != 0, slot_of(t, owner, k), t.broadcast(select(k), owner)};
    } else {
      const u32 all = gather(t, mine);
      if (is_in_place()) start = 0;  // no other thread inserts, so the key may take any free slot
      const u32 slot = all != 0 ? first_from<Slots>(all, start_of(start)) : 0;
      return {own, !own && all != 0, slot, at(t, slot)};
    }
  }

  // Where that search starts, and the first of the slots in a mask from there on.
  TILEHASH_FN static u32 start_of(u32 start) { return start % parts * (Slots / parts); }
  TILEHASH_FN static u32 first_from_start(u32 mask, u32 slot) { return first_from<Slots>(mask, slot); }

  // Is bit `at` of the word in slot i set? One ballot. The answer is undefined unless it is `wanted`: a CPU
  // thread then skips the read.
  TILEHASH_FN bool bit(Tile t, u32 i, u32 at, [[maybe_unused]] bool wanted = true) const {
    if constexpr (by_one_thread) {
      if (!wanted) return false;
      // By a byte: to shift a word of 16 bytes takes ten instructions.
      const auto* const bytes = reinterpret_cast<const unsigned char*>(words() + i);
      return (bytes[at / 8] >> at % 8 & 1) != 0;
    }
    const bool set = holds(t) && i / per_lane == t.rank() && (select(i % per_lane) >> at & 1) != 0;
    return t.ballot(set) != 0;
  }

  // The result of ask(word) for the word in slot i, at most 32 bits: one broadcast of that width.
  template <class Ask>
  TILEHASH_FN u32 ask_slot(Tile t, u32 i, const Ask& ask) const {
    return t.broadcast(u32(ask(select(i % per_lane))), i / per_lane);
  }

  // The word in slot i, i the same in the whole tile.
  TILEHASH_FN word at(Tile t, u32 i) const { return t.broadcast(select(i % per_lane), i / per_lane); }

 private:
  // A CPU's thread, alone: it may read in place, and return before a collective. A tile of one lane of a GPU's
  // warp may not: its collectives name the full warp.
  static constexpr bool by_one_thread = std::is_same_v<Tile, solo_tile> && !detail::on_gpu;

  TILEHASH_FN static bool holds(Tile t) { return Tile::width <= Slots || t.rank() < Slots; }
  TILEHASH_FN static u32 first_of(Tile t) { return holds(t) ? t.rank() * per_lane : 0; }

  // Combines each lane's bits for its own slots into a mask of the bucket's slots.
  TILEHASH_FN static u32 gather(Tile t, u32 mine) {
    if constexpr (Tile::width == 1)
      return mine;
    else {
      u32 mask = 0;
      TILEHASH_UNROLL
      for (u32 k = 0; k < per_lane; ++k) {
        const u32 lanes = t.ballot(mine >> k & 1);
        if constexpr (per_lane == 1)
          mask = lanes;
        else {
          TILEHASH_UNROLL
          for (u32 r = 0; r < Tile::width; ++r) mask |= (lanes >> r & 1) << (r * per_lane + k);
        }
      }
      return mask;
    }
  }
  // The first of N bits that is set, from bit `start` on, wrapping around.
  template <u32 N>
  TILEHASH_FN static u32 first_from(u32 bits, u32 start) {
    if constexpr (N == 32)
      return (detail::lowest(bits >> start | bits << (32 - start) % 32) + start) % 32;
    else
      return (detail::lowest(detail::rotate_right<N>(bits, start)) + start) % N;
  }
  TILEHASH_FN u32 mine_matching(Tile t, stored_key wanted) const {
    const u32 mine = detail::match_words<per_lane>(words(), Slot::stored_shift, wanted);
    return holds(t) ? mine : 0;
  }
  // The bucket's number of the owner's k-th slot; k is the owner's.
  TILEHASH_FN static u32 slot_of(Tile t, u32 owner, u32 k) {
    if constexpr (per_lane > 1)
      return owner * per_lane + t.broadcast(k, owner);
    else
      return owner;
  }
  // words_[k] without a run-time index, which would move the words out of a GPU's registers.
  TILEHASH_FN word select(u32 k) const {
    if constexpr (by_one_thread) return words()[k];
    word w = words_[0];
    TILEHASH_UNROLL
    for (u32 i = 1; i < per_lane; ++i) w = i == k ? words_[i] : w;
    return w;
  }

  // This lane's words: a copy; or, on a CPU, those in the table, if no thread writes them.
  TILEHASH_FN const word* words() const {
    if constexpr (by_one_thread) {
      if (in_place_.is) return in_place_.at;
    }
    return words_;
  }
  TILEHASH_FN bool is_in_place() const {
    if constexpr (by_one_thread)
      return in_place_.is;
    else
      return false;
  }

  alignas(per_lane * sizeof(word) < 64 ? per_lane * sizeof(word) : 64) word words_[per_lane];
  struct at_address {
    bool is = false;
    const word* at = nullptr;
  };
  struct nowhere {};
  [[no_unique_address]] std::conditional_t<Tile::width == 1, at_address, nowhere> in_place_;
};

// One lane of the tile replaces `expected` by `desired`. Returns in all lanes of the tile whether it did.
template <class Tile, class Word>
TILEHASH_FN bool try_claim(Tile t, Word* at, Word expected, Word desired, bool wanted) {
  bool won = false;
  if (wanted && t.rank() == 0) won = detail::compare_and_swap(at, expected, desired) == expected;
  return t.broadcast(u32(won), 0) != 0;
}

TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash

#include <tilehash/core/epilogue.hpp>

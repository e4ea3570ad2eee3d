// SPDX-License-Identifier: Apache-2.0
// Cuckoo hashing in one table: H slots per key, inserts that move other keys, and a stash for the rest.
//
//            h1(k)      h2(k)               h3(k)   h4(k)               s(k)
//              |          |                   |       |                  |
//   | a | . | [b] | c | [d] | x | e | . | f | [g] | [i] | j |   | . | q | [.] | . |   . empty   x erased
//   |<-- slots, each one word: a key and its value ------->|   |<- 101 stash -->|
//
// A lookup reads h1(k), h2(k), ... until it meets the key or an empty slot. After the last of them it reads
// one slot of the stash, only where the stash is in use. So no lookup reads more than H + 1 slots, whatever
// the table's size. With H = 4 functions the table needs no more than 1.03 slots an item.
//
// Invariants. (1) A key is stored once, in one of its H slots or in its slot of the stash. (2) No empty slot
// precedes a key among its own slots. A slot that was taken becomes `empty` again only in a sweep. erase()
// leaves `erased`, which lookups pass, inserts may take and the sweep removes (kernel/sweep.hpp).
//
// Inserting has two phases, both exact under any race:
//
//   insert()      never moves a key: it takes the first free of the key's slots. While only inserts run,
//                 slots only fill up, so two inserts of one key meet at the same slot. An item that finds H
//                 slots full returns `refused`; of several equal keys, all do or none does.
//   displacement  places refused items after all inserts are done. The thesis exchanges the evicted key for
//                 the one in the slot and goes on with that one. An in-flight key is then in no slot, where
//                 an equal key misses it. If the last in-flight key finds no free slot, a stored key is lost.
//                 So this displacement searches a path first:
//
//                     k --> [b] --> [e] --> [.]     each key on it moves to another of its own H slots
//
//                 and moves its keys from the far end: e is written to the free slot and erased from its own,
//                 then b, and k comes last. All keys can be found after every step, so a path that another
//                 tile has changed is given up. The walk is random. It reads all slots of each key that it
//                 meets at once, so it ends as soon as any of them is free.
//
// A tile writes a key to a slot, or takes it from one, only while it holds the lock of the key's first slot.
// A lock is a bit for eight slots; a tile tries it, never waits for it, and holds one at a time. So a slot
// that holds a key changes under that key's lock, and a free slot by compare-and-swap. One of equal keys is
// inserted, and the others see it.
//
// A key goes to the stash, where it has one slot, after (lg S)^2 / 2 failed walks. If that slot is taken, the
// key tries more walks, up to 1024, where they may help. They cannot help with two functions, whose walks are
// all alike. They cannot help if the next stash slot is taken too, for then the stash fills up, nor if the
// key there has the same H slots. A key without a slot is refused; the engine then takes new hash functions
// and starts again (a restart).
//
// The H slots follow double hashing, (h + i j) mod S. For keys that are spread well, that is as good as H
// independent functions (Mitzenmacher and Thaler 2012, for what a table can hold).
//
// Safe to run at the same time: inserts with inserts, lookups with lookups, erases with erases,
// displacements with displacements; nothing else.
//
// Source: D. Alcantara, Efficient Hash Tables on the GPU, PhD thesis, UC Davis 2011, chapter 6.
#pragma once

#include <tilehash/algorithm/displacement.hpp>
#include <tilehash/core/capacity.hpp>
#include <tilehash/core/hash.hpp>
#include <tilehash/core/result.hpp>
#include <tilehash/designs/concepts.hpp>
#include <tilehash/designs/open_addressing/single_slots.hpp>

#include <tilehash/core/prologue.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace papers {

// Functions: H, from 2 to 5. StashSlots: 0 for no stash.
template <class Key, class Value, u32 Functions = 4, class Hash = murmur, u32 StashSlots = 101>
class cuckoo : public detail::single_slots<Key, Value> {
  using base = detail::single_slots<Key, Value>;
  using base::slots_;
  static_assert(Functions >= 2 && Functions <= 5, "tilehash: cuckoo has 2, 3, 4 or 5 hash functions");

 public:
  using typename base::key_bits;
  using typename base::slot_type;
  using typename base::word;
  using hasher = Hash;
  static constexpr u32 bucket_slots = 1;

  template <class Space>
  using engine = tilehash::engine::insertion<cuckoo, Space>;

  static constexpr const char* name = Functions == 2   ? "cuckoo_2"
                                      : Functions == 3 ? "cuckoo_3"
                                      : Functions == 4 ? "cuckoo"
                                                       : "cuckoo_5";
  static constexpr u32 stash_slots = StashSlots;  // the last of the table's slots
  // The fullest table that can be built: 2.1, 1.1, 1.03 and 1.0204 slots an item (section 6.1.1).
  static constexpr double max_load_factor = Functions == 2   ? 1 / 2.1
                                            : Functions == 3 ? 1 / 1.1
                                            : Functions == 4 ? 1 / 1.03
                                                             : detail::max_load_factor;

  static constexpr u32 max_path = Functions == 2 ? 96 : 24;  // keys moved to place one item
  static constexpr u32 max_searches = 1024;                  // failed walks; see also patience()
  static constexpr u32 max_rounds = 4096;                    // tries in all, including those that met a lock

  static u64 capacity_for(u64 items, double load_factor) {
    const u64 slots = detail::slots_for(items, load_factor);
    if (load_factor > max_load_factor)
      detail::refuse(std::string(name) + " has at least " + least_size() +
                     " slots an item: ask for a lower load factor, or let the table grow");
    return slots + StashSlots;
  }
  static u64 bytes(u64 capacity) {
    return capacity * sizeof(word) + (1 + detail::divide_up(capacity / slots_a_lock + 1, 32)) * sizeof(u32);
  }

  cuckoo() = default;
  cuckoo(void* memory, u64 capacity, u64 seed, double /*load_factor*/ = 0)
      : base(memory), size_(capacity - StashSlots), hash_(seed) {}

  TILEHASH_FN u64 capacity() const { return size_ + StashSlots; }

  // ---- lookup ----
  struct location {
    u64 at, jump;
    u32 number;  // of the hash function; H means the stash
  };
  TILEHASH_FN location locate(key_bits k) const {
    const u64 h = hash_(slot_type::hash_input(k));
    return {fast_range(h, size_), 1 + fast_range(rehash(h), size_ - 1), 0};
  }
  TILEHASH_FN void advance(location& p, const auto& /*result*/) const { next(p); }
  TILEHASH_FN void next(location& p) const {
    p.at = add_modulo(p.at, p.jump, size_);
    if (++p.number == Functions) p.at = size_ + fast_range(mix64(p.at ^ rehash(p.jump)), StashSlots);
  }
  TILEHASH_FN u32 max_steps() const {
    if constexpr (StashSlots == 0)
      return Functions;
    else
      return Functions + u32(*stash_in_use() != 0);  // only a displacement writes it
  }

  // Only a displacement puts keys into the stash.
  TILEHASH_FN static bool may_take(const location& p) { return p.number < Functions; }

  bool sweeps_after(u64 erased, u64 /*items*/) const { return erased >= size_ / 8; }

  // ---- placing a key that insert() refused ----
  struct displacement {
    using tries = detail::displacement_tries<cuckoo>;
    using verdict = typename tries::verdict;
    using progress = typename tries::progress;

    cuckoo design;
    key_bits wanted;
    word content;

    // One try: searches a path to a free slot, moves its keys from the far end on, and puts the key into the
    // slot that they free.
    template <class Tile>
    TILEHASH_FN verdict attempt(Tile t, u32 round, bool active) const {
      path p;
      const u64 dice = mix64(design.hash_(slot_type::hash_input(wanted)) + round);
      const bool found = design.search(t, p, wanted, dice, reach(round), active);
      bool clear = found;  // until another tile has changed the next slot
      word mark = found ? p.content[p.length] : slot_type::empty_word;
      for (u32 i = p.length; t.any(clear && i != 0);) {
        const bool on = clear && i != 0;
        const u32 from = on ? i - 1 : 0, to = on ? i : 0;
        const bool moved = design.move(t, p.content[from], p.slot[from], p.slot[to], mark, on);
        if (on) clear = moved, --i, mark = slot_type::tombstone_word;
      }
      const bool last_resort = active && !found && round + 1 >= design.patience();
      const auto v = design.put(t, wanted, content, found ? p.slot[0] : 0, mark, clear, last_resort, active);
      return v == verdict::no_free_slot && found ? verdict::disturbed : v;
    }
    template <class Tile>
    TILEHASH_FN outcome run(Tile t, bool active) const {
      return tries::all_of(*this, t, active);
    }
  };
  TILEHASH_FN displacement displacement_of(key_bits wanted, word content) const {
    return {*this, wanted, content};
  }

 private:
  static constexpr u32 slots_a_lock = 8;

  // Failed walks before a key goes to the stash. With two functions each key has only one way on.
  TILEHASH_FN u32 patience() const {
    const u32 lg = detail::bit_width(size_);
    return Functions == 2 ? 8 : 8 + lg * lg / 2;
  }
  // The longest walk of a round. The first walks are short, because keys far down a path move to later slots.
  TILEHASH_FN static u32 reach(u32 round) {
    return Functions == 2 || round + 4 > max_path ? max_path : round + 4;
  }

  static constexpr const char* least_size() {
    return Functions == 2 ? "2.1" : Functions == 3 ? "1.1" : Functions == 4 ? "1.03" : "1.0204";
  }

  TILEHASH_FN u32* stash_in_use() const { return reinterpret_cast<u32*>(slots_ + capacity()); }
  template <class Tile>
  TILEHASH_FN word read(Tile t, u64 at, bool active) const {
    return base::template bucket_type<Tile>::read_shared(t, slots_ + at, active).at(t, 0);
  }
  // The lock of the key whose first slot this is; false if another tile holds it.
  template <class Tile>
  TILEHASH_FN bool lock(Tile t, u64 first, bool wanted) const {
    bool mine = false;
    if (wanted && t.rank() == 0) mine = detail::try_lock(stash_in_use() + 1, first / slots_a_lock);
    mine = t.broadcast(u32(mine), 0) != 0;
    t.sync();
    return mine;
  }
  template <class Tile>
  TILEHASH_FN void unlock(Tile t, u64 first, bool mine) const {
    t.sync();
    if (mine && t.rank() == 0) detail::unlock(stash_in_use() + 1, first / slots_a_lock);
  }

  // The keys that move, each to the slot of the next one, and a free slot after the last.
  struct path {
    u64 slot[max_path + 1];
    word content[max_path + 1];
    u32 length = 0;  // keys that move

    // A tile that moves nothing reads the first element, too.
    TILEHASH_FN path() { slot[0] = 0, content[0] = 0; }
  };

  // Walks from a key to a free slot.
  template <class Tile>
  TILEHASH_FN bool search(Tile t, path& p, key_bits holder, u64 random, u32 longest, bool active) const {
    bool found = false;
    u64 own = capacity();  // the holder's slot; the first holder has none
    for (bool walking = active; t.any(walking);) {
      u64 at[Functions];
      word content[Functions];
      location q = locate(holder);
      TILEHASH_UNROLL
      for (u32 i = 0; i < Functions; ++i, next(q)) {
        at[i] = q.at;
        content[i] = read(t, q.at, walking);
      }
      if (!walking) continue;
      random = mix64(random);
      u32 is_own = Functions;
      TILEHASH_UNROLL
      for (u32 i = 0; i < Functions; ++i) is_own = at[i] == own ? i : is_own;
      const u32 others = is_own < Functions ? Functions - 1 : Functions;
      u32 next = static_cast<u32>((random >> 32) * others >> 32);
      next += next >= is_own;
      TILEHASH_UNROLL
      for (u32 i = Functions; i-- > 0;) {  // the first free one, so that none is passed
        if (at[i] != own && slot_type::is_free(content[i])) found = true, next = i;
      }
      walking = !found && p.length < longest;
      if (!found && !walking) continue;
      TILEHASH_UNROLL
      for (u32 i = 0; i < Functions; ++i) {
        if (i == next)
          own = p.slot[p.length] = at[i], holder = slot_type::key_of(p.content[p.length] = content[i]);
      }
      p.length += walking;
    }
    return found;
  }

  // Moves a key from one of its slots to another that holds `mark`. False if either has changed.
  template <class Tile>
  TILEHASH_FN bool move(Tile t, word content, u64 from, u64 to, word mark, bool active) const {
    const u64 first = locate(slot_type::key_of(content)).at;
    const bool mine = lock(t, first, active);
    const bool unchanged = read(t, from, mine) == content && mine;
    const bool moved = try_claim(t, slots_ + to, mark, content, unchanged);
    try_claim(t, slots_ + from, content, slot_type::tombstone_word, moved);
    unlock(t, first, mine);
    return moved;
  }

  // Puts a new key into one of its slots if that still holds `mark`, or, as a last resort, into the stash.
  template <class Tile>
  TILEHASH_FN auto put(Tile t, key_bits wanted, word content, u64 to, word mark, bool clear, bool last_resort,
                       bool active) const {
    using verdict = typename displacement::verdict;
    location p = locate(wanted);
    const u64 first = p.at;
    const bool mine = lock(t, first, clear || last_resort);
    bool known = false, is_free = clear, hopeless = true;
    TILEHASH_UNROLL
    for (u32 i = 0; i < Functions; ++i, next(p))
      known |= slot_type::key_of(read(t, p.at, active)) == wanted && active;
    if constexpr (StashSlots != 0) {
      const word stashed = read(t, p.at, active);
      known |= slot_type::key_of(stashed) == wanted && active;
      if (last_resort) to = p.at, mark = stashed, is_free = slot_type::is_free(stashed);
      if constexpr (Functions != 2) {
        const u64 next_at = p.at + 1 == capacity() ? size_ : p.at + 1;
        const location equal = locate(slot_type::key_of(stashed));
        hopeless =
            !slot_type::is_free(read(t, next_at, last_resort)) || (equal.at == first && equal.jump == p.jump);
      }
    }
    const bool done = try_claim(t, slots_ + to, mark, content, mine && is_free && !known);
    if (done && last_resort && t.rank() == 0) detail::set_bits(stash_in_use(), 1U);
    unlock(t, first, mine);
    if (known || done) return known ? verdict::known : verdict::done;
    if (!last_resort) return verdict::no_free_slot;
    return !mine ? verdict::disturbed : hopeless ? verdict::hopeless : verdict::no_free_slot;
  }

  u64 size_ = 0;  // slots without the stash
  Hash hash_;
};

static_assert(probe_inserting<cuckoo<u32, u32>> && displacing<cuckoo<u32, u32>> &&
              erasable<cuckoo<u32, u32>> && requires { cuckoo<u32, u32>::stash_slots; });

}  // namespace papers
TILEHASH_END_ABI_NAMESPACE
TILEHASH_PUBLIC_NAMESPACE(papers);
}  // namespace tilehash

#include <tilehash/core/epilogue.hpp>

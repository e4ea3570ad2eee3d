// SPDX-License-Identifier: Apache-2.0
// dynamic_cuckoo: a table that resizes with the number of its items, one subtable at a time (DyHash).
//
//   subtable 0   | bucket | bucket | ...             |     one function each, keys and values
//   subtable 1   | bucket | bucket | ...             |     in arrays of their own:
//   subtable 2   | bucket | bucket | ... | ...       |       keys   | k k k k ... |  64 bytes a bucket
//                                                            values | v v v v ... |  at the same positions
//
// Each subtable is doubled or halved by itself. The smallest is doubled before items fill more than beta of
// all slots; the largest is halved when they fill less than alpha. So none is more than twice another, and a
// resize moves the pairs of one subtable only.
//
// Bucket of a key in subtable t, of base * 2^level(t) buckets:
//
//   number = r + base * q          r in [0, base) and the low `own` bits of q: the subtable's own function
//                                  the bits of q above: of the key, the same in all subtables
//
// One more level adds one bit on top of q: a key stays in bucket loc or moves to loc + (the old number of
// buckets), into the same slot, which no other key takes. The bits that subtables share divide all of them
// into regions, and all buckets of a key are in one region. A region has at least 28 000 slots with keys of
// four bytes, so that a block builds one in its scratch (dynamic_cuckoo/region_build.hpp). With other keys it
// has at least twice as many; smaller regions would not fill evenly. One hash gives all bits, not d hashes.
//
// The draw. The key's hash and the weights in the view give the order in which its subtables are tried.
// Subtable i comes first with a probability proportional to n_i / C(m_i, 2): n_i is its slots, m_i its items
// before the call (theorem 1 of the paper). The draw uses the hash, not a random number, so equal keys of a
// call have the same order and meet (below). Lookups use that order, too, and find most keys in the first
// bucket.
//
// Invariants. (1) A key is stored once, in one of its buckets. (2) base is the same for all subtables, and
// their levels differ by one at most. (3) The key that looks like the mark of free slots is stored in a
// sentinel bucket, which no resize touches.
//
// Inserting has phases, each exact under any race:
//
//   placing       moves no key. It looks for the key in all its buckets and claims the first free slot on the
//                 way by compare-and-swap. Slots only fill up meanwhile, so equal keys meet there and no lock
//                 is needed. Then it writes the value at the same position. In a table that was empty it
//                 stops at the first bucket with a free slot.
//   displacement  (dynamic_cuckoo/displacement.hpp) places items whose buckets are all full: other pairs move
//                 one by one, each under the locks of the two buckets. A tile never waits for a lock; it
//                 turns to its next item (the paper's vote).
//   updates       change values once no key moves: those of one word by its atomic operations, all others
//                 under the bucket's lock.
//
// All lanes compare a bucket's keys as words at once, and a key changes by one compare-and-swap. So keys have
// up to 16 bytes.
//
// Safe to run at the same time: inserts with inserts, lookups with lookups, erases with erases. While a
// subtable is resized its memory is read and not written, until the new one is complete. So lookups of all
// keys may run concurrently. So may inserts, for which that subtable is frozen: its keys stay, and new keys
// go to the other subtables.
//
// Source: Y. Li, J. Zhang, Y. Liu, Z. Lyu, Z. Huang, J. Sun, Dynamic Hash Tables on GPUs, sections 4 and 5.
#pragma once

#include <cmath>

#include <tilehash/core/apart_slot.hpp>
#include <tilehash/core/capacity.hpp>
#include <tilehash/core/hash.hpp>
#include <tilehash/core/op.hpp>
#include <tilehash/designs/concepts.hpp>
#include <tilehash/designs/dynamic_cuckoo/displacement.hpp>
#include <tilehash/designs/dynamic_cuckoo/region_build.hpp>
#include <tilehash/designs/dynamic_cuckoo/shape.hpp>
#include <tilehash/space/bucket.hpp>

#include <tilehash/core/prologue.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE

/// The design of dynamic_map (docs/explain/dynamic_cuckoo.md). Each verb takes O(1) expected a key; a resize
/// moves the pairs of one subtable. The load factor stays between table_options::alpha and beta.
/// \tparam Key,Value keys of up to 16 bytes, values of any size.
/// \tparam Subtables 2 to 8.
/// \tparam Choices the subtables in which a key may be stored, which a lookup reads: all of them, or two.
template <class Key, class Value, u32 Subtables = 3, u32 Choices = Subtables, class Hash = murmur>
class dynamic_cuckoo
    : public detail::subtables_by_regions<dynamic_cuckoo<Key, Value, Subtables, Choices, Hash>> {
 public:
  static_assert(Subtables >= 2 && Subtables <= 8, "tilehash: dynamic_cuckoo has 2 to 8 subtables");
  static_assert(detail::packed_bytes<Key> <= 16,
                "tilehash: dynamic_cuckoo compares keys as words of at most 16 bytes; use dynamic_map, which "
                "takes any");
  using slot_type = apart_slot<Key, Value>;
  using key_type = Key;
  using mapped_type = Value;
  using value_element = typename slot_type::value_element;
  using hasher = Hash;
  using word = typename slot_type::word;
  using key_bits = typename slot_type::key_bits;
  using value_bits = typename slot_type::value_bits;
  static constexpr u32 subtables = Subtables, bucket_slots = 64 / sizeof(word);
  template <class Tile>
  using bucket_type = bucket<slot_type, bucket_slots, Tile>;
  template <class Space>
  using engine = tilehash::engine::subtables<dynamic_cuckoo, Space>;

  static constexpr bool of_all = Choices == Subtables;  // a key may be stored in any subtable
  static_assert(of_all || Choices == 2, "tilehash: a key has two subtables of dynamic_cuckoo, or all");
  static constexpr const char* name = of_all ? "dynamic_cuckoo" : "dynamic_cuckoo_two";
  static constexpr u32 preferred_width = detail::width_for(64);

  // Two buckets of four slots a key run out of paths early; the other limit is how evenly regions fill.
  static constexpr double max_load_factor = bucket_slots == 4 && (Subtables == 2 || !of_all) ? 0.92 : 0.96;
  static constexpr u32 max_path = 8;       // keys moved to place one item
  static constexpr u32 max_searches = 64;  // failed walks before a key is refused
  static constexpr u32 max_rounds = 4096;  // tries in all, including those that met a lock

  using shape_type = detail::subtables_shape<Subtables>;
  static shape_type shape_for(u64 items, double load_factor) {
    return shape_type::for_slots(detail::slots_for(items, load_factor, max_load_factor), bucket_slots);
  }
  static u64 capacity_for(u64 items, double load_factor) {
    return shape_for(items, load_factor).buckets() * bucket_slots;
  }

  // The memory of a subtable: | keys | values | a lock bit for each bucket |
  struct part {
    word* keys = nullptr;
    value_element* values = nullptr;
    u32* locks = nullptr;
    u64 buckets = 0, levels = 0;  // levels: mask of the bits of q that it has

    part() = default;
    part(char* memory, u64 n, u32 base)
        : keys(reinterpret_cast<word*>(memory)),
          values(reinterpret_cast<value_element*>(memory + values_at(n))),
          locks(reinterpret_cast<u32*>(memory + locks_at(n))),
          buckets(n),
          levels(n / base - 1) {}
    static constexpr u64 values_at(u64 n) { return n * 64; }
    static constexpr u64 locks_at(u64 n) {
      const u64 each = slot_type::is_set ? 0 : sizeof(value_element);
      return values_at(n) + (n * bucket_slots * each + 63) / 64 * 64;
    }
    static constexpr u64 lock_bytes(u64 n) { return (n + 31) / 32 * 4; }
    static constexpr u64 bytes(u64 n) { return locks_at(n) + lock_bytes(n); }
    TILEHASH_FN u64 slots() const { return buckets * bucket_slots; }
    // Does this slot belong to the subtable?
    TILEHASH_FN bool has(const word* at) const {
      return reinterpret_cast<u64>(at) - reinterpret_cast<u64>(keys) < buckets * 64;
    }
  };

  // Bytes of `capacity` slots, divided among subtables of one size.
  static u64 bytes(u64 capacity) { return part::bytes(capacity / bucket_slots); }

  dynamic_cuckoo() = default;
  // Has no memory before put().
  dynamic_cuckoo(u64 seed, u32 base)
      : base_(base), own_(shape_type::own_bits(base, bucket_slots)), hash_(seed) {
    for (u32& w : weights_) w = 1;
  }
  void put(u32 t, const part& p) { parts_[t] = p; }
  void put_sentinel_cell(char* memory) { parts_[Subtables] = part(memory, 1, 1); }
  const part& at(u32 t) const { return parts_[t]; }  // t == subtables: the sentinel bucket
  // The draw's weights, at most 2^16 each.
  void weigh(const u32 (&weights)[Subtables]) {
    for (u32 t = 0; t < Subtables; ++t) weights_[t] = weights[t];
  }
  // Inserts and lookups skip this subtable.
  void close(u32 t) { closed_ = t; }
  // For placing alone: the table had no items when it began. A bucket with a free slot has then never been
  // full. So a key that is not in it is in no later bucket. (But a frozen subtable's keys go to others.)
  void begin_empty(bool yes) { was_empty_ = yes && frozen_ == ~0U; }
  // No key moves into this subtable or out of it; lookups find its keys. ~0U: all are open.
  void freeze(u32 t) { frozen_ = t; }

  TILEHASH_FN bool has_memory() const { return parts_[Subtables].keys != nullptr; }
  TILEHASH_FN u64 capacity() const {
    u64 all = 0;
    for (u32 t = 0; t < Subtables; ++t) all += parts_[t].slots();
    return all;
  }

  // ---- lookup ----
  struct location {
    u32 high, low;     // of the key's hash
    u32 table, other;  // the subtable that is read now; with two choices: and next
  };
  TILEHASH_FN location locate(key_bits k) const {
    const u64 h = hash_(slot_type::hash_input(k));
    location p{static_cast<u32>(h >> 32), static_cast<u32>(h), 0, 0};
    const u32 dice = static_cast<u32>(rehash(h));
    if constexpr (of_all)
      draw_of_all(p, dice);
    else
      draw_of_two(p, dice);
    if (slot_type::is_sentinel(k)) p.table = Subtables;
    return p;
  }
  TILEHASH_FN void advance(location& p, const auto& /*result*/) const { advance(p); }
  TILEHASH_FN void advance(location& p) const {
    if constexpr (of_all) {
      p.table = following(p.table);
      if (p.table == closed_) p.table = following(p.table);
    } else {
      const u32 other = p.other;
      p.other = p.table;
      p.table = other;
    }
  }
  TILEHASH_FN static constexpr u32 max_steps() { return of_all ? Subtables : 2; }
  TILEHASH_FN u32 max_steps_of(const location& p) const {
    if (p.table == Subtables) return 1;
    if constexpr (of_all)
      return closed_ < Subtables ? Subtables - 1 : Subtables;
    else
      return p.other == closed_ ? 1 : 2;
  }

  // ---- regions: all buckets of a key are in its region, contiguous in subtables of one size ----
  using region_hash = detail::subtables_region_hash<slot_type, Hash>;
  TILEHASH_FN region_hash regions_by() const { return {hash_, regions() - 1}; }
  TILEHASH_FN u32 region_of(key_bits k) const { return regions_by().region_of(k); }
  TILEHASH_FN u32 regions() const { return static_cast<u32>(parts_[0].levels >> own_) + 1; }
  TILEHASH_FN u32 region_buckets() const { return static_cast<u32>(parts_[0].buckets / regions()); }
  bool has_even_regions() const {
    for (const part& p : parts_)
      if (&p != parts_ + Subtables && p.buckets != parts_[0].buckets) return false;
    return true;
  }

  // A key's bucket in a subtable.
  TILEHASH_FN u64 bucket_number(const location& p, const part& of) const {
    if (p.table == Subtables) return 0;
    const u64 mixed = rehash(static_cast<u64>(p.high) << 32 | p.low);
    const u32 step = (p.low ^ static_cast<u32>(mixed >> 16)) | 1;
    const u64 scaled = static_cast<u64>(p.high + p.table * step) * base_;
    const u64 own = (scaled & 0xffffffff) << own_ >> 32;
    return (scaled >> 32) + base_ * ((mixed >> 32 << own_ | own) & of.levels);
  }
  TILEHASH_FN part part_of(u32 table) const { return detail::pick(parts_, table); }
  // A bucket's number is the address of its keys.
  TILEHASH_FN u64 where(const location& p) const { return reinterpret_cast<u64>(address(p)); }
  TILEHASH_FN word* bucket_at(u64 i) const { return reinterpret_cast<word*>(i); }
  TILEHASH_FN word* address(const location& p) const {
    const part of = part_of(p.table);
    return of.keys + bucket_number(p, of) * bucket_slots;
  }
  TILEHASH_FN static key_bits stored(const location& p, key_bits k) {
    return p.table == Subtables ? slot_type::stored_sentinel : k;
  }
  // The key whose word is in slot i. Slots are numbered through all subtables; the sentinel slot is the last.
  TILEHASH_FN key_bits key_at(u64 i, word w) const {
    return i < capacity() ? slot_type::key_of(w) : slot_type::empty_mark;
  }
  // The i-th slot.
  TILEHASH_FN word* slot_at(u64 i) const {
    u32 t = 0;
    for (; t < Subtables && i >= parts_[t].slots(); ++t) i -= parts_[t].slots();
    return part_of(t).keys + i;
  }
  TILEHASH_FN u64 entries() const { return capacity() + slot_type::has_sentinel_cell; }

  struct answer : lookup_answer<value_bits> {
    u32 slot = 0;
  };
  template <class Tile>
  TILEHASH_FN answer examine(Tile t, const bucket_type<Tile>& b, key_bits wanted) const {
    const auto at = b.find_slot(t, wanted);
    return {{at.found ? lookup_state::found : lookup_state::go_on, nullptr}, at.slot};
  }

  // ---- values ----
  TILEHASH_FN value_element* values_of(const location& p) const {
    const part of = part_of(p.table);
    return of.values + bucket_number(p, of) * bucket_slots;
  }
  TILEHASH_FN value_element* value_at(const word* at) const {
    const part p = part_with(at);
    return p.values + (at - p.keys);
  }
  template <class Op>
  TILEHASH_FN void combine(word* at, const value_element& given, const Op& op) const {
    constexpr u64 size = sizeof(value_element);
    constexpr bool is_word = (size == 4 || size == 8) && alignof(value_element) == size;
    const part p = part_with(at);
    value_element* const stored = p.values + (at - p.keys);
    if constexpr (is_word) {
      detail::combine_at(reinterpret_cast<detail::combinable<Op, value_element>*>(stored), given, op);
    } else {
      const u64 bucket = static_cast<u64>(at - p.keys) / bucket_slots;
      for (bool open = true; open;) {  // a lock is held for one change
        if (!detail::try_lock(p.locks, bucket)) continue;
        const detail::unlock_at_end held{p.locks, bucket};
        value_element old;
        detail::copy_value(&old, stored);
        const value_element next = op(old, given);
        detail::copy_value(stored, &next);
        open = false;
      }
    }
  }

  // ---- change ----
  // A quarter of each bucket is kept for keys whose other buckets have no free slot before that quarter. The
  // first free slot of a key is still the same for all inserts of it. Until three quarters are filled, its
  // buckets fill alike, so few keys find all of them full.
  struct position : insert_position<word> {
    bool is_last_resort = false;
  };
  static constexpr u32 first_slots = bucket_slots - bucket_slots / 4;
  template <class Tile>
  TILEHASH_FN position examine_for_insert(Tile t, const bucket_type<Tile>& b, key_bits wanted) const {
    const auto at = b.find_own_or_free(t, wanted);
    const bool at_once = first_slots > at.slot;
    const bool ends = at.free && at_once && was_empty_;
    return {{at.own ? lookup_state::found
             : ends ? lookup_state::absent
                    : lookup_state::go_on,
             at.free, at.slot, at.content},
            !at_once};
  }
  template <class Tile>
  TILEHASH_FN erase_position<word> examine_for_erase(Tile t, const bucket_type<Tile>& b,
                                                     key_bits wanted) const {
    const auto at = b.find_slot(t, wanted);
    return {at.found ? lookup_state::found : lookup_state::go_on, at.slot, wanted};
  }
  TILEHASH_FN bool may_take(const location& p) const { return p.table != frozen_; }
  TILEHASH_FN static word vacated(const auto& /*result*/) { return slot_type::empty_word; }

  using displacement = detail::subtables_displacement<dynamic_cuckoo>;
  TILEHASH_FN displacement displacement_of(key_bits key, const typename slot_type::carried& x) const {
    const location p = locate(key);
    return {*this, p, x, static_cast<u64>(p.high) << 32 | p.low};
  }

  // ---- used by the displacement ----
  // Sets `to` to where the key with this word can go from a subtable; false: nowhere now.
  TILEHASH_FN bool next_location(word w, u32 table, location& to) const {
    to = locate(slot_type::key_of(w));
    if constexpr (of_all) {
      to.table = table;
      advance(to);
      if (to.table == frozen_) advance(to);
    } else {
      if (to.table == table) advance(to);
      if (to.table == closed_) return false;
    }
    return to.table != table && to.table != frozen_ && table != frozen_;
  }

 private:
  TILEHASH_FN static u32 following(u32 t) { return t + 1 == Subtables ? 0 : t + 1; }
  TILEHASH_FN part part_with(const word* at) const {
    part p = parts_[0];
    TILEHASH_UNROLL
    for (u32 t = 1; t <= Subtables; ++t) {
      if (parts_[t].has(at)) p = parts_[t];
    }
    return p;
  }
  TILEHASH_FN void draw_of_all(location& p, u32 dice) const {
    u32 total = 0;
    TILEHASH_UNROLL
    for (u32 t = 0; t < Subtables; ++t) total += weights_[t];
    const u32 drawn = static_cast<u32>(static_cast<u64>(dice) * total >> 32);
    u32 bound = 0;
    TILEHASH_UNROLL
    for (u32 t = 0; t + 1 < Subtables; ++t) {
      bound += weights_[t];
      p.table += drawn >= bound;
    }
    if (p.table == closed_) p.table = following(p.table);
  }
  // The hash names the two subtables, and the weights decide which comes first.
  TILEHASH_FN void draw_of_two(location& p, u32 dice) const {
    const u64 one = static_cast<u64>(dice) * Subtables;
    const u64 two = static_cast<u64>(static_cast<u32>(one)) * (Subtables - 1);
    const u32 a = static_cast<u32>(one >> 32), second = static_cast<u32>(two >> 32);
    const u32 b = second < a ? second : second + 1;
    const u32 weight_a = detail::pick(weights_, a), weight_b = detail::pick(weights_, b);
    const u32 drawn = static_cast<u32>(static_cast<u64>(static_cast<u32>(two)) * (weight_a + weight_b) >> 32);
    const bool first = (drawn < weight_a && a != closed_) || b == closed_;
    p.table = first ? a : b;
    p.other = first ? b : a;
  }

  part parts_[Subtables + 1];
  u32 weights_[Subtables] = {};
  u32 base_ = 1, own_ = 0, closed_ = ~0U, frozen_ = ~0U;
  bool was_empty_ = false;
  Hash hash_;
};

static_assert(probe_inserting<dynamic_cuckoo<u32, u32>> && displacing<dynamic_cuckoo<u32, u32>> &&
              values_apart<dynamic_cuckoo<u32, u32>> && erasable<dynamic_cuckoo<u32, u32>> &&
              !steady<dynamic_cuckoo<u32, u32>> &&
              requires(dynamic_cuckoo<u32, u32> d) { d.max_steps_of({}) + d.may_take({}); });
TILEHASH_END_ABI_NAMESPACE
TILEHASH_PUBLIC(dynamic_cuckoo);
}  // namespace tilehash

#include <tilehash/core/epilogue.hpp>

// SPDX-License-Identifier: Apache-2.0
// Horton tables: a bucket stores where its overflow went, so a lookup reads it and at most one more.
//
//   type A    | a b c d e f g h |         S items
//   type B    | i j k l m n o R |         S - 1 items and the remap entries
//                             |
//                             R:  | . . 3 . . . . . 5 . . ... |      21 entries of 3 bits: 0, or a function
//                                       |           |
//      tag(p) = 2: p is in the bucket R_3(this, 2)  '-- tag(q) = 8: q is in R_5(this, 8)
//
// Every key has one primary bucket and stays there while it can. An item that overflows becomes a secondary
// item: one of seven secondary functions maps it to another bucket. The remap entry that the key's tag
// chooses names that function. A lookup that does not find its key in the primary bucket ends where the
// bucket is of type A or the entry is 0. Otherwise it reads the one bucket that the entry names. At load 0.9
// with 8 slots, found keys take 1.15 buckets and others 1.05 (papers/horton/model.hpp has the paper's equations).
//
// Keys of one primary bucket and one tag share their entry, hence their secondary bucket: R_i is a function
// of the bucket and the tag, not of the key. Ours is a mirror, c(i, tag) - bucket modulo the region's
// buckets, and is its own inverse. So the bucket of an item, its function (three bits of the slot) and its
// tag determine its primary bucket. Slots therefore keep remainders alone (horton/slot.hpp), and one bucket
// shows whether an entry is shared.
//
// Invariants. (1) A key is stored once: in its primary bucket by function 0, or in R_i(bucket, tag) by
// function i. In the second case the primary bucket is of type B and its entry for the tag is i. (2) Only the
// last slot of a bucket holds entries. (3) While inserts place keys, slots only fill and entries stay. Two
// inserts of one key meet at the same free slot of its primary bucket, and no lock is needed.
//
// Inserting has two phases:
//
//   placing       a new key takes a free slot of its primary bucket, and nothing moves
//   displacement  an item without a free slot makes secondary items of the primary bucket move on, or turns
//                 the bucket into type B, or goes to a secondary bucket itself (horton/displacement.hpp)
//
// Erasing frees the slot and marks the buckets whose items can now move back to their primary buckets. tidy()
// then moves them, clears entries that no item uses, and turns buckets of type B into type A.
//
// Many items at once are built, or merged with what the table holds, region by region in block-local memory
// (horton/build.hpp): all eight buckets of a key are in its region. Many keys at once are erased in the same
// way, and the regions tidied (horton/erase.hpp).
//
// After the slots, two bits a bucket are stored: a lock, and whether tidy() is due. Every loop is bounded by
// the constants below.
//
// Safe to run at the same time: inserts with inserts, lookups with lookups, erases with erases.
//
// Source: A. Breslow et al., Horton Tables, USENIX ATC 2016 (there inserts and erases run on one CPU thread,
// secondary functions are made by double hashing, and repatriation is future work).
#pragma once

#include <tilehash/algorithm/hash_route.hpp>
#include <tilehash/algorithm/partition.hpp>
#include <tilehash/core/atomic.hpp>
#include <tilehash/core/bits.hpp>
#include <tilehash/core/capacity.hpp>
#include <tilehash/core/result.hpp>
#include <tilehash/designs/concepts.hpp>
#include <tilehash/designs/horton/build.hpp>
#include <tilehash/designs/horton/displacement.hpp>
#include <tilehash/designs/horton/erase.hpp>
#include <tilehash/designs/horton/slot.hpp>
#include <tilehash/designs/horton/tidy.hpp>
#include <tilehash/space/bucket.hpp>

#include <tilehash/core/prologue.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE

// When erases move items back to their primary buckets: at the end of each erase, or once the number of
// erased keys pays for a pass over the table.
enum class repatriation { eager, lazy };

/// A Horton table, for lookups that mostly find nothing (docs/explain/horton.md).
///
/// A lookup reads at most two buckets; each verb takes O(1) expected a key. A slot has the bytes of key and
/// value, rounded up to a power of two. Load factor: at most 0.9 with 4 slots, 0.95 with 8, 0.965 with 16. In
/// kernels, verbs of one kind may run concurrently.
/// \tparam Key of up to 8 bytes.
/// \tparam Value of up to 8 bytes, or void for a set.
/// \tparam Slots of a bucket: 1, 2, 4, 8 or 16.
/// \tparam Repatriation when erases move items back.
template <class Key, class Value, u32 Slots = 64 / sizeof(typename horton_slot<Key, Value>::word),
          repatriation Repatriation = repatriation::eager>
class horton {
 public:
  using slot_type = horton_slot<Key, Value>;
  using key_type = Key;
  using mapped_type = Value;
  using hasher = murmur;
  using word = typename slot_type::word;
  using key_bits = typename slot_type::key_bits;
  using stored_key = typename slot_type::stored_key;
  using value_bits = typename slot_type::value_bits;
  using buckets_type = detail::hashed_buckets<slot_type>;
  static_assert(Slots == 1 || Slots == 2 || Slots == 4 || Slots == 8 || Slots == 16,
                "tilehash: buckets of a Horton table have 1, 2, 4, 8 or 16 slots");
  static constexpr u32 bucket_slots = Slots, last_slot = Slots - 1;
  static constexpr u32 item_slots = (1U << last_slot) - 1;  // as a mask: those that always hold items
  template <class Tile>
  using bucket_type = bucket<slot_type, bucket_slots, Tile>;

  template <class Space>
  using engine = tilehash::engine::insertion<horton, Space>;

  static constexpr const char* name = "horton";
  static constexpr u32 preferred_width = detail::width_for(bucket_slots * sizeof(word));
  // The paper's bound is the space that remap entries leave (equation 4). docs/explain/horton.md has the
  // loads that were reached without a failure in a thousand tables.
  static constexpr double max_load_factor = Slots == 1   ? 0.6
                                            : Slots == 2 ? 0.7
                                            : Slots == 4 ? 0.9
                                            : Slots == 8 ? 0.95
                                                         : 0.965;
  // Buckets of a region: as many as a multiprocessor's memory can build. There are more where items and
  // entries take so many slots that some region would overflow. Words of 16 bytes are not built by regions.
  static constexpr bool is_partition_built = Slots >= 4 && sizeof(word) <= 8;
  static constexpr u64 max_region(double load_factor) {
    const double built_in_bulk = Slots == 4 ? 0.85 : 0.9;
    return is_partition_built && load_factor <= built_in_bulk ? detail::horton_region(Slots, sizeof(word))
                                                              : u64(1) << 32;
  }
  static constexpr u32 max_path = 6;        // keys moved to place one item
  static constexpr u32 max_searches = 128;  // failed searches before a key is refused
  static constexpr u32 max_rounds = 4096;   // tries in all, including those that met a lock

  static u64 capacity_for(u64 items, double load_factor) {
    const u64 buckets = buckets_type::whole_regions(
        detail::divide_up(detail::slots_for(items, load_factor, max_load_factor), bucket_slots),
        max_region(load_factor));
    detail::require(buckets < (u64(1) << 32), "horton has at most 2^32 buckets; ask for fewer items");
    return buckets * bucket_slots;
  }
  static u64 bytes(u64 capacity) { return capacity * sizeof(word) + 2 * bit_words(capacity) * sizeof(u32); }

  horton() = default;
  // Without memory it can still locate keys.
  horton(void* memory, u64 capacity, u64 seed, double load_factor)
      : slots_(static_cast<word*>(memory)),
        locks_(memory == nullptr ? nullptr : reinterpret_cast<u32*>(slots_ + capacity)),
        buckets_(capacity / bucket_slots, max_region(load_factor), seed) {}

  TILEHASH_FN u64 capacity() const { return buckets_.buckets() * bucket_slots; }
  TILEHASH_FN word* slots() const { return slots_; }
  TILEHASH_FN static bool holds(u64 /*slot*/, word w) {
    return !slot_type::is_free(w) && !slot_type::is_remap(w);
  }

  // ---- regions ----
  TILEHASH_FN const auto& route() const { return buckets_.route(); }  // from a key to its region
  TILEHASH_FN u32 regions() const { return buckets_.regions(); }
  TILEHASH_FN u32 region_buckets() const { return buckets_.region_buckets(); }
  TILEHASH_FN u32 region_slots() const { return region_buckets() * bucket_slots; }
  TILEHASH_FN word* region_at(u32 region) const { return slots_ + static_cast<u64>(region) * region_slots(); }
  TILEHASH_FN key_bits hash(key_bits key) const { return buckets_.hash(key); }
  TILEHASH_FN key_bits unhash(key_bits h) const { return buckets_.unhash(h); }
  TILEHASH_FN u32 region_of(key_bits h) const { return buckets_.region_of(h); }
  // The hash of a key that is stored as `n` in a bucket of a region: the inverse of place_of().
  TILEHASH_FN key_bits hash_in(u32 region, u32 bucket, stored_key n) const {
    const location p = primary_of({0, bucket, n});
    return buckets_.hash_of(region, p.bucket, slot_type::remainder_of(n));
  }

  // ---- where a key is stored ----
  struct location {
    u32 base;    // the region's first bucket
    u32 bucket;  // within the region
    stored_key stored;

    TILEHASH_FN u32 tag() const { return slot_type::tag_of(slot_type::remainder_of(stored)); }
    TILEHASH_FN u32 function() const { return slot_type::function_of(stored); }
  };
  TILEHASH_FN location locate(key_bits key) const { return location_of(hash(key)); }
  TILEHASH_FN location location_of(key_bits h) const {
    const auto at = buckets_.position_of(h);
    return {at.base, at.bucket, slot_type::stored_as(h & slot_type::remainder_mask, 0)};
  }
  TILEHASH_FN u32 where(const location& p) const { return p.base + p.bucket; }
  TILEHASH_FN word* bucket_at(u64 i) const { return slots_ + i * bucket_slots; }
  TILEHASH_FN const word* address(const location& p) const { return bucket_at(where(p)); }
  TILEHASH_FN static stored_key stored(const location& p, key_bits) { return p.stored; }
  TILEHASH_FN static constexpr u32 max_steps() { return 2; }

  // R_i for the items of a bucket that have this tag; it is its own inverse.
  TILEHASH_FN u32 other_bucket(u32 bucket, u32 tag, u32 function) const {
    return mirrored(sum_of(tag, function), bucket);
  }
  TILEHASH_FN u32 sum_of(u32 tag, u32 function) const {
    return buckets_type::scale(mix32(tag << 3 | function), region_buckets());
  }
  TILEHASH_FN u32 mirrored(u32 sum, u32 bucket) const { return buckets_.mirrored(sum, bucket); }
  // Moves from a key's primary bucket to the one that its entry names.
  TILEHASH_FN void remap(location& p, u32 function) const {
    p.bucket = other_bucket(p.bucket, p.tag(), function);
    p.stored = slot_type::stored_as(slot_type::remainder_of(p.stored), function);
  }
  // The location of the item in a bucket, and its primary location.
  TILEHASH_FN location location_in(u32 bucket, word w) const {
    const u32 each = region_buckets(), base = bucket / each * each;
    return {base, bucket - base, slot_type::stored_in(w)};
  }
  TILEHASH_FN location primary_of(location p) const {
    if (p.function() != 0) p.bucket = other_bucket(p.bucket, p.tag(), p.function());
    p.stored = slot_type::stored_as(slot_type::remainder_of(p.stored), 0);
    return p;
  }
  TILEHASH_FN key_bits key_at(u64 slot, word w) const {
    const u32 bucket = static_cast<u32>(slot / bucket_slots), each = region_buckets();
    return unhash(hash_in(bucket / each, bucket % each, slot_type::stored_in(w)));
  }

  // ---- lookup: the primary bucket, and the one that its remap entry names ----
  struct answer : lookup_answer<value_bits> {
    u32 function = 0;
  };
  TILEHASH_FN void advance(location& p, const auto& result) const { remap(p, result.function); }

  template <class Tile>
  TILEHASH_FN answer examine(Tile t, const bucket_type<Tile>& b, stored_key wanted) const {
    answer a{b.look_up(t, wanted)};
    if (t.any(!a.found())) a.function = entry_for(t, b, wanted);
    if (!a.found() && a.function != 0) a.what = lookup_state::go_on;
    return a;
  }

  // ---- change ----
  struct position : insert_position<word> {
    u32 function = 0;
  };
  template <class Tile>
  TILEHASH_FN position examine_for_insert(Tile t, const bucket_type<Tile>& b, stored_key wanted) const {
    const auto at = b.find_own_or_free(t, wanted);
    const u32 function = entry_for(t, b, wanted);
    return {{at.own          ? lookup_state::found
             : function != 0 ? lookup_state::go_on
                             : lookup_state::absent,
             at.free, at.slot, at.content},
            function};
  }
  // Secondary items are placed after all primary ones.
  TILEHASH_FN static bool may_take(const location& p) { return p.function() == 0; }

  using displacement = detail::horton_displacement<horton, max_path>;
  TILEHASH_FN displacement displacement_of(key_bits key, word content) const {
    return {*this, locate(key), slot_type::value_of(content), mix64(static_cast<u64>(key))};
  }

  struct erase_answer : erase_position<word> {
    u32 function = 0;
    bool has_remapped = false;  // the bucket has remap entries
  };
  template <class Tile>
  TILEHASH_FN erase_answer examine_for_erase(Tile t, const bucket_type<Tile>& b, stored_key wanted) const {
    const auto at = b.find_own(t, wanted);
    const u32 tag = slot_type::tag_of(slot_type::remainder_of(wanted));
    const u32 entry = b.ask_slot(
        t, last_slot, [&](word w) { return slot_type::is_remap(w) ? 8 | slot_type::entry(w, tag) : 0; });
    const u32 function = slot_type::function_of(wanted) == 0 ? entry & 7 : 0;
    return {{at.found        ? lookup_state::found
             : function != 0 ? lookup_state::go_on
                             : lookup_state::absent,
             at.slot, at.content},
            function,
            entry != 0};
  }
  TILEHASH_FN static word vacated(const erase_answer& /*result*/) { return slot_type::empty_word; }
  // Marks the buckets whose items can now move back.
  TILEHASH_FN void erased(const location& home, const location& now, const erase_answer& result) const {
    if (result.has_remapped) mark_due(where(now));
    if (now.function() != 0) mark_due(where(home));
  }

  // ---- tidying after erases ----
  TILEHASH_FN u32* due() const { return locks_ + bit_words(capacity()); }  // a bit for each bucket
  TILEHASH_FN u64 due_words() const { return bit_words(capacity()); }
  // Is a pass due after `erased` erases since the last one?
  TILEHASH_FN bool tidies_after(u64 erased) const {
    return Repatriation == repatriation::eager || erased >= capacity() / 16;
  }

  // A tile of one lane tidies a bucket (horton/tidy.hpp): all lanes of a wider one would decide the same, and
  // the decisions take longer than the reads.
  static constexpr u32 tidy_width = 1;
  template <class Tile>
  TILEHASH_FN void tidy(Tile t, u32 number, bool active) const {
    const u32 base = location_in(number, word(0)).base;
    detail::tidy_horton_bucket(*this, t, detail::horton_region_in_table<horton, Tile>{bucket_at(base)},
                               number - base, active);
  }

  // Builds a region from its items.
  template <class Bins = detail::even_bins<word>>
  using region_build = detail::horton_build<horton, Bins>;
  // Erases many keys from a region and then tidies it.
  static constexpr bool is_region_erased = is_partition_built;
  template <class Bins, class Count>
  using region_erase = detail::horton_erase<horton, Bins, Count>;

  // ---- used by the displacement ----
  TILEHASH_FN u32* locks() const { return locks_; }
  // The function in the remap entry of the key stored as `wanted`, in its primary bucket; 0: there is none.
  template <class Tile>
  TILEHASH_FN static u32 entry_for(Tile t, const bucket_type<Tile>& b, stored_key wanted) {
    const u32 tag = slot_type::tag_of(slot_type::remainder_of(wanted));
    const u32 function = b.ask_slot(t, last_slot, [&](word w) { return slot_type::entry_if_any(w, tag); });
    return slot_type::function_of(wanted) == 0 ? function : 0;
  }
  // Slots of secondary items: those placed by a secondary function.
  template <class Tile>
  TILEHASH_FN static u32 secondary_in(Tile t, const bucket_type<Tile>& b) {
    return b.match_if(t, [](word w) {
      return !slot_type::is_remap(w) && slot_type::function_of(slot_type::stored_in(w)) != 0;
    });
  }
  // Slots of items that share an entry.
  template <class Tile, class Bucket>
  TILEHASH_FN static u32 in_group(Tile t, const Bucket& b, u32 tag, u32 function) {
    return b.match_if(t, [&](word w) {
      const stored_key n = slot_type::stored_in(w);
      return holds(0, w) && slot_type::function_of(n) == function &&
             slot_type::tag_of(slot_type::remainder_of(n)) == tag;
    });
  }

  // An item of another bucket as its primary bucket would store it.
  TILEHASH_FN static word at_home(word content) {
    const key_bits remainder = slot_type::remainder_of(slot_type::stored_in(content));
    return slot_type::make(slot_type::stored_as(remainder, 0), slot_type::value_of(content));
  }

 private:
  TILEHASH_FN static constexpr u64 bit_words(u64 capacity) { return (capacity / bucket_slots + 31) / 32; }
  TILEHASH_FN void mark_due(u32 bucket) const { detail::set_bits(due() + bucket / 32, 1U << bucket % 32); }

  word* slots_ = nullptr;
  u32* locks_ = nullptr;
  buckets_type buckets_;
};

static_assert(probe_inserting<horton<u32, u32>> && displacing<horton<u32, u32>> &&
              erasable<horton<u32, u32>> && tidying<horton<u32, u32>> && partition_built<horton<u32, u32>> &&
              horton<u32, u32>::is_region_erased && horton<u32, u32>::tidy_width != 0 &&
              requires(const horton<u32, u32> d, horton<u32, u32>::location p) {
                d.holds(0, 0);
                d.may_take(p);
              });

TILEHASH_END_ABI_NAMESPACE
TILEHASH_PUBLIC(horton);
}  // namespace tilehash

#include <tilehash/core/epilogue.hpp>

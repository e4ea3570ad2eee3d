// SPDX-License-Identifier: Apache-2.0
// tiled: the default table. One bucket for nearly every lookup, found or not.
//
//   hash(key) = [ bucket number . remainder ]            a bijection: the slot keeps the remainder alone
//
//      region r (a block builds it in its own memory)
//     +---------------------------------------------------------------+
//     | bucket | bucket | first(k) |  ...  | second(k) |  ...  | bucket |      buckets of 64 bytes
//     +---------------------------------------------------------------+
//                           |  full, and k's filter bit set  ^
//                           +--------------------------------+
//
// A key goes to its first bucket; only when that is full, to its second, which is in the same region. Then
// one bit of the first bucket's overflow filter is set, chosen by the key. A lookup that fails in the
// first bucket goes on only if the key's bit is set. At load 0.9 an absent key reads 1.0x buckets. The filter
// is three spare bits of each slot's word (core/quotient_slot.hpp): no memory, no access of its own.
//
// The two buckets mirror each other: first + second = c(remainder), modulo the region's buckets. So either
// bucket and the slot determine the other bucket, and with the `2nd` bit the key.
//
// Invariants. (1) A key is stored once, in its first or second bucket, and the slot's `2nd` bit says which.
// (2) If it is in the second, its bit in the first bucket's filter is set; filter bits stay set until the
// table is swept or rebuilt. (3) While no erase runs, a slot that is taken stays taken. Two inserts of one
// key aim at the same first free slot of a bucket; one wins, the other finds the key, and no lock is needed.
//
// When both buckets are full, a displacement frees a slot along a path first(k) -> second(x) -> second(y) .. of keys that
// move to their other bucket (algorithm/displacement.hpp). Keys in their first bucket go first, if there are any.
//
// Safe to run at the same time: inserts with inserts, lookups with lookups, erases with erases.
// Built in bulk by tiled/build.hpp, and filled up by tiled/merge.hpp. Measured reasons: docs/measured/tiled.md.
#pragma once

#include <tilehash/algorithm/displacement.hpp>
#include <tilehash/algorithm/hash_route.hpp>
#include <tilehash/algorithm/partition.hpp>
#include <tilehash/algorithm/short_moves.hpp>
#include <tilehash/core/capacity.hpp>
#include <tilehash/core/item.hpp>
#include <tilehash/core/quotient_slot.hpp>
#include <tilehash/core/result.hpp>
#include <tilehash/designs/concepts.hpp>
#include <tilehash/designs/load_factor.hpp>
#include <tilehash/designs/tiled/combine.hpp>
#include <tilehash/designs/tiled/merge.hpp>
#include <tilehash/designs/tiled/merge_few.hpp>
#include <tilehash/space/bucket.hpp>
#include <tilehash/space/tuning.hpp>

#include <bit>

#include <tilehash/core/prologue.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE

/// The default design of map and set, for keys and values of up to 8 bytes each (docs/explain/tiled.md). Each
/// verb takes O(1) expected a key. Load factor: at most 0.98, and 0.96 for words of 16 bytes.
template <class Key, class Value>
class tiled {
 public:
  using slot_type = remainder_slot<Key, Value>;
  using key_type = Key;
  using mapped_type = Value;
  using hasher = murmur;
  using word = typename slot_type::word;
  using key_bits = typename slot_type::key_bits;
  using stored_key = typename slot_type::stored_key;
  static constexpr u32 bucket_slots = 64 / sizeof(word);
  template <class Tile>
  using bucket_type = bucket<slot_type, bucket_slots, Tile>;
  using buckets_type = detail::hashed_buckets<slot_type>;
  using route_type = typename buckets_type::route_type;

  template <class Space>
  using engine = tilehash::engine::insertion<tiled, Space>;

  static constexpr const char* name = "tiled";
  static constexpr u32 preferred_width = 4;
  static constexpr u32 filter_size = slot_type::filter_bits * (bucket_slots < 8 ? bucket_slots : 8);
  static constexpr bool is_partition_built = true;
  static constexpr double max_load_factor = detail::max_load_factor_of_two_buckets<bucket_slots>;
  // Buckets of a region: as many as a multiprocessor's memory can build. The number of items in a region
  // varies; its standard deviation is the root of its mean. Beyond these load factors some region would
  // overflow, so regions are larger there: they fill more evenly and are not built in bulk.
  static constexpr u64 max_region(double load_factor) {
    const double built_in_bulk = bucket_slots < 8 ? 0.9 : 0.96;
    using detail::tuning::table;
    if (load_factor > built_in_bulk) return table::unbuilt_region;
    return bucket_slots < 8 ? table::built_wide_region : table::built_region;
  }
  // The same for a table of so many buckets. More blocks build a table of smaller regions, which may overflow.
  static constexpr u64 largest_region(u64 buckets, double load_factor) {
    using table = detail::tuning::table;
    const u64 most = max_region(load_factor), even = detail::divide_up(buckets, table::few_regions),
              least = load_factor > 0.8 ? most / 4 : table::least_region_slots / bucket_slots;
    if (buckets <= most || even >= most || load_factor > 0.85) return most;
    return even > least ? even : least;
  }
  static constexpr u32 max_path = bucket_slots < 8 ? 12 : 7;  // keys moved to place one item
  static constexpr u32 max_searches =
      bucket_slots < 8 ? 256 : 128;        // paths without a free slot before a key is refused
  static constexpr u32 max_rounds = 4096;  // tries in all, including those that met a lock

  // Whole regions of equal size.
  static u64 capacity_for(u64 items, double load_factor) {
    return whole_capacity(detail::slots_for(items, load_factor, max_load_factor), load_factor);
  }
  // At least `slots` slots, in whole regions.
  static u64 whole_capacity(u64 slots, double load_factor) {
    const u64 least = detail::divide_up(slots, bucket_slots);
    const u64 buckets = buckets_type::whole_regions(least, largest_region(least, load_factor));
    require_buckets(buckets);
    return buckets * bucket_slots;
  }
  static u64 bytes(u64 capacity) { return capacity * sizeof(word) + lock_words(capacity) * sizeof(u32); }

  tiled() = default;
  // Without memory it can still locate keys.
  tiled(void* memory, u64 capacity, u64 seed, double load_factor)
      : slots_(static_cast<word*>(memory)),
        locks_(memory == nullptr ? nullptr : reinterpret_cast<u32*>(slots_ + capacity)),
        buckets_(capacity / bucket_slots, largest_region(capacity / bucket_slots, load_factor), seed) {}

  // Changes the number of regions, in this memory. The hash and the size of a region stay.
  void reshape(void* memory, u64 regions) {
    require_buckets(regions * region_buckets());
    buckets_.set_regions(static_cast<u32>(regions));
    slots_ = static_cast<word*>(memory);
    locks_ = memory == nullptr ? nullptr : reinterpret_cast<u32*>(slots_ + capacity());
  }

  TILEHASH_FN u64 capacity() const { return buckets_.buckets() * bucket_slots; }
  TILEHASH_FN word* slots() const { return slots_; }
  TILEHASH_FN const route_type& route() const { return buckets_.route(); }  // from a key to its region
  TILEHASH_FN u32 regions() const { return buckets_.regions(); }
  TILEHASH_FN u32 region_buckets() const { return buckets_.region_buckets(); }
  TILEHASH_FN u32 region_slots() const { return region_buckets() * bucket_slots; }
  TILEHASH_FN u32* marks() const { return locks_; }  // a bit for each bucket, zero between kernels
  TILEHASH_FN word* region_at(u32 region) const { return slots_ + static_cast<u64>(region) * region_slots(); }

  // ---- where a key is stored ----
  struct location {
    u32 base;    // the region's first bucket
    u32 bucket;  // within the region
    stored_key stored;
  };
  TILEHASH_FN key_bits hash(key_bits key) const { return buckets_.hash(key); }
  TILEHASH_FN key_bits unhash(key_bits h) const { return buckets_.unhash(h); }
  TILEHASH_FN u32 region_of(key_bits h) const { return buckets_.region_of(h); }
  TILEHASH_FN location location_of(key_bits h) const { return location_at(buckets_.position_of(h), h); }
  TILEHASH_FN location locate(key_bits key) const {
    const key_bits h = hash(key);
    return location_at(buckets_.position_in_table(h), h);
  }
  TILEHASH_FN u32 where(const location& p) const { return p.base + p.bucket; }
  TILEHASH_FN word* bucket_at(u64 i) const { return slots_ + i * bucket_slots; }
  TILEHASH_FN const word* address(const location& p) const { return bucket_at(where(p)); }
  TILEHASH_FN static stored_key stored(const location& p, key_bits) { return p.stored; }
  TILEHASH_FN static constexpr u32 max_steps() { return 2; }
  // To the key's other bucket.
  TILEHASH_FN void advance(location& p, const auto& /*result*/) const { turn(p); }
  TILEHASH_FN void turn(location& p) const {
    p.bucket = mirror(p.bucket, p.stored);
    p.stored ^= 2;
  }

  // The other bucket, within the region, of a key that is stored as `n` in bucket `b`.
  TILEHASH_FN u32 mirror(u32 b, stored_key n) const {
    return buckets_.mirrored(buckets_type::scale(scramble(slot_type::remainder_of(n)), region_buckets()), b);
  }
  // The overflow filter's bit for a key, as slot and bit within the slot's word.
  struct filter_bit {
    u32 slot, at;
  };
  // It uses the remainder's low bits, on which the choice of the bucket does not depend.
  TILEHASH_FN static filter_bit filter_for(stored_key n) {
    const u32 r = static_cast<u32>(slot_type::remainder_of(n));
    constexpr u32 slots = bucket_slots < 8 ? bucket_slots : 8;
    return {r % slots, slot_type::filter_shift + ((r / slots % 256 * slot_type::filter_bits) >> 8)};
  }
  // The same as a number below filter_size.
  TILEHASH_FN static u32 filter_index(stored_key n) {
    const filter_bit f = filter_for(n);
    return f.slot * slot_type::filter_bits + f.at - slot_type::filter_shift;
  }

  // The first bucket of a key that is stored as `n` in a bucket.
  TILEHASH_FN u32 first_bucket(u32 bucket, stored_key n) const {
    return slot_type::is_second(n) ? mirror(bucket, n) : bucket;
  }
  // The hash of a key that is stored as `n` in a bucket of a region: the inverse of place_of().
  TILEHASH_FN key_bits hash_in(u32 region, u32 bucket, stored_key n) const {
    return buckets_.hash_of(region, first_bucket(bucket, n), slot_type::remainder_of(n));
  }
  // The same for many of one region: hash(first bucket, remainder).
  using region_hashes = typename buckets_type::hashes_in;
  TILEHASH_FN region_hashes hashes_in(u32 region) const { return {buckets_, region}; }
  // The key in a slot of the table.
  TILEHASH_FN key_bits key_at(u64 slot, word w) const {
    const u64 bucket = slot / bucket_slots;
    return unhash(hash_in(static_cast<u32>(bucket / region_buckets()),
                          static_cast<u32>(bucket % region_buckets()), slot_type::stored_in(w)));
  }

  // ---- lookup ----
  template <class Tile>
  TILEHASH_FN auto examine(Tile t, const bucket_type<Tile>& b, stored_key wanted) const {
    auto a = b.look_up(t, wanted);
    const filter_bit f = filter_for(wanted);
    const bool overflowed = b.bit(t, f.slot, f.at);
    if (a.what != lookup_state::found && overflowed && !slot_type::is_second(wanted))
      a.what = lookup_state::go_on;
    return a;
  }

  // ---- change ----
  // With a free slot here, and unless the filter says that the key may be in its second bucket, the key is
  // here or absent.
  template <class Tile>
  TILEHASH_FN insert_position<word> examine_for_insert(Tile t, const bucket_type<Tile>& b,
                                                       stored_key wanted) const {
    const filter_bit f = filter_for(wanted);
    const auto at = b.find_own_or_free(t, wanted, static_cast<u32>(slot_type::remainder_of(wanted)));
    const bool overflowed = b.bit(t, f.slot, f.at, !at.own);
    return {at.own                   ? lookup_state::found
            : at.free && !overflowed ? lookup_state::absent
                                     : lookup_state::go_on,
            at.free, at.slot, at.content};
  }
  // Called before a key is put into its second bucket. `Alone`: no other thread works on the table.
  template <bool Alone = false>
  TILEHASH_FN void passes(const location& first) const {
    const filter_bit f = filter_for(first.stored);
    if (Alone || (detail::load_relaxed(mark_at(where(first), f.slot)) >> (f.at - mark_shift) & 1) == 0)
      set_filter<Alone>(where(first), f);
  }

  // Goes on as a lookup does. (An insert also goes on if the first bucket has no free slot.)
  template <class Tile>
  TILEHASH_FN erase_position<word> examine_for_erase(Tile t, const bucket_type<Tile>& b,
                                                     stored_key wanted) const {
    const filter_bit f = filter_for(wanted);
    const auto at = b.find_own(t, wanted);
    const bool overflowed = b.bit(t, f.slot, f.at);
    return {at.found                                      ? lookup_state::found
            : overflowed && !slot_type::is_second(wanted) ? lookup_state::go_on
                                                          : lookup_state::absent,
            at.slot, at.content};
  }
  // The filter bits belong to the bucket and stay.
  TILEHASH_FN static word vacated(const erase_position<word>& result) {
    return slot_type::filter_of(result.old);
  }

  // ---- sweep ----
  TILEHASH_FN static word unmarked(u64 /*slot*/, word w) {
    return static_cast<word>(w & ~slot_type::filter_mask);
  }
  TILEHASH_FN void mark(const location& first) const { passes(first); }
  TILEHASH_FN static bool is_home(word w) { return !slot_type::is_second(slot_type::stored_in(w)); }
  TILEHASH_FN location home_of(u64 slot, word w) const {
    const u32 at = static_cast<u32>(slot / bucket_slots), bucket = at % region_buckets();
    const stored_key n = slot_type::stored_in(w);
    return {at - bucket, first_bucket(bucket, n), static_cast<stored_key>(n & ~stored_key(2))};
  }
  bool sweeps_after(u64 erased, u64 items) const {
    return erased >= (detail::marks_cost_little(capacity(), items) ? capacity() : capacity() / 4);
  }

  // Build a region from its items; combine the values of equal keys, too; add items to a region that holds many more.
  template <class Bins = detail::even_bins<word>, bool Assigns = false>
  using region_build = detail::tiled_build<tiled, Bins, Assigns>;
  template <class Op>
  using region_combine = detail::tiled_combining_build<tiled, Op>;
  template <class Bins = detail::even_bins<word>, bool Assigns = false>
  using region_merge = detail::tiled_merge<tiled, Bins, Assigns>;
  using region_merge_few = detail::tiled_merge_few<tiled>;

  // Frees a slot for a key whose buckets are full, by moving other keys.
  using displacement = detail::displacement<tiled, max_path>;
  using displacement_among_inserts = detail::displacement<tiled, max_path, true>;
  template <class Displacement = displacement>
  TILEHASH_FN Displacement displacement_of(key_bits key, word content) const {
    return displacement_from<Displacement>(locate(key), key, content);
  }
  template <class Displacement = displacement>
  TILEHASH_FN Displacement displacement_from(const location& first, key_bits key, word content) const {
    location second = first;
    turn(second);
    const auto target = [&](const location& p) {
      return typename Displacement::target{where(p), p.stored,
                                           slot_type::make(p.stored, slot_type::value_of(content))};
    };
    return {*this, first, target(first), target(second), mix64(static_cast<u64>(key))};
  }

 private:
  static void require_buckets(u64 buckets) {
    detail::require(buckets < (u64(1) << 32), "tiled has at most 2^32 buckets; ask for fewer items");
  }
  TILEHASH_FN static location location_at(const typename buckets_type::position& at, key_bits h) {
    return {at.base, at.bucket, slot_type::stored_as(h & slot_type::remainder_mask, false)};
  }
  static constexpr u64 lock_words(u64 capacity) { return detail::divide_up(capacity / bucket_slots, 32); }
  TILEHASH_FN static u32 scramble(key_bits remainder) {
    u32 x = static_cast<u32>(remainder);
    if constexpr (sizeof(key_bits) == 8) x ^= static_cast<u32>(remainder >> 32) * 0xc2b2ae35U;
    x *= 0x9e3779b1U;
    return x ^ x >> 15;
  }
  // A slot's mark: the 32 bits of its word that have `used` and the filter. A free slot's other bits are zero.
  using mark_type [[gnu::may_alias]] = u32;
  static constexpr u32 mark_shift = slot_type::filter_shift / 32 * 32;
  TILEHASH_FN mark_type* mark_at(u64 bucket, u32 slot) const {
    constexpr u32 n = mark_shift / 32, last = sizeof(word) / 4 - 1;
    return reinterpret_cast<mark_type*>(bucket_at(bucket) + slot) +
           (std::endian::native == std::endian::little ? n : last - n);
  }
  template <bool Alone = false>
  TILEHASH_FN void set_filter(u32 bucket, filter_bit f) const {
    mark_type* const at = mark_at(bucket, f.slot);
    const mark_type bit = mark_type(1) << (f.at - mark_shift);
    Alone ? void(*at |= bit) : detail::set_bits(at, bit);
  }

  // ---- used by the displacement ----
  friend displacement;
  friend displacement_among_inserts;
  friend detail::short_moves<tiled>;
  template <class D, class Threads>
  friend class detail::moves_together;
  TILEHASH_FN u32* locks() const { return locks_; }
  TILEHASH_FN u32 other_bucket(const location& home, u32 bucket, word w) const {
    return home.base + mirror(bucket - home.base, slot_type::stored_in(w));
  }
  TILEHASH_FN static word in_other_bucket(word w) {
    return slot_type::make(slot_type::stored_in(w) ^ 2, slot_type::value_of(w));
  }
  template <bool Alone = false>
  TILEHASH_FN void leaves(u32 bucket, word w) const {
    const stored_key n = slot_type::stored_in(w);
    if (!slot_type::is_second(n)) set_filter<Alone>(bucket, filter_for(n));
  }
  template <class Tile>
  TILEHASH_FN static u32 free_in(Tile t, const bucket_type<Tile>& b) {
    return b.match_empty(t);
  }
  template <class Tile>
  TILEHASH_FN static u32 movable_in(Tile t, const bucket_type<Tile>& b) {  // keys in their first bucket
    return ~b.with_bit(t, slot_type::second_shift) & ((1U << bucket_slots) - 1);
  }
  TILEHASH_FN static bool same(word a, word b) { return ((a ^ b) & ~slot_type::filter_mask) == 0; }
  // Keeps the slot's filter bits, which other lanes may set meanwhile.
  template <bool Alone = false>
  TILEHASH_FN static bool replace(word* at, word old, word content, bool was_free) {
    if constexpr (Alone) {
      *at = static_cast<word>(slot_type::filter_of(*at) | content);
      return true;
    } else {
      for (;;) {  // again at most once per filter bit
        const word seen =
            detail::compare_and_swap(at, old, static_cast<word>(slot_type::filter_of(old) | content));
        if (seen == old) return true;
        if (was_free && !slot_type::is_free(seen)) return false;
        old = seen;
      }
    }
  }
  template <class Tile>
  TILEHASH_FN void load_marks(Tile t, u32 bucket, u32 (&marks)[bucket_slots], bool active) const {
    TILEHASH_UNROLL
    for (u32 k = 0; k < bucket_slots; ++k) {
      u32 one[1];
      t.template load_stale<1>(mark_at(bucket, k), one, active);
      marks[k] = one[0];
    }
  }
  TILEHASH_FN static bool is_free_mark(u32 mark) { return slot_type::is_free(free_word(mark)); }
  TILEHASH_FN static word free_word(u32 mark) { return static_cast<word>(word(mark) << mark_shift); }

  word* slots_ = nullptr;
  u32* locks_ = nullptr;
  buckets_type buckets_;
};
static_assert(probe_inserting<tiled<u32, u32>> && displacing<tiled<u32, u32>> && erasable<tiled<u32, u32>> &&
              partition_built<tiled<u32, u32>> && steady<tiled<u32, u32>> &&
              requires(tiled<u32, u32> d, tiled<u32, u32>::location p, tiled<u32, u32>::word w) {
                d.reshape(nullptr, 1);
                d.passes(p);
                d.unmarked(u64(0), w);
                d.sweeps_after(u64(0), u64(0));
                d.home_of(u64(0), w);
                d.is_home(w);
              });

TILEHASH_END_ABI_NAMESPACE
TILEHASH_PUBLIC(tiled);
}  // namespace tilehash

#include <tilehash/core/epilogue.hpp>

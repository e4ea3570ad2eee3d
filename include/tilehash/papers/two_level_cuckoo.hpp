// SPDX-License-Identifier: Apache-2.0
// Two-level cuckoo hashing: small cuckoo tables, each built in block-local memory.
//
//   key k -- hash --> region r                    | 0 | 1 | 0 | 0 | 2 |      a seed each, one byte
//                        |                                  |
//   | region 0 | region 1 | region 2 | ...                  v
//                         /          |    first, second, third spot of k under that seed
//                        | . a . k b . . c . d . |            a slot is one word: key and value
//
// A hash distributes the keys over regions of equal size. Each region is a cuckoo table with hash functions
// of its own: three spots a key, all in the region. The items are partitioned, so that memory is written in
// runs. Then a block builds its regions in its own memory and writes them once, in order
// (papers/two_level_cuckoo/build.hpp). A region that cannot be built under one seed is rebuilt, alone, under
// the next. If every seed fails, because the partition has overfilled a region, the build restarts with
// another hash. The table cannot be changed after the build; building again replaces it.
//
// Invariants. (1) A key is stored at most once, in one of its three spots. (2) No spot before it is `empty`:
// a key goes to the first empty one, and a taken slot never becomes empty. So a lookup ends at the key, at an
// empty slot, or after three. (If equal keys met in the build, the slots of those that were dropped are
// marked `erased`, and lookups pass them.)
//
// `Capacity` is the paper's C: the items that a region may have, in 9/8 as many slots. A larger one fills
// regions more evenly, and allows a higher load factor:
//
//   Capacity   slots   filled to   highest load factor
//        512     576      80 %          0.711
//       1024    1152      85 %          0.755
//       2048    2304      90 %          0.8              the default
//       8192    9216      95 %          0.844
//
// Unlike in the paper, each of a region's three functions covers all of its slots, not a third of them. So
// more keys are found at their first spot (the paper's section 5.5 names this cost of subtables). Spots are
// tried in order, so that most failed lookups end before the third.
//
// Concurrency: any number of lookups.
//
// Source: D. Alcantara, Efficient Hash Tables on the GPU, PhD thesis, UC Davis 2011, chapter 5.
#pragma once

#include <string>

#include <tilehash/core/capacity.hpp>
#include <tilehash/core/hash.hpp>
#include <tilehash/core/result.hpp>
#include <tilehash/designs/concepts.hpp>
#include <tilehash/engine/built_once.hpp>
#include <tilehash/papers/two_level_cuckoo/build.hpp>
#include <tilehash/space/bucket.hpp>

#include <tilehash/core/prologue.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace papers {

template <class Key, class Value, u32 Capacity = 2048, class Hash = murmur>
class two_level_cuckoo {
  static_assert(Capacity >= 512 && Capacity <= 65536 && (Capacity & (Capacity - 1)) == 0,
                "tilehash: a region has 512, 1024, 2048 ... 65536 items");

 public:
  using slot_type = slot<Key, Value>;
  using key_type = Key;
  using mapped_type = Value;
  using hasher = Hash;
  using word = typename slot_type::word;
  using key_bits = typename slot_type::key_bits;
  template <class Tile>
  using bucket_type = bucket<slot_type, 1, Tile>;

  template <class Space>
  using engine = tilehash::engine::built_once<two_level_cuckoo, Space>;

  static constexpr const char* name = "two_level_cuckoo";
  static constexpr u32 preferred_width = 1;
  static constexpr u32 region_items = Capacity;
  static constexpr u32 most_slots = Capacity / 8 * 9;  // of a region
  static constexpr u32 least_slots = 16;
  static constexpr u32 max_seeds = 32;  // tried for a region before its partition is given up
  // A region's expected items, in percent of those that it may have.
  static constexpr u32 target = Capacity < 1024 ? 80 : Capacity < 2048 ? 85 : Capacity < 8192 ? 90 : 95;
  static constexpr double max_load_factor = static_cast<double>(target * Capacity) / (100.0 * most_slots);

  // Slots for `items` at `load_factor`, in regions of equal size.
  static u64 capacity_for(u64 items, double load_factor) {
    if (!(load_factor > 0 && load_factor <= max_load_factor))
      detail::refuse("the load factor must be above 0 and at most " + std::to_string(max_load_factor) +
                     " in a two_level_cuckoo table with regions of " + std::to_string(Capacity) + " items");
    u64 slots = detail::slots_for(items, load_factor);
    if (slots < least_slots) slots = least_slots;
    const u64 regions = detail::divide_up(slots, most_slots);
    detail::require(regions < (u64(1) << 32),
                    "two_level_cuckoo has at most 2^32 regions; ask for fewer items");
    return regions * detail::divide_up(slots, regions);
  }
  static u64 bytes(u64 capacity) { return capacity * sizeof(word) + regions_of(capacity); }

  two_level_cuckoo() = default;
  two_level_cuckoo(void* memory, u64 capacity, u64 seed, double /*load_factor*/ = 0)
      : slots_(static_cast<word*>(memory)),
        seeds_(reinterpret_cast<u8*>(slots_ + capacity)),
        regions_(static_cast<u32>(regions_of(capacity))),
        region_slots_(static_cast<u32>(capacity / regions_)),
        hash_(seed) {}

  TILEHASH_FN u64 capacity() const { return static_cast<u64>(regions_) * region_slots_; }
  TILEHASH_FN word* slots() const { return slots_; }
  TILEHASH_FN u8* seeds() const { return seeds_; }  // of the regions
  TILEHASH_FN u32 regions() const { return regions_; }
  TILEHASH_FN u32 region_slots() const { return region_slots_; }
  TILEHASH_FN word* region_at(u32 region) const { return slots_ + static_cast<u64>(region) * region_slots_; }

  // ---- the spots of a key ----
  TILEHASH_FN u64 hash(key_bits k) const { return hash_(slot_type::hash_input(k)); }
  TILEHASH_FN u32 region_of(u64 h) const {
    return static_cast<u32>(((h >> 32) * static_cast<u64>(regions_)) >> 32);
  }
  // The bits of a hash that determine its spots.
  TILEHASH_FN static u32 spot_bits(u64 h) { return static_cast<u32>(h >> 32) ^ static_cast<u32>(h); }
  struct spots {
    u32 at[3];  // slots of the region
  };
  TILEHASH_FN spots spots_of(u32 bits, u32 seed) const {
    const u64 g = mix64(bits ^ (seed + u64(1)) * 0x9e37'79b9'7f4a'7c15);
    const u64 first = (g >> 32) * region_slots_;  // its fraction selects the second
    const u64 second = static_cast<u64>(static_cast<u32>(first)) * region_slots_;
    const u64 third = static_cast<u64>(static_cast<u32>(g)) * region_slots_;
    return {static_cast<u32>(first >> 32), static_cast<u32>(second >> 32), static_cast<u32>(third >> 32)};
  }

  // ---- lookup: at most three slots ----
  struct location {
    u64 base;  // the region's first slot
    u32 now, next, last;
  };
  // Reads the region's seed: the seeds are so few bytes that they stay in a cache.
  TILEHASH_FN location locate(key_bits k) const {
    const u64 h = hash(k);
    const u32 region = region_of(h);
    const spots s = spots_of(spot_bits(h), seeds_[region]);
    return {static_cast<u64>(region) * region_slots_, s.at[0], s.at[1], s.at[2]};
  }
  TILEHASH_FN static key_bits stored(const location&, key_bits k) { return k; }
  TILEHASH_FN static key_bits key_at(u64 /*slot*/, word w) { return slot_type::key_of(w); }
  TILEHASH_FN u64 where(const location& p) const { return p.base + p.now; }
  TILEHASH_FN word* bucket_at(u64 i) const { return slots_ + i; }
  TILEHASH_FN const word* address(const location& p) const { return bucket_at(where(p)); }
  TILEHASH_FN static void advance(location& p, const auto& /*result*/) { p.now = p.next, p.next = p.last; }
  TILEHASH_FN static constexpr u32 max_steps() { return 3; }

  template <class Tile>
  TILEHASH_FN auto examine(Tile t, const bucket_type<Tile>& b, key_bits wanted) const {
    auto a = b.look_up(t, wanted);
    const bool end = b.has_empty(t);
    if (a.what != lookup_state::found && !end) a.what = lookup_state::go_on;
    return a;
  }

  // ---- build (papers/two_level_cuckoo/build.hpp): O(n) ----
  // Fills all slots from the n items of the source; keys that look like the marks of free slots go to the
  // sentinel cells.
  template <class Space, class Source>
  build_result build(Space& space, const Source& source, u64 n,
                     const detail::sentinel_cells<slot_type>& sentinels) const {
    return detail::build_two_level(space, *this, source, n, sentinels);
  }

 private:
  static u64 regions_of(u64 capacity) { return detail::divide_up(capacity, most_slots); }

  word* slots_ = nullptr;
  u8* seeds_ = nullptr;
  u32 regions_ = 1;
  u32 region_slots_ = least_slots;
  Hash hash_;
};

static_assert(bucketed<two_level_cuckoo<u32, u32>>);

}  // namespace papers
TILEHASH_END_ABI_NAMESPACE
TILEHASH_PUBLIC_NAMESPACE(papers);
}  // namespace tilehash

#include <tilehash/core/epilogue.hpp>

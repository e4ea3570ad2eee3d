// SPDX-License-Identifier: Apache-2.0
// Concepts for the capabilities of a design. A table offers the verbs whose concepts its design satisfies.
// Each design asserts its intended concepts and its optional members by a static_assert at its end. A
// misspelt member then fails to compile instead of removing a verb, or a faster way.
#pragma once

#include <concepts>

#include <tilehash/core/bits.hpp>
#include <tilehash/core/config.hpp>
#include <tilehash/core/result.hpp>
#include <tilehash/space/solo_tile.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE

// Engines: how tables of a design own memory and change it. A design names one of these:
//   template <class Space> using engine = engine::insertion<this_design, Space>;
namespace engine {
template <class Design, class Space>
class insertion;  // changed in place
template <class Design, class Space>
class built_once;  // built from all items at once
template <class Design, class Space>
class rows;  // rows with free entries between them
template <class Design, class Space>
class records;  // keys and values of any size behind a table of ids
template <class Design, class Space>
class multi;  // all values of a key contiguous
template <class Design, class Space>
class subtables;  // changed in place, one subtable resized at a time
}  // namespace engine

namespace detail {
template <class D>
using solo_bucket = typename D::template bucket_type<solo_tile>;
template <class D>
using stored_key_of = typename D::slot_type::stored_key;
// The result of examine().
template <class D>
using answer_of = decltype(std::declval<const D&>().examine(
    solo_tile{}, std::declval<const solo_bucket<D>&>(),
    std::declval<const D&>().stored(typename D::location{}, typename D::key_bits{})));
}  // namespace detail

// A trivially copyable view for lookups, which read whole buckets. locate() is arithmetic, address() the
// memory to prefetch. A tile reads many buckets before it examines the first. So examine() gets the stored
// key, which is the key as this bucket stores it. advance() goes to the next bucket, which the result of
// examine() may name. Optional:
//   max_steps_of(location)   the number of buckets for this key in all, where advance() has learnt it
//   lookups_at_once          neighbouring keys are in neighbouring memory. So where preferred_width is 1, each
//                            lane looks up so many keys by itself, and a CPU prefetches nothing for neighbours
//   holds(i, word)           false for an occupied slot that holds no item (a remap entry, for example). Such a
//                            word comes after the items of its bucket. It may look like any key, as long as
//                            examine() does not match it.
template <class D>
concept bucketed =
    std::is_trivially_copyable_v<D> && requires(const D d, detail::solo_bucket<D> b, typename D::key_bits k,
                                                typename D::location p, detail::answer_of<D> result) {
      { d.locate(k) } -> std::same_as<typename D::location>;
      { d.address(p) } -> std::convertible_to<const void*>;
      {
        d.examine(solo_tile{}, b, d.stored(p, k))
      } -> std::convertible_to<lookup_answer<typename D::slot_type::value_bits>>;
      d.advance(p, result);
      { d.max_steps() } -> std::convertible_to<u32>;
    };

namespace detail {
// The most buckets that a lookup may read: for any key, or for this key where its first bucket limits them.
template <bucketed Design>
TILEHASH_FN u32 max_steps_of(const Design& design, const typename Design::location& p) {
  if constexpr (requires { design.max_steps_of(p); })
    return design.max_steps_of(p);
  else
    return design.max_steps();
}
// How many keys a lane of a GPU looks up at once by itself; 0: a tile reads each bucket together.
template <bucketed Design>
constexpr u32 lookups_alone() {
  if constexpr (Design::preferred_width == 1 && requires { Design::lookups_at_once; })
    return Design::lookups_at_once;
  else
    return 0;
}
}  // namespace detail

// The values are in arrays of their own (core/apart_slot.hpp), so that a bucket has keys alone:
//   value_at(at)   the value of the key whose word is at `at`
//   values_of(location)   the values of the bucket at this location, in the order of its slots
//   combine(at, given, op)   replaces that value by op(stored, given); safe against concurrent changes of it
//   has_memory()       false for the design of a moved-from table, whose lookups read nothing
//                      (table_view.hpp)
// While keys are inserted, a key may be in its slot before its value is written; an item that meets such a
// key stays pending.
template <class D>
concept values_apart = bucketed<D> && requires(const D d, typename D::word* at, typename D::location p) {
  d.value_at(at);
  d.values_of(p);
  { d.has_memory() } -> std::same_as<bool>;
};

// A lookup walks a row of entries; row() reads the row's bounds. A moved-from table's design has no memory,
// and then only has_memory() is called (table_view.hpp). Optional:
//   holds(i)   where items are stored among empty slots: does slot i of the `capacity` slots hold an item?
template <class D>
concept rowed = std::is_trivially_copyable_v<D> && requires(const D d, typename D::key_type k, void* memory) {
  { d.row(d.locate(k)) } -> std::same_as<typename D::range>;
  d.hit(k, d.row(d.locate(k)));
  { d.moved_to(memory) } -> std::same_as<D>;  // the same table in a copy of its memory
  { d.has_memory() } -> std::same_as<bool>;
};

namespace detail {
template <bucketed Design>
TILEHASH_FN bool holds_item(const Design& design, u64 i, typename Design::word w) {
  if constexpr (requires { design.holds(i, w); })
    return design.holds(i, w);
  else
    return !Design::slot_type::is_free(w);
}
}  // namespace detail

// An insert walks the key's buckets, as a lookup does, and claims the first free slot on the way.
// examine_for_insert() returns whether a bucket has a free slot, and whether the key may be in a later
// bucket. Its result may derive from insert_position to pass more to advance(). Optional:
//   passes(home)     called before a key is put into another bucket than its first
//   may_take(location)  false: the key may take no free slot here
template <class D>
concept probe_inserting = bucketed<D> && requires(const D d, detail::solo_bucket<D> b, typename D::key_bits k,
                                                  typename D::location p) {
  {
    d.examine_for_insert(solo_tile{}, b, d.stored(p, k))
  } -> std::convertible_to<insert_position<typename D::word>>;
  d.advance(p, d.examine_for_insert(solo_tile{}, b, d.stored(p, k)));
};

namespace detail {
// A lookup's answer, with the key's slot for a lane that changes it.
template <bucketed D>
struct answered_slot : answer_of<D> {
  bool free = false;         // no free slot for the key is known
  u32 slot = 0;              // of the bucket, where the key was found
  typename D::word old = 0;  // the word in that slot
};
template <bucketed D, class Tile, class Bucket>
TILEHASH_FN answered_slot<D> examine_for_slot(const D& design, Tile t, const Bucket& b,
                                              stored_key_of<D> wanted) {
  answered_slot<D> p{design.examine(t, b, wanted)};
  const u32 here = b.match(t, wanted);
  p.slot = here != 0 ? lowest(here) : 0;
  p.old = b.at(t, p.slot);
  return p;
}
// A bucket's result for an insert: the design's own, or a lookup's where the walk only has to find the key.
template <bucketed D, class Tile, class Bucket>
TILEHASH_FN auto examine_for_insert(const D& design, Tile t, const Bucket& b, stored_key_of<D> wanted) {
  if constexpr (probe_inserting<D>)
    return design.examine_for_insert(t, b, wanted);
  else
    return examine_for_slot(design, t, b, wanted);
}
template <bucketed D>
using insert_position_of = decltype(examine_for_insert(
    std::declval<const D&>(), solo_tile{}, std::declval<const solo_bucket<D>&>(), stored_key_of<D>{}));
}  // namespace detail

// The design inserts by its own rules, one try at a time, at most max_rounds tries. A try may move other
// keys, unless the design sets `keys_stay`.
template <class D>
concept self_inserting =
    bucketed<D> && requires(const D d, typename D::key_bits k, typename D::slot_type::value_bits v) {
      {
        d.insert(solo_tile{}, k, v, true)
      } -> std::same_as<insert_result<typename D::key_bits, typename D::slot_type::value_bits>>;
      { D::max_rounds } -> std::convertible_to<u32>;
    };

// Its slots are changed in place.
template <class D>
concept changed_in_place = probe_inserting<D> || self_inserting<D>;

// Keys can be inserted and values updated: in the slots, or by an engine of the design's own (engine_inserts).
template <class D>
concept insertable = changed_in_place<D> || D::engine_inserts;

// An insert may end with another key evicted. That key goes on by
//   insert(tile, key, value, active, evicted)   evicted: an earlier try of this item evicted the key
// No other insert may put that key in meanwhile. For example, the try that evicts it keeps a lock of it, and
// the try that ends its relocation gives the lock back. An item that cannot be placed returns `full` before
// it evicts another. A key that is still evicted after max_rounds makes the engine rebuild the table, even
// one that may not grow. Where there is no memory for that, the engine puts keys back (engine/put_back.hpp),
// while nothing else runs on the table, by
//   drop(key)        gives up this key, which is evicted
//   marks()          mark_words() words of the table's memory, with a bit for each bucket
//   none_evicted(i)  restores the i-th of these words to the design's own state; no key is evicted
// and, in exact_placement, by locate(), where() and next() or advance(): a key may be stored in any of
// max_steps() buckets, in any slot (of item_slots, where the design has such a mask).
template <class D>
concept replacing = self_inserting<D> && D::replaces_keys && requires(const D d, typename D::key_bits k) {
  d.drop(k);
  { d.marks() } -> std::same_as<u32*>;
  { d.mark_words() } -> std::convertible_to<u64>;
  d.none_evicted(u64(0));
};

namespace detail {
// A bucket's result for an erase: the design's own, or else its result for an insert or a lookup.
template <bucketed D, class Tile, class Bucket>
TILEHASH_FN auto examine_for_erase(const D& design, Tile t, const Bucket& b, stored_key_of<D> wanted) {
  if constexpr (requires { design.examine_for_erase(t, b, wanted); })
    return design.examine_for_erase(t, b, wanted);
  else
    return examine_for_insert(design, t, b, wanted);
}
template <bucketed D>
using erase_position_of = decltype(examine_for_erase(
    std::declval<const D&>(), solo_tile{}, std::declval<const solo_bucket<D>&>(), stored_key_of<D>{}));
}  // namespace detail

// An erase walks the key's buckets, as a lookup does. It swaps the word in the key's slot for
// vacated(result): an empty slot, a tombstone where lookups must not stop, or the bits of the word that
// belong to the bucket.
// `result` is the bucket's result. Optional:
//   examine_for_erase(tile, bucket, stored)   this result, an erase_position; without it, the bucket's result
//                                             for an insert, or a lookup
//   erased(home, now, result)                 called once a key is erased: its walk began at `home`, and it
//                                             was stored in the bucket at `now`
//   unmarked(i, word), mark(location), sweeps_after(erased, items)   remove what erases leave
//                                             (kernel/sweep.hpp)
template <class D>
concept erases_in_place =
    bucketed<D> && requires(const D d, typename D::location p, detail::erase_position_of<D> result) {
      { d.vacated(result) } -> std::same_as<typename D::word>;
      d.advance(p, result);
    };

// Keys can be erased: in the slots, or by an engine of the design's own (engine_erases).
template <class D>
concept erasable = erases_in_place<D> || D::engine_erases;

// Items that found no free slot may still be placed, by moving other keys.
template <class D>
concept displacing =
    insertable<D> && requires(const D d, typename D::key_bits k, typename D::slot_type::value_bits v) {
      { d.displacement_of(k, D::slot_type::pack(k, v)).run(solo_tile{}, true) } -> std::same_as<outcome>;
    };

// After erases, other keys may move nearer to the bucket where their lookups start. erased() sets a bit of
// due() for each bucket in which that is possible, and tidy() handles one. Optional:
//   tidy_passes   passes each time, where a key that moves frees a slot for others
//   tidy_width    lanes of the tile that handles a bucket, where that is not preferred_width
template <class D>
concept tidying = erasable<D> && requires(const D d) {
  d.tidy(solo_tile{}, u32(0), true);
  { d.due() } -> std::same_as<u32*>;
  { d.due_words() } -> std::same_as<u64>;
  { d.tidies_after(u64(0)) } -> std::same_as<bool>;  // erases since the last pass
};

// While keys are inserted, lookups find every key, and no key moves; values may change meanwhile.
template <class D>
concept steady = !values_apart<D> && (probe_inserting<D> || (self_inserting<D> && D::keys_stay));

// Partitioning the items and building region by region fills an empty table of this design fastest. It has one
// of these:
//   region_build<Bins>   a block's build of a region (engine/region_fill.hpp), with regions() and region_slots()
//   bulk_build()         steps of its own over the whole table:
//     .pays(space, n)    is it worth it for n items? Also called on a design without memory
//     .run(space, source, n, spill, illegal, inserted)   puts them into an empty table, whose slots may hold
//                        anything; items that it does not place go to the spill
// Optional, with region_build:
//   region_merge<Bins>   a block's merge of few items into a region in place
//   region_erase<Bins, Count>, is_region_erased   a block's erase of many keys from a region, which it then
//                        tidies; `Bins` have the hashes of the keys, and Count{}(region, n) receives how many
//                        were erased (engine/region_erase.hpp)
//   reshape(memory, regions)   more or fewer regions of the same size, by the same hash; the keys of a region
//                        are in neighbouring regions afterwards (engine/region_resize.hpp). With it come
//                        whole_capacity(slots, load_factor), first_bucket(region, stored), hashes_in(region),
//                        whose result gives a key's bits for such a bucket and a stored key, and marks() as in
//                        `replacing`, zero between kernels
template <class D>
concept partition_built = insertable<D> && D::is_partition_built &&
                          (
                              requires(const D d) { d.bulk_build(); } ||
                              requires(const D d) {
                                typename D::template region_build<>;
                                { d.regions() } -> std::same_as<u32>;
                                { d.region_slots() } -> std::same_as<u32>;
                              });

// Keeps every item of a key that comes more than once.
template <class D>
concept multivalue = D::keeps_duplicates;

TILEHASH_END_ABI_NAMESPACE
TILEHASH_PUBLIC_NAMESPACE(engine);
}  // namespace tilehash

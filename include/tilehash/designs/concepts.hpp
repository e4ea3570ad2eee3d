// What a design can do. A table offers the verbs its design has the concepts for; each design proves by a
// static_assert at its end which of them it means to have, so that a misspelt member fails to compile and
// cannot make a verb vanish.
#pragma once

#include <concepts>

#include <tilehash/core/bits.hpp>
#include <tilehash/core/config.hpp>
#include <tilehash/core/result.hpp>
#include <tilehash/space/solo_tile.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE

// How tables of a design own their memory and change it. A design names one of these:
//   template <class Space> using engine = engine::insertion<this_design, Space>;
namespace engine {
template <class Design, class Space>
class insertion;  // changed in place
template <class Design, class Space>
class built_once;  // built from all items at once
template <class Design, class Space>
class rows;  // rows with room between them
template <class Design, class Space>
class records;  // keys and values of any size behind a table of ids
template <class Design, class Space>
class multi;  // all values of a key side by side
template <class Design, class Space>
class subtables;  // changed in place, one part of the memory resized at a time
}  // namespace engine

namespace detail {
template <class D>
using solo_bucket = typename D::template bucket_type<solo_tile>;
template <class D>
using stored_key_of = typename D::slot_type::stored_key;
// What examine() answers.
template <class D>
using answer_of = decltype(std::declval<const D&>().examine(
    solo_tile{}, std::declval<const solo_bucket<D>&>(),
    std::declval<const D&>().stored(typename D::place{}, typename D::key_bits{})));
}  // namespace detail

// A trivially copyable view that answers lookups: locate() is arithmetic, address() the memory that is asked
// for ahead of time.
template <class D>
concept locatable =
    std::is_trivially_copyable_v<D> && requires(const D d, typename D::key_bits k, typename D::place p) {
      { d.locate(k) } -> std::same_as<typename D::place>;
      { d.address(p) } -> std::convertible_to<const void*>;
    };

// A lookup reads whole buckets. examine() judges one by the stored key, what the key looks like in it, as the
// tile reads many buckets before it examines the first; advance() goes to the next, which what was told may
// name. Optional:
//   max_steps_of(place)   where advance() has learnt how far this key's buckets may go: so many, in all
template <class D>
concept bucketed = locatable<D> && requires(const D d, detail::solo_bucket<D> b, typename D::key_bits k,
                                            typename D::place p, detail::answer_of<D> told) {
  {
    d.examine(solo_tile{}, b, d.stored(p, k))
  } -> std::convertible_to<lookup_answer<typename D::slot_type::value_bits>>;
  d.advance(p, told);
  { d.max_steps() } -> std::convertible_to<u32>;
};

// Neighbouring lanes of a GPU ask for neighbouring memory, so each looks so many keys up alone, and no tile
// reads a bucket together.
template <class D>
concept looked_up_alone = bucketed<D> && D::preferred_width == 1 && requires {
  { D::lookups_at_once } -> std::convertible_to<u32>;
};

namespace detail {
// Buckets that a lookup may read: of any key, or, where the first bucket has told, of this one.
template <bucketed Design>
TILEHASH_FN u32 max_steps_of(const Design& design, const typename Design::place& p) {
  if constexpr (requires { design.max_steps_of(p); })
    return design.max_steps_of(p);
  else
    return design.max_steps();
}
}  // namespace detail

// Its values stand in arrays of their own (core/apart_slot.hpp), so that a bucket has keys alone:
//   value_beside(at)   the value of the key whose word stands at `at`
//   values_of(place)   the values of the bucket at this place, in the order of its slots
//   combine(at, given, op)   makes op(stored, given) of it, whatever others do to it meanwhile
//   has_memory()       false of a moved-from table's design, whose lookups must read nothing (table_view.hpp)
// While keys are put in, a key may stand in its slot before its value does: what meets such a key waits.
template <class D>
concept values_apart = bucketed<D> && requires(const D d, typename D::word* at, typename D::place p) {
  d.value_beside(at);
  d.values_of(p);
  { d.has_memory() } -> std::same_as<bool>;
};

// A lookup walks a row of entries: row() reads where it begins and ends. A moved-from table's design has no
// memory, and then nothing but has_memory() is asked of it (table_view.hpp).
template <class D>
concept rowed = std::is_trivially_copyable_v<D> && requires(const D d, typename D::key_type k, void* memory) {
  { d.row(d.locate(k)) } -> std::same_as<typename D::range>;
  d.hit(k, d.row(d.locate(k)));
  { d.moved_to(memory) } -> std::same_as<D>;  // the same table where its memory was copied to
  { d.has_memory() } -> std::same_as<bool>;
};

// Its items stand among empty slots: of the `capacity` many, slot i holds one where holds(i).
template <class D>
concept sparse = rowed<D> && requires(const D d) {
  { d.holds(0) } -> std::same_as<bool>;
};

// Some slots that are not free are no items either (remap entries, say): holds(i, word) tells. Behind the
// items of its bucket such a word may look like any key, as long as examine() does not take it for one.
template <class D>
concept holding = bucketed<D> && requires(const D d, typename D::word w) {
  { d.holds(u64(0), w) } -> std::same_as<bool>;
};

namespace detail {
template <bucketed Design>
TILEHASH_FN bool holds_item(const Design& design, u64 i, typename Design::word w) {
  if constexpr (holding<Design>)
    return design.holds(i, w);
  else
    return !Design::slot_type::is_free(w);
}
}  // namespace detail

// An insert walks the key's buckets, as a lookup does, and claims the first free slot on the way:
// examine_for_insert() says of each whether it has one, and whether the key may stand further on. What it
// gives may derive from insert_position and tell advance() more. Optional:
//   passes(home)     called before a key is put into another bucket than its first
//   may_take(place)  false: no free slot here is for it
template <class D>
concept probe_inserting = bucketed<D> && requires(const D d, detail::solo_bucket<D> b, typename D::key_bits k,
                                                  typename D::place p) {
  {
    d.examine_for_insert(solo_tile{}, b, d.stored(p, k))
  } -> std::convertible_to<insert_position<typename D::word>>;
  d.advance(p, d.examine_for_insert(solo_tile{}, b, d.stored(p, k)));
};

namespace detail {
// What a lookup's answer tells who is to change the slot of the key.
template <bucketed D>
struct answered_slot : answer_of<D> {
  bool free = false;         // none that the key may take is known
  u32 slot = 0;              // of the bucket, where the key was found
  typename D::word old = 0;  // what stands there
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
// What a bucket tells an insert: what the design says of it, or else, where the walk is only to find the key,
// what it tells a lookup.
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

// It inserts by rules of its own, a try at a time; at most max_rounds tries. A try may move other keys,
// unless the design says `keys_stay`.
template <class D>
concept self_inserting =
    bucketed<D> && requires(const D d, typename D::key_bits k, typename D::slot_type::value_bits v) {
      {
        d.insert(solo_tile{}, k, v, true)
      } -> std::same_as<insert_result<typename D::key_bits, typename D::slot_type::value_bits>>;
      { D::max_rounds } -> std::convertible_to<u32>;
    };

// It keeps keys and values behind a table of ids.
template <class D>
concept record_keeping = D::keeps_records;

// Its slots are changed in place.
template <class D>
concept changed_in_place = probe_inserting<D> || self_inserting<D>;

template <class D>
concept insertable = changed_in_place<D> || record_keeping<D>;

// Its inserts may end with another key in hand than they began with. That key goes on by
//   insert(tile, key, value, active, in_hand)   in_hand: an earlier try of this item took the key out
// and nobody else may put it in meanwhile: the try that takes it out keeps a lock of it, say, and the one
// that ends its way gives it back. An item that cannot be placed is told so (`full`) before it takes out
// another: what is in hand after max_rounds makes the engine build the table anew, even one that may not
// grow. Where there is no memory for that, the engine puts keys back (engine/put_back.hpp), while nothing
// else is at work on the table, by
//   drop(key)          this one, which is in hand, is given up
//   marks()            mark_words() words of the table's memory, with a bit for each bucket
//   none_in_hand(i)    the i-th of these is as the design wants it, and no key is in hand
// and, in exact_placement, by locate(), where() and next() or advance(): a key may stand in any of
// max_steps() buckets, in any slot (of item_slots, where the design has such a mask).
template <class D>
concept replacing = self_inserting<D> && D::replaces_keys && requires(const D d, typename D::key_bits k) {
  d.drop(k);
  { d.marks() } -> std::same_as<u32*>;
  { d.mark_words() } -> std::convertible_to<u64>;
  d.none_in_hand(u64(0));
};

// Its inserts never rebuild the table, so the host need not wait for them.
template <class D>
concept inserts_at_once = changed_in_place<D> && !replacing<D>;

namespace detail {
// What a bucket tells an erase: what the design says of it, or else what it tells an insert, or a lookup.
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

// An erase walks the key's buckets, as a lookup does, and swaps the word in the key's slot for what
// vacated(told) says is left there: an empty slot, a tombstone where lookups must not stop, or what of the
// word belongs to the bucket. `told` is what the bucket said. Optional:
//   examine_for_erase(tile, bucket, stored)   what it says, an erase_position; without, it is what the bucket
//                                             tells an insert, or a lookup
//   erased(home, now, told)                   called once a key is gone, which was looked for from `home` on
//                                             and stood in the bucket at `now`
template <class D>
concept erases_in_place =
    bucketed<D> && requires(const D d, typename D::place p, detail::erase_position_of<D> told) {
      { d.vacated(told) } -> std::same_as<typename D::word>;
      d.advance(p, told);
    };

// Its keys stand in rows with room between them, to which items are added and from which they are taken; how
// is said by the one design that does it (dynamic_hash_graph.hpp).
template <class D>
concept row_changing = rowed<D> && D::changes_rows;

template <class D>
concept erasable = record_keeping<D> || erases_in_place<D> || row_changing<D>;

// What found no place may still find room, by moving other keys.
template <class D>
concept displacing =
    insertable<D> && requires(const D d, typename D::key_bits k, typename D::slot_type::value_bits v) {
      { d.displacement_of(k, D::slot_type::pack(k, v)).run(solo_tile{}, true) } -> std::same_as<outcome>;
    };

// When keys were erased, others may come nearer to where they are looked for first. erased() sets a bit of
// due() for each bucket in which that may be, and tidy() sees to one. Optional:
//   tidy_passes   how often, each time, where what comes nearer makes room for others
//   tidy_width    of the tile that sees to a bucket, where that is not preferred_width
template <class D>
concept tidying = erasable<D> && requires(const D d) {
  d.tidy(solo_tile{}, u32(0), true);
  { d.due() } -> std::same_as<u32*>;
  { d.due_words() } -> std::same_as<u64>;
  { d.tidies_after(u64(0)) } -> std::same_as<bool>;  // so many were erased since the last pass
};

// While keys are put in, lookups find each where it stands, and there it stays: values may change meanwhile.
template <class D>
concept steady = !values_apart<D> && (probe_inserting<D> || (self_inserting<D> && D::keys_stay));

// Cannot be filled to every load: a table that may grow is made larger instead, one that may not is refused.
template <class D>
concept load_limited = insertable<D> && requires {
  { D::max_load_factor } -> std::convertible_to<double>;
};

// Its last slots, so many, are a stash for keys that found no room elsewhere; the load is reckoned without
// them.
template <class D>
concept stashing = displacing<D> && requires {
  { D::stash_slots } -> std::convertible_to<u32>;
};

// Built from all items at once; cannot be changed afterwards.
template <class D>
concept bulk_built = D::is_bulk_built;

// An empty table of this design is filled fastest by partitioning the items and building region by region.
template <class D>
concept partition_built = insertable<D> && D::is_partition_built;

// ... not region by region but by steps of its own over the whole table:
//   bulk_build().pays(space, n)   is it worth it for n items? It may be asked of a design without memory
//   bulk_build().run(space, source, n, spill, illegal, inserted)   puts them into a table that is empty, and
//                                 whose slots may hold anything; what it leaves goes to the spill
template <class D>
concept filling_itself = partition_built<D> && requires(const D d) { d.bulk_build(); };
// A partition-built design that can have more regions or fewer of the same size, by the same hash, so that
// the keys of a region stand in neighbouring ones afterwards.
template <class D>
concept region_resized =
    partition_built<D> && requires(D d, void* memory, typename D::stored_key n, typename D::region_hashes h) {
      d.reshape(memory, u64(1));
      { D::whole_capacity(u64(0), 1.0) } -> std::same_as<u64>;
      { d.hashes_in(u32(0)) } -> std::same_as<typename D::region_hashes>;
      { h(d.first_bucket(u32(0), n), n) } -> std::same_as<typename D::key_bits>;
      { d.marks() } -> std::same_as<u32*>;  // as of a design that is `replacing`, zero between kernels
    };

// ... and many keys are erased from it region by region, each of which is tidied, by
//   region_erase<Bins, Count>   what a block does with its region; `Bins` have the hashes of its keys, and
//                               Count{}(region, n) is told how many there were
template <class D>
concept region_erased = partition_built<D> && erasable<D> && D::is_region_erased;

// Keeps every item of a key that comes more than once.
template <class D>
concept multivalue = D::keeps_duplicates;

TILEHASH_END_ABI_NAMESPACE
TILEHASH_PUBLIC_NAMESPACE(engine);
}  // namespace tilehash

// What a design can do. A table offers the verbs its design has the concepts for.
#pragma once

#include <concepts>

#include <tilehash/core/config.hpp>
#include <tilehash/core/result.hpp>
#include <tilehash/space/solo_tile.hpp>

namespace tilehash {

// A trivially copyable view that answers lookups: locate() is arithmetic, address() the memory that bulk asks
// for ahead of time, advance() the next place of the key's sequence.
template <class D>
concept locatable =
    std::is_trivially_copyable_v<D> && requires(const D d, typename D::key_bits t, typename D::place p) {
      { d.locate(t) } -> std::same_as<typename D::place>;
      { d.address(p) } -> std::convertible_to<const void*>;
      d.advance(p);
    };

// A lookup reads whole buckets, and examine() judges one by the stored key, what the key looks like in it:
// the tile reads many buckets before it examines the first.
template <class D>
concept bucketed = locatable<D> && requires(const D d, typename D::template bucket_type<solo_tile> b,
                                            typename D::key_bits t, typename D::place p) {
  d.examine(solo_tile{}, b, d.stored(p, t));
  { d.max_steps() } -> std::convertible_to<u32>;
};

// A lookup walks a row of entries: row() reads where it begins and ends.
template <class D>
concept rowed = std::is_trivially_copyable_v<D> && requires(const D d, typename D::key_type k) {
  { d.row(d.locate(k)) } -> std::same_as<typename D::range>;
  d.hit(k, d.row(d.locate(k)));
};

// Its items stand among empty slots: of the `capacity` many, slot i holds one where holds(i).
template <class D>
concept sparse = rowed<D> && requires(const D d) {
  { d.holds(0) } -> std::same_as<bool>;
};

template <class D>
concept insertable = bucketed<D> && requires(const D d, typename D::key_bits t, typename D::word w) {
  { d.insert(solo_tile{}, t, w, true) } -> std::same_as<outcome>;
};

// One look at the first bucket settles most inserts: the tile looks at many before the first lane writes.
template <class D>
concept offers_position = insertable<D> && requires(const D d, typename D::template bucket_type<solo_tile> b,
                                                    typename D::key_bits t, typename D::place p) {
  { d.examine_for_insert(solo_tile{}, b, d.stored(p, t)) } -> std::same_as<insert_position<typename D::word>>;
};

template <class D>
concept erasable = requires(const D d, typename D::key_bits t) {
  { d.erase(solo_tile{}, t, true) } -> std::same_as<bool>;
};

// What insert() refused may still find room, by moving other keys.
template <class D>
concept displacing = insertable<D> && requires(const D d, typename D::key_bits t, typename D::word w) {
  { d.displacement_of(t, w).run(solo_tile{}, true) } -> std::same_as<outcome>;
};

// Cannot be filled to every load: a table that may grow is made larger instead, one that may not is refused.
template <class D>
concept load_limited = insertable<D> && requires {
  { D::max_load_factor } -> std::convertible_to<double>;
};

// Its last slots, so many, are a stash for keys that found no room elsewhere; the load is reckoned without
// them. If the stash fails too, that is the hash functions' fault: the table takes new ones before it grows.
template <class D>
concept stashing = displacing<D> && requires {
  { D::stash_slots } -> std::convertible_to<u32>;
};

// Where it refuses an item below the load asked for, that is the hash functions' fault, which leave it no
// room within the probes allowed: the table takes new ones before it grows.
template <class D>
concept restarting = stashing<D> || (insertable<D> && D::restarts_with_new_functions);

// Built from all items at once; cannot be changed afterwards.
template <class D>
concept bulk_built = D::is_bulk_built;

// An empty table of this design is filled fastest by partitioning the items and building region by region.
template <class D>
concept partition_built = insertable<D> && D::is_partition_built;

// Keeps every item of a key that comes more than once.
template <class D>
concept multivalue = D::keeps_duplicates;

}  // namespace tilehash

// SPDX-License-Identifier: Apache-2.0
// Views: the caller's own threads and kernels look keys up in them, and change them. A view is a design and
// its sentinel cells. It is trivially copyable, so a kernel takes it by value.
//
// One thread calls a verb, or the lanes of a tile call it together, each with its own key (docs/adr/0022). A
// tile reads each bucket in one request and has several in flight, as the library's kernels do.
//
//   view.find(key)                      one thread
//   view.find(tile, key, active)        a lane of a tile: cuda_tile<view.tile_width>(), or of another width
//
// The second form is a collective: all lanes of the warp must call it, in front of any branch. A lane without
// a key passes false for `active`, and its result is unspecified.
//
// The view of a moved-from table and a default-constructed view answer as that of an empty table. They have
// no memory, and each find() tests that first. view() is const, takes no memory and does not synchronize, so
// it cannot make an empty table. A shared bucket in static memory would have to look free to every design, in
// the memory of each GPU. A null pointer in the view costs one comparison of a kernel argument that is the
// same for all lanes. No memory is read for it and no warp diverges. The table's own lookups of many keys
// avoid even that, as the host tests it before it starts a kernel (look_up_nothing).
#pragma once

#include <tilehash/core/hash.hpp>
#include <tilehash/core/op.hpp>
#include <tilehash/kernel/erase.hpp>
#include <tilehash/kernel/insert_along_slots.hpp>
#include <tilehash/kernel/insert_by_thread.hpp>
#include <tilehash/kernel/insert_by_view.hpp>
#include <tilehash/kernel/lookup.hpp>
#include <tilehash/kernel/upsert.hpp>
#include <tilehash/space/tuning.hpp>

#include <tilehash/core/prologue.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE

/// The view of a table whose keys are stored in buckets.
///
/// No verb of a view allocates memory or synchronizes. Only a function that the caller passes may throw.
/// Lookups may run concurrently with const verbs, not with inserts or erases.
template <class Design>
struct table_view {
  using key_type = typename Design::key_type;
  using mapped_type = typename Design::mapped_type;
  using slot_type = typename Design::slot_type;
  using sentinels_type = detail::sentinel_cells<slot_type>;
  using hit = detail::slot_hit<slot_type>;
  static constexpr u32 tile_width = Design::preferred_width;  ///< of the tiles that serve its buckets fastest

  Design design;             ///< stores the keys
  sentinels_type sentinels;  ///< store the two keys that look like free slots

  /// Makes a view of no table.
  table_view() = default;
  /// Makes a view of memory. Some designs depend on the load factor from which the capacity was computed.
  table_view(char* memory, u64 capacity, u64 seed, double load_factor)
      : table_view(Design(memory, capacity, seed, load_factor), memory) {}
  /// Makes a view of a design that has its memory.
  table_view(const Design& of, char* memory) : design(of) {
    sentinels.cells =
        reinterpret_cast<typename sentinels_type::cell*>(memory + sentinels_at(design.capacity()));
  }
  /// Returns false if the view is of no table or of a moved-from one.
  TILEHASH_FN bool has_memory() const { return sentinels.cells != nullptr; }
  /// Returns the byte at which the sentinel cells begin.
  static u64 sentinels_at(u64 capacity) { return (Design::bytes(capacity) + 15) / 16 * 16; }

  /// Looks up one key, by one thread. The hit has found(), value(), count() and probes(). O(1) expected.
  TILEHASH_FN hit find(const key_type& key) const { return find_concurrent<false>(key); }
  /// Returns whether the key is present. As find().
  TILEHASH_FN bool contains(const key_type& key) const { return find(key).found(); }
  /// Returns the number of items that have this key: 1 or 0. As find().
  TILEHASH_FN u32 count(const key_type& key) const { return find(key).count(); }
  /// As find(), by the lanes of a tile, a key each.
  template <tile_like Tile>
  TILEHASH_FN hit find(Tile tile, const key_type& key, bool active = true) const {
    return find_together<false>(tile, key, active);
  }
  /// Returns whether the key is present. As find(), by the lanes of a tile.
  template <tile_like Tile>
  TILEHASH_FN bool contains(Tile tile, const key_type& key, bool active = true) const {
    return find(tile, key, active).found();
  }

  /// Returns the number of entries, the slots and the sentinel cells. An entry holds one item or none. O(1).
  u64 entries() const { return has_memory() ? design.capacity() + sentinels_type::count : 0; }
  /// Calls use(key, value), in a set use(key), if entry i holds an item; returns whether it does. O(1).
  template <class Use>
  TILEHASH_FN bool use_entry(u64 i, const Use& use) const {
    typename slot_type::key_bits bits;
    typename slot_type::value_bits value = 0;
    if (i < design.capacity()) {
      const auto word = design.slots()[i];
      if (!detail::holds_item(design, i, word)) return false;
      bits = design.key_at(i, word);
      value = slot_type::value_of(word);
    } else {
      const auto& cell = sentinels.cells[i - design.capacity()];
      if (!cell.taken()) return false;
      bits = sentinels.key_at(static_cast<u32>(i - design.capacity()));
      value = cell.value();
    }
    const key_type key = slot_type::decode(bits);
    if constexpr (slot_type::is_set)
      use(key);
    else
      use(key, detail::from_bits<mapped_type>(value));
    return true;
  }

 protected:
  /// \cond
  // `Changing`: other threads may have changed the bucket since this kernel began, before the barrier that
  // parts lookups from changes.
  template <bool Changing>
  TILEHASH_FN hit find_concurrent(const key_type& key) const {
    if (!has_memory()) return {{}, 0};
    const detail::query<slot_type> q(key);
    if (!q.regular()) return detail::hit_without_buckets<Design>(sentinels, q);
    const auto mine = detail::look_up_by_one<Changing, Changing>(design, q.bits);
    // Member by member: GCC copies a struct of 16 bytes by one load of what it has just stored in two parts.
    return {{mine.result.what, mine.result.value}, mine.steps};
  }
  // find() by the lanes of a tile. `Changing`: concurrently with inserts.
  template <bool Changing, class Tile>
  TILEHASH_FN hit find_together(Tile tile, const key_type& key, bool active) const {
    if (!has_memory()) return {{}, 0};
    const detail::query<slot_type> q(key);
    const auto mine = detail::look_up_together<Changing>(design, tile, q.bits, active && q.regular());
    if (!q.regular()) return detail::hit_without_buckets<Design>(sentinels, q);
    return {mine.result, mine.steps};
  }
  /// \endcond
};

/// The view of a table whose values are stored in arrays of their own.
template <values_apart Design>
struct table_view<Design> {
  using key_type = typename Design::key_type;
  using mapped_type = typename Design::mapped_type;
  using slot_type = typename Design::slot_type;
  using hit = detail::hit_of<Design>;

  Design design;  ///< stores the keys

  /// Looks up one key, by one thread. The hit has found(), value(), count() and probes(). O(1).
  TILEHASH_FN hit find(const key_type& key) const {
    if (!design.has_memory()) return {lookup_state::absent, 0, nullptr};
    const detail::query<slot_type> q(key);
    if (!q.regular()) return detail::hit_without_buckets<Design>({}, q);
    const auto mine = detail::look_up_by_one<false>(design, q.bits);
    return detail::hit_at(design, design.bucket_at(mine.at), mine.result, mine.steps);
  }
  /// Returns whether the key is present. As find().
  TILEHASH_FN bool contains(const key_type& key) const { return find(key).found(); }
  /// Returns the number of items that have this key: 1 or 0. As find().
  TILEHASH_FN u32 count(const key_type& key) const { return find(key).count(); }

  /// Returns the number of entries, the slots. An entry holds one item or none. O(1).
  u64 entries() const { return design.has_memory() ? design.entries() : 0; }
  /// Calls use(key, value), in a set use(key), if entry i holds an item; returns whether it does. O(1).
  template <class Use>
  TILEHASH_FN bool use_entry(u64 i, const Use& use) const {
    const auto* const at = design.slot_at(i);
    if (slot_type::is_free(*at)) return false;
    const key_type key = slot_type::decode(design.key_at(i, *at));
    if constexpr (slot_type::is_set)
      use(key);
    else
      use(key, *design.value_at(at));
    return true;
  }
};

/// Designs whose slots a thread can change by itself: it evicts no key, and no pass must follow.
template <class D>
concept view_changeable = changed_in_place<D> && !replacing<D> && !values_apart<D>;

/// A view that also changes the table, each key by one thread or one lane of a tile.
///
/// It allocates no memory. Where `displaces` is true (`tiled`), insert() moves other keys to make a slot free
/// for a key whose buckets are full. It refuses an item only if it finds no free slot, and none below a load
/// factor of 0.95. Other designs, and updates in all designs, move no key and refuse an item whose buckets are
/// full. The table's own insert() grows the table for refused items. size() is exact when the kernel or the
/// threads are done.
///
/// The threads of a warp may call by themselves, in any branch. Those that call together wait for each other.
///
/// Concurrency: inserts may run with inserts, updates (insert_or_assign, insert_or_apply) with updates, erases
/// with erases, lookups with lookups. Where `displaces` is false, inserts may run with updates, too. Between
/// these phases all threads need a barrier: the end of a kernel, a barrier of the whole grid, or a join. No
/// verb of the table itself may run meanwhile. (An update that meets a key on its way to another bucket would
/// change the value of the key that takes its place.)
template <view_changeable Design>
struct mutable_table_view : table_view<Design> {
  using base = table_view<Design>;
  using typename base::hit;
  using typename base::key_type;
  using typename base::mapped_type;
  using typename base::slot_type;
  static constexpr bool is_set = slot_type::is_set;  ///< keys without values
  /// Whether insert() moves other keys for one whose buckets are full.
  static constexpr bool displaces = detail::displacing_among_inserts<Design>;
  using value_element = std::conditional_t<is_set, char, mapped_type>;

  u64* changes = nullptr;  ///< counters; their sum is the change of the table's size

  /// Makes a view of no table, which refuses all items.
  mutable_table_view() = default;
  /// \overload
  mutable_table_view(const base& view, u64* size_changes) : base(view), changes(size_changes) {}

  /// As in table_view; it also sees changes by this kernel.
  TILEHASH_FN hit find(const key_type& key) const { return this->template find_concurrent<true>(key); }
  TILEHASH_FN bool contains(const key_type& key) const { return find(key).found(); }  ///< is the key present?
  TILEHASH_FN u32 count(const key_type& key) const { return find(key).count(); }      ///< 1 or 0
  /// \overload
  template <tile_like Tile>
  TILEHASH_FN hit find(Tile tile, const key_type& key, bool active = true) const {
    return this->template find_together<true>(tile, key, active);
  }
  /// Returns whether the key is present. As find(), by the lanes of a tile.
  template <tile_like Tile>
  TILEHASH_FN bool contains(Tile tile, const key_type& key, bool active = true) const {
    return find(tile, key, active).found();
  }

  /// Inserts one item, by one thread. Returns inserted; present, where the key keeps its value; or refused,
  /// where no slot can be had or the key is a NaN. One of concurrent equal keys is inserted. O(1) expected.
  TILEHASH_FN outcome insert(const key_type& key, const value_element& value) const
    requires(!is_set)
  {
    return insert(solo_tile{}, key, value);
  }
  /// \overload
  TILEHASH_FN outcome insert(const key_type& key) const
    requires is_set
  {
    return insert(solo_tile{}, key);
  }
  /// As insert(), by the lanes of a tile, an item each.
  template <tile_like Tile>
  TILEHASH_FN outcome insert(Tile tile, const key_type& key, const value_element& value,
                             bool active = true) const
    requires(!is_set)
  {
    return put(tile, key, value, active, detail::keep_stored{});
  }
  /// \overload
  template <tile_like Tile>
  TILEHASH_FN outcome insert(Tile tile, const key_type& key, bool active = true) const
    requires is_set
  {
    return put(tile, key, value_element{}, active, detail::keep_stored{});
  }
  /// As insert(), but the value of a present key becomes the given one.
  TILEHASH_FN outcome insert_or_assign(const key_type& key, const value_element& value) const
    requires(!is_set && steady<Design>)
  {
    return insert_or_assign(solo_tile{}, key, value);
  }
  /// \overload
  template <tile_like Tile>
  TILEHASH_FN outcome insert_or_assign(Tile tile, const key_type& key, const value_element& value,
                                       bool active = true) const
    requires(!is_set && steady<Design>)
  {
    return insert_or_apply(tile, key, value, op::assign{}, active);
  }
  /// As insert(), but the value of a present key becomes op(stored, given). On a CPU, throws what op throws
  /// (strong: the item has changed nothing).
  template <combines<value_element> Op>
    requires(!lifts<Op, value_element>)
  /// \overload
  TILEHASH_FN outcome insert_or_apply(const key_type& key, const value_element& value, const Op& op) const
    requires(!is_set && steady<Design>)
  {
    return insert_or_apply(solo_tile{}, key, value, op);
  }
  /// \overload
  template <tile_like Tile, combines<value_element> Op>
    requires(!lifts<Op, value_element>)
  /// \overload
  TILEHASH_FN outcome insert_or_apply(Tile tile, const key_type& key, const value_element& value,
                                      const Op& op, bool active = true) const
    requires(!is_set && steady<Design>)
  {
    return put(tile, key, value, active, detail::apply<Op>{op});
  }
  /// Erases one key, by one thread. Returns whether this call erased it. O(1) expected.
  ///
  /// Later inserts take the slot of the erased key. The erase may leave a tombstone or a filter bit. The next
  /// verb of the table that changes it and synchronizes removes those, for example insert() or erase(). No verb
  /// of a view can do so.
  TILEHASH_FN bool erase(const key_type& key) const
    requires erases_in_place<Design>
  {
    return erase(solo_tile{}, key);
  }
  /// As erase(), by the lanes of a tile, a key each.
  template <tile_like Tile>
  TILEHASH_FN bool erase(Tile tile, const key_type& key, bool active = true) const
    requires erases_in_place<Design>
  {
    if (!this->has_memory()) return false;
    const detail::query<slot_type> q(key);
    const bool gone = detail::by_tile_of_caller(tile, [&](auto t) {
      return detail::erase_together(this->design, this->sentinels, t, q, active && q.legal);
    });
    if (gone) detail::count_change(changes, static_cast<u64>(q.bits), false);
    return gone;
  }

 private:
  template <class Tile, class Update>
  TILEHASH_FN outcome put(Tile tile, const key_type& key, const value_element& value, bool active,
                          const Update& update) const {
    if (!this->has_memory()) return outcome::refused;
    detail::item<slot_type> x{detail::query<slot_type>(key), 0, true};
    if constexpr (!is_set) x.value = detail::to_bits<typename slot_type::value_bits>(value);
    constexpr bool keeps = std::same_as<Update, detail::keep_stored>;
    outcome became = detail::by_tile_of_caller(tile, [&](auto t) {
      if constexpr (displaces && keeps)
        return detail::insert_by_thread<Design>::run(this->design, t, x, active && x.key.legal);
      else if constexpr (detail::probes_next_slots<Design> && keeps)
        return detail::insert_along_slots<Design>::run(this->design, t, x, active && x.key.regular());
      else
        return detail::upsert_together(this->design, this->sentinels, t, x, active, update);
    });
    if constexpr (detail::probes_next_slots<Design> && keeps) {
      if (active && x.key.legal && x.key.reserved) became = this->sentinels.insert(x.key.bits, x.value);
    }
    if constexpr (displaces && keeps) {
      const bool full = active && x.key.regular() && became == outcome::refused;
      const outcome now =
          detail::displace_among_inserts(this->design, this->design.hash(x.key.bits), x.value, full);
      if (full) became = now;
    }
    if (became == outcome::inserted) detail::count_change(changes, static_cast<u64>(x.key.bits), true);
    return became;
  }
};

/// The view of a table of rows.
template <rowed Design>
struct table_view<Design> {
  using key_type = typename Design::key_type;
  using mapped_type = typename Design::mapped_type;

  /// The result of find().
  using hit = decltype(std::declval<const Design&>().hit(std::declval<const key_type&>(),
                                                         std::declval<const typename Design::range&>()));

  Design design;  ///< stores the keys

  /// Looks up one key, by one thread. The hit has found(), value(), count() and probes(). O(1 + row length).
  TILEHASH_FN hit find(const key_type& key) const {
    return design.has_memory() ? design.hit(key, design.row(design.locate(key))) : hit{};
  }
  /// Returns whether the key is present. As find().
  TILEHASH_FN bool contains(const key_type& key) const { return find(key).found(); }
  /// Returns the number of items that have this key. As find().
  TILEHASH_FN u32 count(const key_type& key) const { return find(key).count(); }

  /// Returns the number of entries. An entry holds an item, or in a table with empty slots one item or none.
  /// (Not for rows with free entries between them: use for_each() of a dynamic_hash_graph.)
  u64 entries() const
    requires requires(const Design d) { d.item(0); }
  {
    if (!design.has_memory()) return 0;
    if constexpr (requires { design.holds(0); })
      return design.capacity();
    else
      return design.size();
  }
  /// Calls use(key, value), in a set use(key), if entry i holds an item; returns whether it does. O(1).
  template <class Use>
    requires requires(const Design d) { d.item(0); }
  /// \overload
  TILEHASH_FN bool use_entry(u64 i, const Use& use) const {
    if constexpr (requires { design.holds(i); }) {
      if (!design.holds(i)) return false;
    }
    const auto& e = design.item(i);
    if constexpr (Design::is_set)
      use(e.key);
    else
      use(e.key, e.value);
    return true;
  }
};

TILEHASH_END_ABI_NAMESPACE
TILEHASH_PUBLIC(table_view);
}  // namespace tilehash

#include <tilehash/core/epilogue.hpp>

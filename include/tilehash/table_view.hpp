// What a thread that works alone looks keys up in: a design and its sentinel cells. Trivially copyable, so a
// kernel takes it by value.
#pragma once

#include <tilehash/kernel/lookup.hpp>

namespace tilehash::inline TILEHASH_ABI {

// The view of a table whose keys stand in buckets.
template <class Design>
struct table_view {
  using key_type = typename Design::key_type;
  using mapped_type = typename Design::mapped_type;
  using slot_type = typename Design::slot_type;
  using sentinels_type = detail::sentinel_cells<slot_type>;
  using hit = detail::slot_hit<slot_type>;

  Design design;             // where keys live
  sentinels_type sentinels;  // where the two live that look like free slots

  // Of no table.
  table_view() = default;
  // The load factor is the one that the capacity was reckoned from: some designs shape their table by it.
  table_view(char* memory, u64 capacity, u64 seed, double load_factor)
      : design(memory, capacity, seed, load_factor) {
    sentinels.cells = reinterpret_cast<typename sentinels_type::cell*>(memory + sentinels_at(capacity));
  }
  // The byte at which the sentinel cells begin.
  static u64 sentinels_at(u64 capacity) { return (Design::bytes(capacity) + 15) / 16 * 16; }

  // One thread, one key: found(), value(), count(), probes() of the hit. O(1) expected. Not beside inserts or
  // erases.
  TILEHASH_FN hit find(const key_type& key) const {
    const detail::query<slot_type> q(key);
    if (!q.legal) return {{}, 1};
    if constexpr (slot_type::reserves_keys) {
      if (q.reserved) return {sentinels.find(q.bits), 1};
    }
    auto place = design.locate(q.bits);
    for (u32 steps = 1;; ++steps) {
      const auto b = Design::template bucket_type<solo_tile>::read(solo_tile{}, design.address(place));
      auto a = design.examine(solo_tile{}, b, design.stored(place, q.bits));
      const bool end = steps >= detail::max_steps_of(design, place);
      if (a.what == lookup_state::go_on && end) a.what = lookup_state::absent;
      if (a.what != lookup_state::go_on) return {a, steps};
      design.advance(place, a);
    }
  }
  // Is the key in the table? As find().
  TILEHASH_FN bool contains(const key_type& key) const { return find(key).found(); }
  // How many items have this key: 1 or 0. As find().
  TILEHASH_FN u32 count(const key_type& key) const { return find(key).count(); }

  // Entries hold an item or nothing: the slots, and the sentinel cells.
  u64 entries() const { return design.capacity() + sentinels_type::count; }
  // use(key, value), in a set use(key), if there is an item at entry i; says whether there was.
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
};

// The view of a table whose keys stand in rows.
template <rowed Design>
struct table_view<Design> {
  using key_type = typename Design::key_type;
  using mapped_type = typename Design::mapped_type;

  // What find() gives.
  using hit = decltype(std::declval<const Design&>().hit(std::declval<const key_type&>(),
                                                         std::declval<const typename Design::range&>()));

  Design design;  // where keys live

  // One thread, one key: found(), value(), count(), probes() of the hit. O(1) and the row's length.
  TILEHASH_FN hit find(const key_type& key) const { return design.hit(key, design.row(design.locate(key))); }
  // Is the key in the table? As find().
  TILEHASH_FN bool contains(const key_type& key) const { return find(key).found(); }
  // How many items have this key. As find().
  TILEHASH_FN u32 count(const key_type& key) const { return find(key).count(); }

  // Entries hold an item; in a table among empty slots, an item or nothing.
  u64 entries() const {
    if constexpr (sparse<Design>)
      return design.capacity();
    else
      return design.size();
  }
  // use(key, value), in a set use(key), if there is an item at entry i; says whether there was.
  template <class Use>
  TILEHASH_FN bool use_entry(u64 i, const Use& use) const {
    if constexpr (sparse<Design>) {
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

}  // namespace tilehash::inline TILEHASH_ABI

// SPDX-License-Identifier: Apache-2.0
// The view of a multimap, and the function objects that the multimap passes to its table of ids and to its
// space.
#pragma once

#include <tilehash/algorithm/compact.hpp>
#include <tilehash/designs/multi.hpp>
#include <tilehash/engine/records_view.hpp>
#include <tilehash/kernel/entries.hpp>
#include <tilehash/table_view.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE

/// A key's values: an array.
template <class Value>
class value_range {
 public:
  /// An empty range.
  value_range() = default;
  /// A range of `size` values from an address on.
  TILEHASH_FN value_range(const Value* first, u64 size) : first_(first), size_(size) {}
  TILEHASH_FN const Value* begin() const { return first_; }               ///< the first value
  TILEHASH_FN const Value* end() const { return first_ + size_; }         ///< past the last
  TILEHASH_FN const Value* data() const { return first_; }                ///< the first value
  TILEHASH_FN u64 size() const { return size_; }                          ///< values
  TILEHASH_FN bool empty() const { return size_ == 0; }                   ///< true if there is none
  TILEHASH_FN const Value& operator[](u64 i) const { return first_[i]; }  ///< value i

 private:
  const Value* first_ = nullptr;
  u64 size_ = 0;
};

/// The view of a multimap.
template <class Key, class Value, class Ids, class Offset>
struct table_view<multi<Key, Value, Ids, Offset>> {
  using design_type = multi<Key, Value, Ids, Offset>;
  using key_type = Key;
  using mapped_type = Value;

  table_view<Ids> ids;      ///< from a key to its id
  const Key* keys;          ///< by id; null if they are stored in the records of the table of ids
  const Offset* starts;     ///< by id: where the key's values begin
  const Value* all_values;  ///< of all keys
  u64 distinct;             ///< keys; their ids are below

  /// The result of find().
  struct hit {
    const Value* first;  ///< of the key's values
    Offset number;       ///< of them; 0: the key is absent
    u32 steps;           ///< buckets read, and a word of starts

    TILEHASH_FN bool found() const { return number != 0; }                     ///< is the key present?
    TILEHASH_FN const Value& value() const { return *first; }                  ///< any of the key's
    TILEHASH_FN value_range<Value> values() const { return {first, number}; }  ///< all of them
    TILEHASH_FN u32 count() const { return static_cast<u32>(number); }         ///< how many they are
    TILEHASH_FN u32 probes() const { return steps; }  ///< buckets read, and a word of starts
  };
  /// One thread, one key: found(), values(), count() of the hit. O(1) expected. Not while the table changes.
  TILEHASH_FN hit find(const Key& key) const { return judge(ids.find(key)); }
  /// Is the key in the table? As find().
  TILEHASH_FN bool contains(const Key& key) const { return find(key).found(); }
  /// The number of the key's values. As find().
  TILEHASH_FN u32 count(const Key& key) const { return find(key).count(); }
  /// The key's values, an array; empty if it is absent. As find().
  TILEHASH_FN value_range<Value> values_of(const Key& key) const { return find(key).values(); }

  /// By number: keys are 0, 1, ... distinct - 1, in no given order.
  TILEHASH_FN const Key& key(u64 id) const {
    if constexpr (design_type::in_records)
      return ids.key(id);
    else
      return keys[id];
  }
  /// The values of the key with this id.
  TILEHASH_FN value_range<Value> values(u64 id) const {
    return {all_values + starts[id], static_cast<u64>(starts[id + 1] - starts[id])};
  }

  /// The hit of a key with this result in the table of ids.
  template <class IdHit>
  TILEHASH_FN hit judge(const IdHit& met) const {
    return hit_of(met.found() ? id_in(met) : design_type::none, met.probes());
  }
  /// The hit of an id, or of none.
  TILEHASH_FN hit hit_of(u32 id, u32 steps) const {
    if (id == design_type::none) return {nullptr, 0, steps};
    const auto range = values(id);
    return {range.data(), static_cast<Offset>(range.size()), steps + 1};
  }
  /// The id in a result of the table of ids.
  template <class IdHit>
  TILEHASH_FN static u32 id_in(const IdHit& met) {
    if constexpr (design_type::in_records)
      return met.id();
    else
      return met.value();
  }
};

namespace detail {

// ---- lookups ----
// Passes a lookup of ids on as one of values.
template <class View, class Sink>
struct through_starts {
  View view;
  Sink sink;
  template <class IdHit>
  TILEHASH_FN void operator()(u64 i, const IdHit& met) const {
    sink(i, view.judge(met));
  }
};
// The position and the number of a key's values.
template <class Value, class Offset>
struct range_sink {
  const Value* all;
  Offset* begins;
  u64* counts;
  template <class Hit>
  TILEHASH_FN void operator()(u64 i, const Hit& hit) const {
    counts[i] = hit.number;
    begins[i] = hit.found() ? static_cast<Offset>(hit.first - all) : Offset(0);
  }
};
// A CPU's record of a lookup of ids, to read `starts` later.
struct met_id {
  u32 id, steps;
};
template <class View>
struct met_sink {
  met_id* met;
  template <class IdHit>
  TILEHASH_FN void operator()(u64 i, const IdHit& hit) const {
    met[i] = {hit.found() ? View::id_in(hit) : View::design_type::none, hit.probes()};
  }
};
template <class View, class Sink>
struct starts_reader {
  View view;
  const met_id* met;
  u64 first;  // the number of the first key in `met`
  Sink sink;
  void operator()(u64 from, u64 to) const {
    const auto fetch = [&](u64 i) {
      if (met[i].id != View::design_type::none) detail::prefetch(view.starts + met[i].id);
      return met[i];
    };
    detail::fetch_ahead(from, to, fetch,
                        [&](u64 i, met_id m) { sink(first + i, view.hit_of(m.id, m.steps)); });
  }
};

// ---- builds ----
// Items of an array: the listed ones, or the first, or random ones of so many.
template <class Key>
struct some_keys {
  const Key* keys;
  const u64* list = nullptr;
  u64 sampled_from = 0;
  TILEHASH_FN u64 item(u64 i) const {
    return list != nullptr ? list[i] : sampled_from != 0 ? fast_range(mix64(i), sampled_from) : i;
  }
  TILEHASH_FN const Key& operator[](u64 i) const { return keys[item(i)]; }
};
// ... with their positions as numbers, for a table of ids.
template <class Slot>
struct numbered_keys {
  some_keys<typename Slot::key_type> keys;
  TILEHASH_FN auto operator()(u64 i) const {
    return detail::item<Slot>{detail::query<Slot>(keys[i]), static_cast<u32>(i), true};
  }
};
// An item's id, or none; counts legal keys that are absent.
template <class View>
struct number_sink {
  some_keys<typename View::key_type> keys;
  u32* numbers;
  u64* missing;
  template <class IdHit>
  TILEHASH_FN void operator()(u64 i, const IdHit& met) const {
    numbers[keys.item(i)] = met.found() ? View::id_in(met) : View::design_type::none;
    if (!met.found() && is_legal(keys[i])) fetch_add(missing, u64(1));
  }
};
template <class Key>
struct missing_selection {
  const Key* keys;
  const u32* numbers;
  u32 none;
  u64* list;
  TILEHASH_FN bool selects(u64 i) const { return numbers[i] == none && is_legal(keys[i]); }
  TILEHASH_FN void use(u64 i, u64 at) const { list[at] = i; }
};
template <class Key>
struct key_taker {
  Key* keys;
  u64 at;
  template <class... Value>
  TILEHASH_FN void operator()(const Key& key, const Value&...) const {
    keys[at] = key;
  }
};
// All keys of a table.
template <class View>
struct key_selection {
  using key_type = typename View::key_type;
  View view;
  key_type* keys;
  TILEHASH_FN bool selects(u64 i) const { return view.use_entry(i, entry_probe{}); }
  TILEHASH_FN void use(u64 i, u64 at) const { view.use_entry(i, key_taker<key_type>{keys, at}); }
};
// The input of a sort: words of the legal keys, and their values or numbers. Either may exist already.
template <class Design>
struct legal_selection {
  using key_type = typename Design::key_type;
  using mapped_type = typename Design::mapped_type;
  const key_type* keys;
  const mapped_type* values;
  typename Design::word* words;       // may be null
  typename Design::carried* carried;  // may be null
  TILEHASH_FN bool selects(u64 i) const { return is_legal(keys[i]); }
  TILEHASH_FN void use(u64 i, u64 at) const {
    if (words != nullptr) words[at] = key_to_bits<typename Design::word>(keys[i]);
    if (carried == nullptr) return;
    if constexpr (Design::moves_values)
      carried[at] = values[i];
    else
      carried[at] = static_cast<typename Design::carried>(i);
  }
  TILEHASH_FN void operator()(u64 i) const { use(i, i); }
};
template <class Value, class Offset>
struct value_gatherer {
  Value* to;
  const Value* from;
  const Offset* order;
  TILEHASH_FN void operator()(u64 i) const { to[i] = from[order[i]]; }
};

// ---- retrievals: for a segment and a position of it (algorithm/segments.hpp) ----
template <class Value, class Offset>
struct value_copier {
  const u64* offsets;
  const Offset* begins;
  const Value* from;
  Value* to;
  TILEHASH_FN void operator()(u64 segment, u64 at) const {
    to[at] = from[begins[segment] + (at - offsets[segment])];
  }
  TILEHASH_FN void prefetch(u64 segment) const { detail::prefetch(from + begins[segment]); }
};
template <class View>
struct key_repeater {
  View view;
  typename View::key_type* to;
  TILEHASH_FN void operator()(u64 id, u64 at) const { to[at] = view.key(id); }
};
template <class Key>
struct illegal_counter {
  const Key* keys;
  u64* count;
  TILEHASH_FN void operator()(u64 i) const {
    if (!is_legal(keys[i])) fetch_add(count, u64(1));
  }
};
template <class View>
struct key_lister {
  View view;
  typename View::key_type* to;
  TILEHASH_FN void operator()(u64 id) const { to[id] = view.key(id); }
};
template <class View, class F>
struct item_giver {
  View view;
  F f;
  TILEHASH_FN void operator()(u64 id, u64 at) const { f(view.key(id), view.all_values[at]); }
};

}  // namespace detail

TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash

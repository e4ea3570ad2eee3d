// The small functions a table hands to bulk and to its space: where answers go, and how items come out.
#pragma once

#include <tilehash/table_view.hpp>

namespace tilehash::detail {

// ---- sinks of lookups ----
template <class Value>
struct value_sink {
  Value* out;
  bool* flags;  // may be null
  Value missing;
  template <class Hit>
  TILEHASH_FN void operator()(u64 i, const Hit& hit) const {
    const bool found = hit.found();
    out[i] = found ? hit.value() : missing;
    if (flags != nullptr) flags[i] = found;
  }
};
struct found_sink {
  bool* out;
  template <class Hit>
  TILEHASH_FN void operator()(u64 i, const Hit& hit) const {
    out[i] = hit.found();
  }
};
struct missing_sink {
  u64* count;
  template <class Hit>
  TILEHASH_FN void operator()(u64 /*i*/, const Hit& hit) const {
    if (!hit.found()) fetch_add(count, u64(1));
  }
};
struct count_sink {
  u32* out;
  template <class Hit>
  TILEHASH_FN void operator()(u64 i, const Hit& hit) const {
    out[i] = hit.count();
  }
};
struct probe_sink {
  u32* out;
  template <class Hit>
  TILEHASH_FN void operator()(u64 i, const Hit& hit) const {
    out[i] = hit.probes();
  }
};

// ---- all items of a table: entry i of [0, entries_in(view)) is an item or nothing ----
template <class Design>
u64 entries_in(const table_view<Design>& view) {
  if constexpr (sparse<Design>)
    return view.design.capacity();
  else if constexpr (rowed<Design>)
    return view.design.size();
  else
    return view.design.capacity() + table_view<Design>::aside_type::count;
}

// use(key, value), in a set use(key), if there is an item at i; says whether there was.
template <class Design, class Use>
TILEHASH_FN bool use_entry(const table_view<Design>& view, u64 i, const Use& use) {
  if constexpr (rowed<Design>) {
    if constexpr (sparse<Design>) {
      if (!view.design.holds(i)) return false;
    }
    const auto& e = view.design.item(i);
    if constexpr (Design::is_set)
      use(e.key);
    else
      use(e.key, e.value);
    return true;
  } else {
    using slot_type = typename Design::slot_type;
    using key_type = typename Design::key_type;
    typename slot_type::tag tag;
    typename slot_type::value_bits value = 0;
    if (i < view.design.capacity()) {
      const auto word = view.design.slots()[i];
      if (slot_type::is_free(word)) return false;
      tag = view.design.tag_in(i, word);
      value = slot_type::value_of(word);
    } else {
      const auto& cell = view.aside.cells[i - view.design.capacity()];
      if (!cell.taken()) return false;
      tag = view.aside.tag_at(static_cast<u32>(i - view.design.capacity()));
      value = cell.value();
    }
    const key_type key = slot_type::decode(tag);
    if constexpr (slot_type::is_set)
      use(key);
    else
      use(key, from_bits<typename slot_type::mapped_type>(value));
    return true;
  }
}

template <class Design, class F>
struct entry_body {
  table_view<Design> view;
  F f;
  TILEHASH_FN void operator()(u64 i) const { use_entry(view, i, f); }
};

template <class Space, class Design, class F>
void for_each_entry(Space& space, const table_view<Design>& view, F f) {
  space.for_each(entries_in(view), entry_body<Design, F>{view, f});
}

// Writes an item to position `at` of the arrays; counts instead when there are none.
template <class Key, class Value>
struct entry_writer {
  Key* keys;
  Value* values;
  u64 at;
  TILEHASH_FN void operator()(const Key& key, const Value& value) const {
    keys[at] = key;
    values[at] = value;
  }
  TILEHASH_FN void operator()(const Key& key) const { keys[at] = key; }
};
struct entry_probe {
  template <class... Item>
  TILEHASH_FN void operator()(const Item&...) const {}
};

template <class Design, class Value>
struct collect_body {
  using key_type = typename Design::key_type;
  table_view<Design> view;
  key_type* keys;
  Value* values;
  u64 n;
  u64* count;

  template <class Lane>
  TILEHASH_FN void operator()(Lane lane) const {
    const u64 i = lane.index();
    const bool is_item = i < n && use_entry(view, i, entry_probe{});
    const u64 at = lane.enlist(count, is_item);
    if (is_item) use_entry(view, i, entry_writer<key_type, Value>{keys, values, at});
  }
  void operator()(u64 from, u64 to) const {
    u64 items = 0;
    for (u64 i = from; i < to; ++i) items += use_entry(view, i, entry_probe{});
    u64 at = fetch_add(count, items);
    for (u64 i = from; i < to; ++i) at += use_entry(view, i, entry_writer<key_type, Value>{keys, values, at});
  }
};

template <class Space, class Design, class Value>
void collect_entries(Space& space, const table_view<Design>& view, typename Design::key_type* keys,
                     Value* values, u64* count) {
  const u64 n = entries_in(view);
  const collect_body<Design, Value> work{view, keys, values, n, count};
  if constexpr (Space::has_lanes)
    space.for_each_lane(n, work);
  else
    space.for_each_chunk(n, work);
}

}  // namespace tilehash::detail

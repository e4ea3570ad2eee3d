// SPDX-License-Identifier: Apache-2.0
// Sinks of lookups, and functions that visit, count and collect all items of a table.
#pragma once

#include <tilehash/algorithm/compact.hpp>
#include <tilehash/core/atomic.hpp>
#include <tilehash/core/config.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

// ---- sinks of lookups ----
template <class Value>
struct value_sink {
  Value* out;
  u8* flags;  // 1 or 0 each; may be null
  Value missing;
  template <class Hit>
  TILEHASH_FN void operator()(u64 i, const Hit& hit) const {
    const bool found = hit.found();
    out[i] = found ? hit.value() : missing;
    if (flags != nullptr) flags[i] = found;
  }
};
// The results of lookups other than values; any pointer may be null.
struct lookup_sink {
  u8* found = nullptr;  // 1 or 0 each
  u32 *counts = nullptr, *probes = nullptr, *ids = nullptr;
  template <class Hit>
  TILEHASH_FN void operator()(u64 i, const Hit& hit) const {
    if (found != nullptr) found[i] = hit.found();
    if (counts != nullptr) counts[i] = hit.count();
    if (probes != nullptr) probes[i] = hit.probes();
    if constexpr (requires { hit.id(); }) {
      if (ids != nullptr) ids[i] = hit.id();
    }
  }
};
struct missing_sink {
  u64* count;
  template <class Hit>
  TILEHASH_FN void operator()(u64 /*i*/, const Hit& hit) const {
    if (!hit.found()) fetch_add(count, u64(1));
  }
};

// ---- all items of a table ----
template <class View, class F>
struct entry_body {
  View view;
  F f;
  TILEHASH_FN void operator()(u64 i) const { view.use_entry(i, f); }
};

template <class Space, class View, class F>
void for_each_entry(Space& space, const View& view, F f) {
  space.for_each(view.entries(), entry_body<View, F>{view, f});
}

// Writes an item to position `at` of the arrays.
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

// Returns the number of items of a table: reads each entry, on a CPU, and allocates no memory.
template <class Space, class View>
u64 count_entries(Space& space, const View& view) {
  u64 all = 0;
  space.for_each_share(view.entries(), [&](u64 from, u64 to) {
    u64 here = 0;
    for (u64 i = from; i < to; ++i) here += view.use_entry(i, entry_probe{});
    fetch_add(&all, here);
  });
  return all;
}

template <class View, class Value>
struct entry_collector {
  using key_type = typename View::key_type;
  View view;
  key_type* keys;
  Value* values;
  u64 capacity;  // capacity of the arrays in items; further items are only counted
  TILEHASH_FN bool selects(u64 i) const { return view.use_entry(i, entry_probe{}); }
  TILEHASH_FN void use(u64 i, u64 at) const {
    if (at >= capacity) return;
    view.use_entry(i, entry_writer<key_type, Value>{keys, values, at});
  }
};

template <class Space, class View, class Value>
void collect_entries(Space& space, const View& view, typename View::key_type* keys, Value* values,
                     u64 capacity, u64* count) {
  detail::compact(space, view.entries(), entry_collector<View, Value>{view, keys, values, capacity}, count);
}

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash

// SPDX-License-Identifier: Apache-2.0
// The calls of the verbs that change values, in every form.
#pragma once

#include <tilehash/core/atomic.hpp>
#include <tilehash/core/op.hpp>
#include <tilehash/core/result.hpp>
#include <tilehash/space/solo_tile.hpp>

#include <span>

namespace tilehash::bench {

// Each verb: as a call that returns, as one that does not wait, and by a lane of a tile of a view.
struct inserts {
  static insert_report call(auto& table, auto& space, auto keys, auto values, auto... outcomes) {
    return table.insert(space, keys, values, outcomes...);
  }
  static void call_async(auto& table, auto& space, auto keys, auto values, insert_report* report)
    requires requires { table.insert_async(space, keys, values, report); }
  {
    table.insert_async(space, keys, values, report);
  }
  TILEHASH_FN static outcome one(const auto& view, auto tile, const auto& key, const auto& value, bool active)
    requires requires { view.insert(tile, key, value, active); }
  {
    return view.insert(tile, key, value, active);
  }
};
struct assigns {
  static insert_report call(auto& table, auto& space, auto keys, auto values, auto... outcomes) {
    return table.insert_or_assign(space, keys, values, outcomes...);
  }
  static void call_async(auto& table, auto& space, auto keys, auto values, insert_report* report)
    requires requires { table.insert_or_assign_async(space, keys, values, report); }
  {
    table.insert_or_assign_async(space, keys, values, report);
  }
  TILEHASH_FN static outcome one(const auto& view, auto tile, const auto& key, const auto& value, bool active)
    requires requires { view.insert_or_assign(tile, key, value, active); }
  {
    return view.insert_or_assign(tile, key, value, active);
  }
};
struct adds {
  static insert_report call(auto& table, auto& space, auto keys, auto values, auto... outcomes) {
    return table.insert_or_apply(space, keys, values, op::sum{}, outcomes...);
  }
  static void call_async(auto& table, auto& space, auto keys, auto values, insert_report* report)
    requires requires { table.insert_or_apply_async(space, keys, values, op::sum{}, report); }
  {
    table.insert_or_apply_async(space, keys, values, op::sum{}, report);
  }
  TILEHASH_FN static outcome one(const auto& view, auto tile, const auto& key, const auto& value, bool active)
    requires requires { view.insert_or_apply(tile, key, value, op::sum{}, active); }
  {
    return view.insert_or_apply(tile, key, value, op::sum{}, active);
  }
};
struct counts {
  static insert_report call(auto& table, auto& space, auto keys, auto /*values*/, auto... outcomes) {
    return table.insert_or_apply(space, keys, op::count{}, outcomes...);
  }
};

// Kernels of a caller that changes a table through its view: by one thread an item, or by a lane of a tile.
template <class Verb, class View, class Key, class Value>
struct change_by_view {
  View view;
  const Key* keys;
  const Value* values;
  u64* refused;
  u64 items;

  TILEHASH_FN void operator()(u64 i) const { run(i, solo_tile{}, true); }
  template <class Lane>
    requires requires(Lane lane) { lane.template tile<View::tile_width>(); }
  TILEHASH_FN void operator()(Lane lane) const {
    const u64 i = lane.index();
    run(i < items ? i : 0, lane.template tile<View::tile_width>(), i < items);
  }

 private:
  template <class Tile>
  TILEHASH_FN void run(u64 i, Tile tile, bool active) const {
    const bool lost = Verb::one(view, tile, keys[i], values[i], active) == outcome::refused;
    if (active && lost) detail::fetch_add(refused, u64(1));
  }
};
template <class View, class Key>
struct erase_by_view {
  View view;
  const Key* keys;
  u64 items;

  TILEHASH_FN void operator()(u64 i) const { view.erase(keys[i]); }
  template <class Lane>
    requires requires(Lane lane) { lane.template tile<View::tile_width>(); }
  TILEHASH_FN void operator()(Lane lane) const {
    const u64 i = lane.index();
    view.erase(lane.template tile<View::tile_width>(), keys[i < items ? i : 0], i < items);
  }
};
// Lookups of a caller's kernel: the value of a key or 0, or whether it is present.
template <class View, class Key, class Answer>
struct look_up_by_view {
  View view;
  const Key* keys;
  Answer* answers;
  u64 items;

  TILEHASH_FN void operator()(u64 i) const { answers[i] = answer(view.find(keys[i])); }
  template <class Lane>
    requires requires(Lane lane) { lane.template tile<View::tile_width>(); }
  TILEHASH_FN void operator()(Lane lane) const {
    const u64 i = lane.index();
    const auto hit = view.find(lane.template tile<View::tile_width>(), keys[i < items ? i : 0], i < items);
    if (i < items) answers[i] = answer(hit);
  }

 private:
  template <class Hit>
  TILEHASH_FN static Answer answer(const Hit& hit) {
    if constexpr (std::is_same_v<Answer, bool>)
      return hit.found();
    else
      return hit.found() ? static_cast<Answer>(hit.value()) : static_cast<Answer>(0);
  }
};

}  // namespace tilehash::bench

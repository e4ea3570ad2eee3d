// SPDX-License-Identifier: Apache-2.0
// A user's threads change a table through its mutable view; the results are compared with the given items.
// The includer names the space, `view_space`.
#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <vector>

#include <contract/random.hpp>
#include <tilehash/designs/bucketed_cuckoo.hpp>
#include <tilehash/designs/horton.hpp>
#include <tilehash/designs/linear_probing.hpp>
#include <tilehash/designs/tiled.hpp>
#include <tilehash/papers/bucketed_cuckoo_balanced.hpp>
#include <tilehash/space/buffer.hpp>
#include <tilehash/table.hpp>

namespace tilehash::contract {

// The lane of a tile that calls a verb.
template <class Tile>
struct lane_of {
  Tile tile;
  bool active;
};
template <class Tile>
TILEHASH_FN Tile tile_of(const lane_of<Tile>& by) {
  return by.tile;
}
template <class Tile>
TILEHASH_FN bool active_of(const lane_of<Tile>& by) {
  return by.active;
}

// Each of many threads calls a verb with key i % n and counts the calls with an effect. A thread calls by
// itself, with only the key and the value, or as a lane of a tile.
template <class View>
struct view_changer {
  View view;
  const u32* keys;
  u64 n;
  u64* effects;
  static constexpr bool is_set = View::slot_type::is_set;

  TILEHASH_FN u32 key(u64 i) const { return keys[i % n]; }
  TILEHASH_FN void count(bool effect) const {
    if (effect) detail::fetch_add(effects, u64(1));
  }
};
template <class View>
struct inserts_by_view : view_changer<View> {
  TILEHASH_FN bool operator()(u32 key, auto... by) const {
    if constexpr (View::is_set)
      return this->view.insert(tile_of(by)..., key, active_of(by)...) == outcome::inserted;
    else
      return this->view.insert(tile_of(by)..., key, key + 1, active_of(by)...) == outcome::inserted;
  }
};
template <class View>
struct updates_by_view : view_changer<View> {
  TILEHASH_FN bool operator()(u32 key, auto... by) const {
    return this->view.insert_or_apply(tile_of(by)..., key, 10, op::sum{}, active_of(by)...) ==
           outcome::present;
  }
};
template <class View>
struct assigns_by_view : view_changer<View> {
  TILEHASH_FN bool operator()(u32 key, auto... by) const {
    return this->view.insert_or_assign(tile_of(by)..., key, key + 1, active_of(by)...) == outcome::present;
  }
};
template <class View>
struct erases_by_view : view_changer<View> {
  TILEHASH_FN bool operator()(u32 key, auto... by) const {
    return this->view.erase(tile_of(by)..., key, active_of(by)...);
  }
};
template <class View>
struct lookups_by_view : view_changer<View> {
  TILEHASH_FN bool operator()(u32 key, auto... by) const {
    return this->view.contains(tile_of(by)..., key, active_of(by)...);
  }
};

// Each thread by itself, and in tiles. Without lanes a thread is a tile of one.
template <class Change>
struct by_threads {
  Change change;
  TILEHASH_FN void operator()(u64 i) const { change.count(change(change.key(i))); }
};
template <class Change>
struct by_solo_tiles {
  Change change;
  TILEHASH_FN void operator()(u64 i) const {
    change.count(change(change.key(i), lane_of<solo_tile>{{}, true}));
  }
};
template <class Change, u32 Width>
struct by_tiles {
  Change change;
  u64 number;
  template <class Lane>
  TILEHASH_FN void operator()(Lane lane) const {
    const auto t = lane.template tile<Width>();
    const u64 i = lane.index();
    const bool effect = change(change.key(i), lane_of<decltype(lane.template tile<Width>())>{t, i < number});
    change.count(effect && i < number);
  }
};

struct count_items {
  u64* met;
  TILEHASH_FN void operator()(const auto&... /*item*/) const { detail::fetch_add(met, u64(1)); }
};

template <class Design>
class views : public ::testing::Test {
 protected:
  using table_type = table<Design, view_space>;
  using view_type = decltype(std::declval<table_type&>().mutable_view(std::declval<view_space&>()));
  static constexpr u64 count = 600, threads = 4 * count;

  views() {
    for (u64 i = 0; i < count - 2; ++i) keys_.push_back(mix32(static_cast<u32>(i)));
    for (const u32 lookalike : {~0U, ~0U - 1}) {  // of the marks of free slots, in designs that have them
      std::erase(keys_, lookalike);
      keys_.push_back(lookalike);
    }
    memory_ = buffer<u32, view_space>(space_, keys_);
    table_.emplace(space_, 2 * count, table_options{.load_factor = 0.5, .seed = run_seed(), .grow = false});
  }

  // Returns how often the threads had an effect, with the first `keys` keys.
  template <template <class> class Change>
  u64 run(u64 number, u64 keys = count) {
    return run_through<Change>(table_->mutable_view(space_), number, keys);
  }
  // The same for `keys` keys from number `first` on, through a given view.
  template <template <class> class Change>
  u64 run_through(const view_type& view, u64 number, u64 keys, u64 first = 0) {
    const buffer<u64, view_space> effects(space_, std::vector<u64>{0});
    using change = Change<view_type>;
    space_.for_each(number, by_threads<change>{{{view, memory_.data() + first, keys, effects.data()}}});
    return effects.to_host()[0];
  }
  // Returns the number of items in retrieve_all() and for_each(). The arrays have size() elements, and
  // nothing is written behind them.
  u64 retrieved(const table_type& t) {
    constexpr u32 untouched = 0x5eed5eed;
    constexpr u64 behind = 2 * count;
    const u64 n = t.size();
    const buffer<u32, view_space> keys(space_, std::vector<u32>(n + behind, untouched));
    const buffer<u32, view_space> values(space_, std::vector<u32>(n + behind, untouched));
    u64 written;
    if constexpr (table_type::is_set)
      written = t.retrieve_all(space_, keys.first(n));
    else
      written = t.retrieve_all(space_, keys.first(n), values.first(n));
    const auto in_keys = keys.to_host(), in_values = values.to_host();
    for (u64 i = n; i < n + behind; ++i) {
      EXPECT_EQ(in_keys[i], untouched);
      EXPECT_EQ(in_values[i], untouched);
    }
    const buffer<u64, view_space> met(space_, std::vector<u64>{0});
    t.for_each(space_, count_items{met.data()});
    EXPECT_EQ(met.to_host()[0], n);
    return written;
  }
  // The same for the lanes of tiles. The number may be odd, so that some lanes have no key.
  template <template <class> class Change, u32 Width = view_type::tile_width>
  u64 run_tiles(u64 number, u64 keys = count) {
    const buffer<u64, view_space> effects(space_, std::vector<u64>{0});
    using change = Change<view_type>;
    start_tiles<Width>(change{{table_->mutable_view(space_), memory_.data(), keys, effects.data()}}, number);
    return effects.to_host()[0];
  }
  template <u32 Width, class Change>
  void start_tiles(const Change& what, u64 number) {
    [&]<class Space>(Space& space) {
      if constexpr (Space::has_lanes)
        space.for_each_lane(number, by_tiles<Change, Width>{what, number});
      else
        space.for_each(number, by_solo_tiles<Change>{what});
    }(space_);
  }
  // Returns how many keys a const view finds, by threads and by tiles together.
  u64 found_by(const table_view<Design>& view) {
    using change = lookups_by_view<table_view<Design>>;
    const buffer<u64, view_space> effects(space_, std::vector<u64>{0});
    const change what{{view, memory_.data(), count, effects.data()}};
    space_.for_each(count, by_threads<change>{what});
    start_tiles<table_view<Design>::tile_width>(what, count);
    return effects.to_host()[0];
  }

  view_space space_;
  std::vector<u32> keys_;
  buffer<u32, view_space> memory_;
  std::optional<table_type> table_;
};

using view_designs = ::testing::Types<tiled<u32, u32>, bucketed_cuckoo<u32, u32>,
#if TILEHASH_FEW_TYPES != 2
                                      papers::bucketed_cuckoo_balanced<u32, u32>,
#endif
                                      linear_probing<u32, u32>, horton<u32, void>>;
TYPED_TEST_SUITE_P(views);

TYPED_TEST_P(views, change_tables) {
  SCOPED_TRACE(run_seed());
  auto& t = *this->table_;
  const u64 n = this->count;
  const u64 stay = n - n / 3;
  EXPECT_EQ((this->template run<inserts_by_view>(this->threads)), n);
  EXPECT_EQ(t.size(), n);
  EXPECT_EQ((this->template run<inserts_by_view>(this->threads)), 0U);
  EXPECT_EQ((this->template run<lookups_by_view>(n)), n);
  if constexpr (!TestFixture::table_type::is_set) {
    EXPECT_EQ((this->template run<updates_by_view>(this->threads)), this->threads);
    const buffer<u32, view_space> values(this->space_, n);
    t.find(this->space_, this->memory_.span(), values.span());
    auto host = values.to_host();
    for (u64 i = 0; i < n; ++i) ASSERT_EQ(host[i], this->keys_[i] + 1 + 40);
    // If keys are few, most lanes of a warp assign to the same words.
    constexpr u64 few = 3;
    EXPECT_EQ((this->template run<assigns_by_view>(this->threads, few)), this->threads);
    t.find(this->space_, this->memory_.span(), values.span());
    host = values.to_host();
    for (u64 i = 0; i < n; ++i) ASSERT_EQ(host[i], this->keys_[i] + 1 + (i < few ? 0 : 40));
  }
  EXPECT_EQ((this->template run<erases_by_view>(this->threads, n / 3)), n / 3);
  EXPECT_EQ(t.size(), stay);
  EXPECT_EQ((this->template run<lookups_by_view>(n)), stay);

  // The table's own verbs continue with these contents.
  EXPECT_EQ((this->template run<erases_by_view>(n / 2, n / 2)), n / 2 - n / 3);
  EXPECT_EQ(t.erase(this->space_, this->memory_.span()), n - n / 2);
  EXPECT_TRUE(t.empty());
  EXPECT_EQ((this->template run<inserts_by_view>(this->threads)), n);
  t.rehash(this->space_, 0);
  EXPECT_EQ(t.size(), n);
  EXPECT_EQ((this->template run<lookups_by_view>(n)), n);

  // Up to the last key, including those that look like marks.
  EXPECT_EQ((this->template run<erases_by_view>(this->threads)), n);
  EXPECT_TRUE(t.empty());
  EXPECT_EQ((this->template run<lookups_by_view>(n)), 0U);
}

// Items without a free slot are refused and not counted.
TYPED_TEST_P(views, refuse_what_finds_no_slot) {
  SCOPED_TRACE(run_seed());
  this->table_.emplace(this->space_, this->count / 4,
                       table_options{.load_factor = 0.5, .seed = run_seed(), .grow = false});
  const u64 inserted = this->template run<inserts_by_view>(this->count);
  EXPECT_GT(inserted, this->count / 4);
  EXPECT_EQ(this->table_->size(), inserted);
  EXPECT_EQ((this->template run<lookups_by_view>(this->count)), inserted);
}

// Where a view's inserts move other keys, none is refused up to a load of 0.95: by threads, by tiles, each key
// by two of them.
TYPED_TEST_P(views, fill_a_table_nearly) {
  SCOPED_TRACE(run_seed());
  if (!TestFixture::view_type::displaces) GTEST_SKIP() << "they move no key";
  constexpr u64 slots = 16'000;
  for (const bool by_tile : {false, true}) {
    this->table_.emplace(this->space_, slots,
                         table_options{.load_factor = 0.98, .seed = run_seed(), .grow = false});
    const u64 all = this->table_->view().design.capacity(), n = all * 95 / 100;
    std::vector<u32> keys;
    for (u64 i = 0; i < n; ++i) keys.push_back(spread_key<u32>(run_seed() + i));
    this->memory_ = buffer<u32, view_space>(this->space_, keys);
    const u64 inserted = by_tile ? this->template run_tiles<inserts_by_view>(2 * n, n)
                                 : this->template run<inserts_by_view>(2 * n, n);
    EXPECT_EQ(inserted, n);
    EXPECT_EQ(this->table_->size(), n);
    EXPECT_EQ((this->template run<lookups_by_view>(n, n)), n);
    EXPECT_EQ(this->table_->erase(this->space_, this->memory_.span()), n);
    EXPECT_EQ(this->table_->size(), 0U);
  }
}

// The lanes of a tile serve each other's keys, at any tile width; lanes without a key change nothing.
TYPED_TEST_P(views, change_tables_by_tiles) {
  SCOPED_TRACE(run_seed());
  auto& t = *this->table_;
  const u64 n = this->count, some = this->threads - 7;
  constexpr u32 other_width = TestFixture::view_type::tile_width == 2 ? 8 : 2;
  EXPECT_EQ((this->template run_tiles<inserts_by_view>(some)), n);
  EXPECT_EQ(t.size(), n);
  EXPECT_EQ((this->template run_tiles<inserts_by_view, other_width>(some)), 0U);
  EXPECT_EQ((this->template run_tiles<lookups_by_view>(some)), some);
  EXPECT_EQ((this->template run<lookups_by_view>(n)), n);
  if constexpr (!TestFixture::table_type::is_set) {
    EXPECT_EQ((this->template run_tiles<updates_by_view>(this->threads)), this->threads);
    const buffer<u32, view_space> values(this->space_, n);
    t.find(this->space_, this->memory_.span(), values.span());
    auto host = values.to_host();
    for (u64 i = 0; i < n; ++i) ASSERT_EQ(host[i], this->keys_[i] + 1 + 40);
    EXPECT_EQ((this->template run_tiles<assigns_by_view, other_width>(some)), some);
    t.find(this->space_, this->memory_.span(), values.span());
    host = values.to_host();
    for (u64 i = 0; i < n; ++i) ASSERT_EQ(host[i], this->keys_[i] + 1);
  }
  EXPECT_EQ((this->template run_tiles<erases_by_view>(some, n / 3)), n / 3);
  EXPECT_EQ(t.size(), n - n / 3);
  EXPECT_EQ((this->template run_tiles<lookups_by_view, other_width>(n)), n - n / 3);
  EXPECT_EQ((this->template run_tiles<erases_by_view, other_width>(some)), n - n / 3);
  EXPECT_TRUE(t.empty());

  t = typename TestFixture::table_type(this->space_, n / 4,
                                       {.load_factor = 0.5, .seed = run_seed(), .grow = false});
  const u64 inserted = this->template run_tiles<inserts_by_view>(n);
  EXPECT_GT(inserted, n / 4);
  EXPECT_EQ(t.size(), inserted);
  EXPECT_EQ((this->template run_tiles<lookups_by_view>(n)), inserted);
}

// A view counts changes as long as the table has its memory, however often size() is called meanwhile.
TYPED_TEST_P(views, count_for_as_long_as_they_are_kept) {
  SCOPED_TRACE(run_seed());
  auto& t = *this->table_;
  const u64 n = this->count, half = n / 2;
  const auto view = t.mutable_view(this->space_);
  EXPECT_EQ((this->template run_through<inserts_by_view>(view, half, half)), half);
  EXPECT_EQ(t.size(), half);
  EXPECT_EQ(t.size(), half);
  EXPECT_EQ(this->retrieved(t), half);
  EXPECT_EQ((this->template run_through<inserts_by_view>(view, n - half, n - half, half)), n - half);
  EXPECT_EQ(t.size(), n);
  EXPECT_EQ(this->retrieved(t), n);

  // A copy has the changes once, and counts its own.
  auto copy = t.clone(this->space_);
  EXPECT_EQ(copy.size(), n);
  EXPECT_EQ(this->retrieved(copy), n);
  EXPECT_EQ(copy.erase(this->space_, this->memory_.first(half)), half);
  EXPECT_EQ(copy.size(), n - half);
  EXPECT_EQ(t.size(), n);
  EXPECT_EQ((this->template run_through<erases_by_view>(view, half, half)), half);
  EXPECT_EQ(t.size(), n - half);
  EXPECT_EQ(copy.clone(this->space_).size(), n - half);

  // The table's own verbs see a view's changes, and the view may continue after them.
  EXPECT_EQ(t.erase(this->space_, this->memory_.span()), n - half);
  EXPECT_TRUE(t.empty());
  EXPECT_EQ((this->template run_through<inserts_by_view>(view, n, n)), n);
  t.clear(this->space_);
  EXPECT_EQ(t.size(), 0U);
  EXPECT_EQ((this->template run_through<inserts_by_view>(view, half, half)), half);
  insert_report report;
  if constexpr (TestFixture::table_type::is_set)
    report = t.insert(this->space_, this->memory_.span());
  else
    report = t.insert(this->space_, this->memory_.span(), this->memory_.span());
  EXPECT_EQ(report, (insert_report{.inserted = n - half, .present = half}));
  EXPECT_EQ(t.size(), n);
  EXPECT_EQ(this->retrieved(t), n);
}

// The views of a moved-from table and of no table find nothing, by threads and by tiles. The second refuses
// all items. (tests/contract/lookup.hpp tests it for all designs.)
TYPED_TEST_P(views, of_no_memory_find_nothing) {
  auto& t = *this->table_;
  const u64 n = this->count;
  EXPECT_EQ((this->template run<inserts_by_view>(n)), n);
  const auto moved = std::move(t);
  const table_view<TypeParam> empty = t.view();  // NOLINT(bugprone-use-after-move): this is what is asked
  EXPECT_EQ(empty.entries(), 0U);
  const typename TestFixture::view_type none;
  EXPECT_EQ(this->found_by(empty), 0U);
  EXPECT_EQ((this->template run_through<lookups_by_view>(none, n, n)), 0U);
  EXPECT_EQ((this->template run_through<inserts_by_view>(none, n, n)), 0U);
  EXPECT_EQ((this->template run_through<erases_by_view>(none, n, n)), 0U);
  EXPECT_EQ(this->found_by(moved.view()), 2 * n);
  EXPECT_GT((this->template run<inserts_by_view>(n)), 0U) << "it gets memory again";
}

REGISTER_TYPED_TEST_SUITE_P(views, change_tables, refuse_what_finds_no_slot, fill_a_table_nearly,
                            change_tables_by_tiles, count_for_as_long_as_they_are_kept,
                            of_no_memory_find_nothing);

}  // namespace tilehash::contract

// SPDX-License-Identifier: Apache-2.0
// Two threads of a user's kernel that insert into a table made by hand, under all schedules in which they
// interrupt each other once or twice at chosen operations.
// length: one table made by hand, and its schedules.
#include "points.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <span>
#include <vector>

#include <tilehash/designs/linear_probing.hpp>
#include <tilehash/designs/tiled.hpp>
#include <tilehash/table_view.hpp>

#include "emulated.hpp"
#include "explore.hpp"

namespace tilehash {
namespace {

// One of two groups of `lanes` lanes runs `lead` operations, the other `turn`, and then the first to its end.
// Only if it is waiting for the other, which may hold a lock, do they go on in turns.
class two_turns : public emulation::choices {
 public:
  two_turns(u32 lanes, u32 leader, u64 lead, u64 turn)
      : lanes_(lanes), running_(leader), left_(lead), turn_(turn) {}
  u32 at_point(u32 lane, const std::vector<u32>& ready) override {
    if (left_-- != 0) return lane;
    left_ = ++turns_ == 1 ? turn_ : long_turn;
    running_ ^= 1;
    return at_stop(ready);
  }
  u32 at_stop(const std::vector<u32>& ready) override {
    std::optional<u32> mine, any;
    for (const u32 lane : ready) {
      if (!any || lane < *any) any = lane;
      if (lane / lanes_ == running_ && (!mine || lane < *mine)) mine = lane;
    }
    return mine ? *mine : *any;
  }
  bool was_interrupted() const { return turns_ != 0; }
  bool came_back() const { return turns_ >= 2; }

 private:
  static constexpr u64 long_turn = 500;
  u32 lanes_, running_, turns_ = 0;
  u64 left_, turn_;
};

// A table of some 40 buckets, into which a test puts keys where it likes.
template <class Design>
class hand_made {
  using slot_type = typename Design::slot_type;
  using key = typename Design::key_type;
  using location = typename Design::location;
  static constexpr u32 slots = Design::bucket_slots;

 public:
  explicit hand_made(u64 seed) : random_(seed) {
    const u64 capacity = slot_type::min_buckets * slots;
    memory_.resize(Design::bytes(capacity) / 64 + 2);
    design_ = Design(memory_.front().bytes, capacity, seed, 0.8);
  }
  u64 slots_in_all() const { return design_.capacity(); }
  u32 any_bucket() { return static_cast<u32>(random_() % (design_.capacity() / slots)); }
  location locate(key k) const { return design_.locate(slot_type::encode(k)); }
  u32 first_of(key k) const { return design_.where(locate(k)); }
  u32 second_of(key k) const { return design_.where(second(k)); }
  // A key for which is(key) is true.
  template <class Is>
  key draw(const Is& is) {
    for (;;) {
      const auto k = static_cast<key>(random_());
      if (is(k)) return k;
    }
  }
  // Fills a bucket with keys that are in their second bucket there, and whose first buckets are not `not_in`.
  // The first `free` slots stay free.
  std::vector<key> fill_with_second(u32 bucket, const std::vector<u32>& not_in, u32 free = 0) {
    std::vector<key> keys;
    for (u32 slot = free; slot < slots; ++slot) {
      const key k = draw([&](key x) {
        return second_of(x) == bucket && first_of(x) != bucket &&
               std::ranges::count(not_in, first_of(x)) == 0;
      });
      design_.passes(locate(k));
      put(bucket, slot, k, second(k).stored);
      keys.push_back(k);
    }
    return keys;
  }
  // The same with keys that are in their first bucket there, and whose second buckets are not `not_in`.
  std::vector<key> fill_with_first(u32 bucket, const std::vector<u32>& not_in) {
    std::vector<key> keys;
    for (u32 slot = 0; slot < slots; ++slot) {
      const key k =
          draw([&](key x) { return first_of(x) == bucket && std::ranges::count(not_in, second_of(x)) == 0; });
      put(bucket, slot, k, locate(k).stored);
      keys.push_back(k);
    }
    return keys;
  }
  // The same, and all their second buckets are `next`.
  void fill_with_those_to(u32 bucket, u32 next) {
    for (u32 slot = 0; slot < slots; ++slot) {
      const key k = draw([&](key x) { return first_of(x) == bucket && second_of(x) == next; });
      put(bucket, slot, k, locate(k).stored);
    }
  }
  void put(u32 bucket, u32 slot, key k, typename Design::stored_key stored) {
    auto& word = design_.bucket_at(bucket)[slot];
    word = slot_type::written_over(word, stored, static_cast<typename slot_type::value_bits>(k));
  }
  // All keys, sorted.
  std::vector<key> keys() const {
    std::vector<key> all;
    for (u64 i = 0; i < design_.capacity(); ++i) {
      const auto w = design_.slots()[i];
      if (!slot_type::is_free(w))
        all.push_back(slot_type::decode(design_.key_at(i, w)));
      else
        EXPECT_EQ(static_cast<decltype(w)>(w & ~slot_type::filter_mask), 0) << "a free slot with other bits";
    }
    std::ranges::sort(all);
    return all;
  }
  std::ptrdiff_t copies(key k) const { return std::ranges::count(keys(), k); }
  bool is_locked() const {
    return std::ranges::any_of(std::span(design_.marks(), design_.capacity() / slots / 32 + 1),
                               [](u32 bits) { return bits != 0; });
  }
  mutable_table_view<Design> view() {
    mutable_table_view<Design> v;
    v.design = design_;
    v.sentinels = {cells_};
    v.changes = changes_;
    return v;
  }
  std::vector<char> contents() const {
    const char* const from = memory_.front().bytes;
    return {from, from + memory_.size() * sizeof(line)};
  }
  void restore(const std::vector<char>& contents) {
    std::ranges::copy(contents, memory_.front().bytes);
    std::ranges::fill(changes_, 0);
  }

 private:
  location second(key k) const {
    location p = locate(k);
    design_.turn(p);
    return p;
  }
  struct alignas(64) line {
    char bytes[64] = {};
  };
  std::mt19937_64 random_;
  std::vector<line> memory_;
  typename detail::sentinel_cells<slot_type>::cell cells_[2] = {};
  u64 changes_[detail::size_words] = {};
  Design design_;
};

enum class caller : u32 { thread, tile, warp };  // warp: all lanes place the items whose buckets are full
// The callers of a test. Only keys and values of 16 bytes in all are placed by a warp.
template <class Design>
std::vector<caller> callers_of() {
  if (detail::displaces_together<Design>) return {caller::thread, caller::tile, caller::warp};
  return {caller::thread, caller::tile};
}
constexpr u32 width = 4;  // of a tile

// The lanes of a warp, each of which may read the word of any other.
class emulated_threads {
 public:
  explicit emulated_threads(emulation::thread& me, u32 lanes) : me_(&me), lanes_(lanes) {}
  u32 size() const { return lanes_; }
  u32 rank() const { return me_->lane(); }
  u32 before(u32 of) const { return of & ((1U << rank()) - 1); }
  u32 ballot(bool p) const { return me_->vote("ballot", p, emulation::site::current()); }
  bool any(bool p) const { return ballot(p) != 0; }
  void sync() const { me_->vote("sync", false, emulation::site::current()); }
  template <class T>
  T broadcast(T x, u32 from) const {
    T result = x;
    for (u32 lane = 0; lane < lanes_; ++lane) {
      const T of_lane = me_->said_by("broadcast", x, lane, 32, emulation::site::current());
      if (lane == from) result = of_lane;
    }
    return result;
  }

 private:
  emulation::thread* me_;
  u32 lanes_;
};
// So many groups, and lanes without one.
template <class Design>
constexpr u32 warp_lanes(u32 groups) {
  return std::min(32U, groups * detail::moves_together<Design, emulated_threads>::group + 1);
}

template <class Design>
  requires(mutable_table_view<Design>::displaces)
outcome insert_by_warp(const mutable_table_view<Design>& view, const emulated_threads& t,
                       typename Design::key_type key, bool mine) {
  using slot_type = typename Design::slot_type;
  const detail::item<slot_type> x{detail::query<slot_type>(key),
                                  static_cast<typename slot_type::value_bits>(key), true};
  const outcome o = detail::insert_by_thread<Design>::run(view.design, solo_tile{}, x, mine);
  const bool full = mine && o == outcome::refused;
  const outcome displaced =
      detail::displace_together<1>(view.design, view.design.hash(x.key.bits), x.value, t, full);
  return full ? displaced : o;
}

// Two callers insert a key each, under all schedules of two turns with limited numbers of operations. `check`
// gets the outcomes. `updates`: by insert_or_assign().
template <class Design, class Check>
u64 insert_by_two(hand_made<Design>& table, const typename Design::key_type (&keys)[2],
                  const caller (&callers)[2], u64 most_lead, u64 most_turn, const Check& check,
                  bool updates = false) {
  const auto contents = table.contents();
  const auto view = table.view();
  emulation::machine m({});
  u64 schedules = 0;
  const bool wide = callers[0] == caller::warp || callers[1] == caller::warp;
  const u32 lanes = wide ? warp_lanes<Design>(1) : width;
  // The lanes of a warp have so many operations more that some schedules suffice.
  const auto factor = [&](u32 of) { return callers[of] == caller::warp ? u64(lanes) : 1; };
  const auto stride = [&](u32 of) { return callers[of] == caller::warp ? u64(3 * lanes - 1) : 1; };
  for (u32 leader = 0; leader < 2; ++leader) {
    bool more = true;
    for (u64 lead = 0; more && lead < most_lead * factor(leader); lead += stride(leader)) {
      more = false;
      bool again = true;
      for (u64 turn = 0; again && turn < most_turn * factor(1 - leader);
           turn += stride(1 - leader), ++schedules) {
        SCOPED_TRACE("leader " + std::to_string(leader) + ", operations " + std::to_string(lead) + " and " +
                     std::to_string(turn));
        table.restore(contents);
        two_turns ways(lanes, leader, lead, turn);
        emulation::exploration run(m, 1, ways);
        outcome became[2] = {};
        run.run(2, lanes, [&](emulation::thread& me) {
          const u64 i = me.block().index;
          const bool mine = me.rank() == 0;
          outcome o = outcome::refused;
          if (callers[i] == caller::warp) {
            o = insert_by_warp(view, emulated_threads(me, lanes), keys[i], mine);
          } else if (callers[i] == caller::tile) {
            const emulated_tile<width> t(me);
            o = updates ? view.insert_or_assign(t, keys[i], keys[i], mine)
                        : view.insert(t, keys[i], keys[i], mine);
          } else if (mine) {
            o = updates ? view.insert_or_assign(keys[i], keys[i]) : view.insert(keys[i], keys[i]);
          }
          if (mine) became[i] = o;
        });
        check(became);
        more = more || ways.was_interrupted();
        again = ways.came_back();
        if (::testing::Test::HasFailure()) more = again = false;
      }
    }
  }
  table.restore(contents);
  return schedules;
}

// A bucket whose keys are all in their second bucket there. The first buckets of those keys have free slots,
// since others were erased. An insert that needs a slot of it must not move a key back to its first bucket: an
// insert of that key may have read that bucket already, and the key's second bucket later.
template <class Design>
void ask_for_a_key_that_could_go_back(u64 seed) {
  using key = typename Design::key_type;
  hand_made<Design> table(seed);
  const u32 bucket = table.any_bucket();
  const key item =
      table.draw([&](key k) { return table.first_of(k) == bucket && table.second_of(k) != bucket; });
  const u32 other = table.second_of(item);
  table.fill_with_second(other, {bucket, other});
  const auto stored = table.fill_with_second(bucket, {bucket, other});
  for (const caller by : callers_of<Design>()) {
    SCOPED_TRACE(by == caller::tile   ? "the key by a tile"
                 : by == caller::warp ? "the key by a warp"
                                      : "the key by a thread");
    for (const key k : {stored[seed % stored.size()]}) {
      const caller of_item = by == caller::warp ? by : caller::thread,
                   of_key = by == caller::tile ? by : caller::thread;
      insert_by_two(table, {item, k}, {of_item, of_key}, 14, 110, [&](const outcome(&became)[2]) {
        EXPECT_EQ(became[1], outcome::present);
        EXPECT_EQ(table.copies(k), 1);
        EXPECT_EQ(table.copies(item), became[0] == outcome::inserted ? 1 : 0);
      });
    }
  }
}
TEST(two_inserts_by_views, keep_a_key_in_its_second_bucket) {
  for (u64 seed = 0; seed < contract::scaled(2, 1); ++seed) {
    ask_for_a_key_that_could_go_back<tiled<u64, u64>>(seed);
    ask_for_a_key_that_could_go_back<tiled<u32, u32>>(seed);
  }
}

// A bucket full of keys that are in their first bucket there, and could go on to their second, at once or after
// another move. One does for an item. Meanwhile another thread inserts the item too, or another one that needs a
// move from that bucket, or a key that could move, or one whose first bucket is the second of a key that could.
template <class Design>
void ask_for_a_key_that_moves(u64 seed, u32 moves) {
  using key = typename Design::key_type;
  hand_made<Design> table(seed);
  const u32 bucket = table.any_bucket();
  const auto comes_here = [&](key k) { return table.first_of(k) == bucket && table.second_of(k) != bucket; };
  const key item = table.draw(comes_here);
  const u32 other = table.second_of(item);
  const key like_it =
      table.draw([&](key k) { return comes_here(k) && table.second_of(k) == other && k != item; });
  table.fill_with_second(other, {bucket, other});
  const auto stored = table.fill_with_first(bucket, {bucket, other});
  std::vector<u32> full{bucket, other};
  if (moves == 2) {
    for (const key k : stored) full.push_back(table.second_of(k));
    for (const u32 next : std::set<u32>(full.begin() + 2, full.end())) table.fill_with_first(next, full);
  }
  const auto before = table.keys();
  const key in_its_way = table.draw([&](key k) {
    return table.first_of(k) == table.second_of(stored[0]) && std::ranges::count(before, k) == 0;
  });
  for (const key meets : {item, like_it, stored[0], stored[1], in_its_way}) {
    auto after = before;
    for (const key k : std::set{item, meets})
      if (std::ranges::count(before, k) == 0) after.push_back(k);
    std::ranges::sort(after);
    for (const caller by : callers_of<Design>()) {
      const u64 n = insert_by_two(
          table, {item, meets}, {by == caller::warp ? by : caller::thread, by}, 80, 80,
          [&](const outcome(&became)[2]) {
            const u64 inserted = (became[0] == outcome::inserted) + (became[1] == outcome::inserted);
            EXPECT_EQ(inserted, after.size() - before.size());
            EXPECT_TRUE(became[0] != outcome::refused && became[1] != outcome::refused);
            EXPECT_EQ(table.keys(), after);
            for (const key k : after) EXPECT_TRUE(table.view().contains(k));
            EXPECT_FALSE(table.is_locked());
          });
      EXPECT_GT(n, by == caller::warp ? 20U : 100U);
    }
  }
}
TEST(two_inserts_by_views, of_which_one_moves_a_key) {
  for (u64 seed = 0; seed < contract::scaled(2, 1); ++seed) {
    for (u32 moves = 1; moves < 3; ++moves) {
      ask_for_a_key_that_moves<tiled<u64, u64>>(seed, moves);
      if (moves == 1 && contract::is_asked(0, 2)) ask_for_a_key_that_moves<tiled<u32, u32>>(seed, moves);
    }
  }
}

// The only way for an item is a path of three keys, more than short moves look for, to the last free slot of a
// bucket. Meanwhile a key whose first bucket that is takes the slot, and locks nothing.
template <class Design>
void ask_for_the_last_free_slot(u64 seed) {
  using key = typename Design::key_type;
  hand_made<Design> table(seed);
  const key item = table.draw([&](key k) { return table.first_of(k) != table.second_of(k); });
  std::vector<u32> path{table.first_of(item), table.second_of(item)};
  while (path.size() < 5) {
    const u32 next = table.any_bucket();
    if (std::ranges::count(path, next) == 0) path.push_back(next);
  }
  table.fill_with_second(path[1], path);
  table.fill_with_those_to(path[0], path[2]);
  table.fill_with_those_to(path[2], path[3]);
  table.fill_with_those_to(path[3], path[4]);
  table.fill_with_second(path[4], path, 1);
  const auto before = table.keys();
  const key in_its_way = table.draw([&](key k) {
    return table.first_of(k) == path[4] && std::ranges::count(path, table.second_of(k)) == 0;
  });
  for (const caller by : callers_of<Design>()) {
    const u64 n = insert_by_two(table, {item, in_its_way}, {by, caller::thread}, 600, 40,
                                [&](const outcome(&became)[2]) {
                                  auto after = before;
                                  after.push_back(in_its_way);
                                  if (became[0] == outcome::inserted) after.push_back(item);
                                  std::ranges::sort(after);
                                  EXPECT_EQ(became[1], outcome::inserted);
                                  EXPECT_EQ(table.keys(), after);
                                  for (const key k : after) EXPECT_TRUE(table.view().contains(k));
                                  EXPECT_FALSE(table.is_locked());
                                });
    EXPECT_GT(n, by == caller::warp ? 20U : 100U);
  }
}
TEST(two_inserts_by_views, of_which_one_takes_the_end_of_a_path) {
  ask_for_the_last_free_slot<tiled<u64, u64>>(1);
  if (!contract::small_sizes()) ask_for_the_last_free_slot<tiled<u32, u32>>(1);
}

// A thread and a tile choose the same slot for a key.
template <class Design>
void ask_for_one_key(u64 seed) {
  using key = typename Design::key_type;
  hand_made<Design> table(seed);
  const key item = table.draw([](key) { return true; });
  for (const caller a : {caller::thread, caller::tile}) {
    for (const caller b : {caller::thread, caller::tile}) {
      for (const bool updates : {false, true}) {
        const auto check = [&](const outcome(&became)[2]) {
          EXPECT_EQ((became[0] == outcome::inserted) + (became[1] == outcome::inserted), 1);
          EXPECT_EQ(table.copies(item), 1);
        };
        EXPECT_GT(insert_by_two(table, {item, item}, {a, b}, 40, 40, check, updates), 20U);
      }
    }
  }
}
TEST(two_inserts_by_views, of_one_key_by_a_thread_and_a_tile) {
  for (u64 seed = 0; seed < 4; ++seed) {
    if (!contract::is_asked(seed, 2)) continue;
    ask_for_one_key<tiled<u64, u64>>(seed);
    ask_for_one_key<tiled<u32, u32>>(seed);
  }
}

// Two full buckets, each with one key that is in its first bucket there and could go on to the other bucket. The
// other keys could go back to their first buckets, which are empty. A search that prefers keys in their first
// bucket goes round these two, so it must not always prefer them. (After many erases and inserts, an insert met
// such buckets once in some 10^6 times.)
template <class Design>
void ask_where_first_keys_go_round(u64 seed) {
  using key = typename Design::key_type;
  using slot_type = typename Design::slot_type;
  hand_made<Design> table(seed);
  const auto draw_between = [&](u32 first, u32 second) {
    return table.draw([&](key k) { return table.first_of(k) == first && table.second_of(k) == second; });
  };
  const u32 a = table.any_bucket();
  const key item = table.draw([&](key k) { return table.first_of(k) == a && table.second_of(k) != a; });
  const u32 b = table.second_of(item);
  for (const u32 bucket : {a, b}) {
    table.fill_with_second(bucket, {a, b});
    const key goes_round = draw_between(bucket, bucket == a ? b : a);
    table.put(bucket, 0, goes_round, table.locate(goes_round).stored);
  }
  auto after = table.keys();
  after.push_back(item);
  std::ranges::sort(after);
  const auto bits = slot_type::encode(item);
  const auto d = table.view().design.displacement_of(
      bits, slot_type::pack(bits, static_cast<typename slot_type::value_bits>(item)));
  EXPECT_EQ(d.run(solo_tile{}, true), outcome::inserted);
  EXPECT_EQ(table.keys(), after);
  for (const key k : after) EXPECT_TRUE(table.view().contains(k));
  EXPECT_FALSE(table.is_locked());
}
TEST(displacement, leaves_two_buckets_whose_first_keys_go_round) {
  for (u64 seed = 0; seed < 20; ++seed) {
    SCOPED_TRACE(seed);
    ask_where_first_keys_go_round<tiled<u64, u64>>(seed);
    ask_where_first_keys_go_round<tiled<u32, u32>>(seed);
  }
}

// Two warps insert the items, each lane one.
template <class View, class Key>
std::vector<outcome> insert_in_warps(emulation::exploration& run, const View& view,
                                     const std::vector<Key>& items) {
  std::vector<outcome> became(items.size());
  constexpr u32 lanes = warp_lanes<std::remove_cvref_t<decltype(view.design)>>(2);
  run.run(2, lanes, [&](emulation::thread& me) {
    const u64 i = 2 * u64(me.rank()) + me.block().index;
    const bool mine = i < items.size();
    const outcome o = insert_by_warp(view, emulated_threads(me, lanes), mine ? items[i] : Key(1), mine);
    if (mine) became[i] = o;
  });
  return became;
}
// A thread, a tile or a lane of a warp, as `run` says, inserts each item while the others do.
template <class View, class Key>
std::vector<outcome> insert_at_once(emulation::exploration& run, const View& view,
                                    const std::vector<Key>& items) {
  if constexpr (View::displaces) {
    if (run.below(4) == 0) return insert_in_warps(run, view, items);
  }
  const u64 tiles = run();
  std::vector<outcome> became(items.size());
  run.run(items.size(), width, [&](emulation::thread& me) {
    const u64 i = me.block().index;
    const bool mine = me.rank() == 0;
    outcome o = outcome::refused;
    if ((tiles >> i & 1) != 0)
      o = view.insert(emulated_tile<width>(me), items[i], items[i], mine);
    else if (mine)
      o = view.insert(items[i], items[i]);
    if (mine) became[i] = o;
  });
  return became;
}

// A crowded table from which keys were erased, and a few threads and tiles that insert keys of few first buckets,
// some of them the same: under random schedules.
template <class Design>
void ask_at_random(emulation::exploration& run) {
  using key = typename Design::key_type;
  hand_made<Design> table(run());
  const auto view = table.view();
  std::vector<key> present, items;
  const u64 fill = table.slots_in_all() * (70 + run.below(31)) / 100;
  for (u64 i = 0; i < fill; ++i) {
    const key k = table.draw([](key) { return true; });
    if (view.insert(k, k) == outcome::inserted) present.push_back(k);
  }
  for (u64 gone = run.below(12); gone != 0 && !present.empty(); --gone) {
    const u64 i = run.below(present.size());
    EXPECT_TRUE(view.erase(present[i]));
    present.erase(present.begin() + static_cast<std::ptrdiff_t>(i));
  }
  const std::set<key> before(present.begin(), present.end());
  const u32 buckets[] = {table.any_bucket(), table.any_bucket()};
  const u64 callers = 2 + run.below(5);
  for (u64 i = 0; i < callers; ++i) {
    const u32 bucket = buckets[run.below(2)];
    if (i != 0 && run.below(4) == 0)
      items.push_back(items[run.below(i)]);
    else if (run.below(5) == 0)
      items.push_back(present[run.below(present.size())]);
    else
      items.push_back(table.draw([&](key k) { return table.first_of(k) == bucket; }));
  }
  const std::vector<outcome> became = insert_at_once(run, view, items);
  std::map<key, u32> inserted;
  for (u64 i = 0; i < callers; ++i) inserted[items[i]] += became[i] == outcome::inserted;
  std::set<key> after = before;
  for (const auto& [k, n] : inserted) {
    EXPECT_LE(n, before.count(k) != 0 ? 0U : 1U) << "calls that inserted a key";
    if (n != 0) after.insert(k);
  }
  for (u64 i = 0; i < callers; ++i) {
    if (became[i] == outcome::present) {
      EXPECT_EQ(after.count(items[i]), 1U);
    }
  }
  EXPECT_EQ(table.keys(), std::vector<key>(after.begin(), after.end()));
  for (const key k : after) EXPECT_TRUE(table.view().contains(k));
  EXPECT_FALSE(table.is_locked());
}
TEST(inserts_by_views, at_random) {
  emulation::explore(contract::scaled(1500, 150), [](emulation::exploration& run) {
    if (run.below(2) == 0)
      ask_at_random<tiled<u64, u64>>(run);
    else
      ask_at_random<tiled<u32, u32>>(run);
  });
}

// The same by linear probing, in a small table with tombstones, whose last slots fill no sector.
template <class Key>
void ask_along_slots(emulation::exploration& run) {
  using design_type = linear_probing<Key, Key>;
  using slot_type = typename design_type::slot_type;
  const u64 capacity = 5 + run.below(20);
  struct alignas(64) line {
    char bytes[64] = {};
  };
  std::vector<line> memory(design_type::bytes(capacity) / sizeof(line) + 1);
  typename detail::sentinel_cells<slot_type>::cell cells[2] = {};
  u64 changes[detail::size_words] = {};
  mutable_table_view<design_type> view;
  view.design = design_type(memory.front().bytes, capacity, run());
  view.sentinels = {cells};
  view.changes = changes;
  std::fill_n(view.design.slots(), capacity, slot_type::empty_word);

  const auto any_key = [&] { return static_cast<Key>(run.below(3 * capacity)); };
  std::set<Key> before;
  for (u64 left = capacity * (30 + run.below(71)) / 100; left != 0; --left) {
    const Key k = any_key();
    if (view.insert(k, k) == outcome::inserted) before.insert(k);
  }
  for (u64 left = run.below(6); left != 0; --left) {
    const Key k = any_key();
    EXPECT_EQ(view.erase(k), before.erase(k) == 1);
  }
  std::vector<Key> items(2 + run.below(5));
  for (Key& k : items) k = run.below(3) == 0 ? items.front() : any_key();
  const std::vector<outcome> became = insert_at_once(run, view, items);
  std::map<Key, u32> inserted;
  for (u64 i = 0; i < items.size(); ++i) inserted[items[i]] += became[i] == outcome::inserted;
  std::vector<Key> after(before.begin(), before.end()), stored;
  for (const auto& [k, n] : inserted) {
    EXPECT_LE(n, before.count(k) != 0 ? 0U : 1U) << "calls that inserted a key";
    if (n != 0) after.push_back(k);
  }
  std::ranges::sort(after);
  for (u64 i = 0; i < capacity; ++i) {
    const auto w = view.design.slots()[i];
    if (!slot_type::is_free(w)) stored.push_back(slot_type::decode(slot_type::key_of(w)));
  }
  std::ranges::sort(stored);
  EXPECT_EQ(stored, after);
  for (const Key k : after) EXPECT_TRUE(view.contains(k));
  if (std::ranges::count(became, outcome::refused) != 0) {
    EXPECT_EQ(stored.size(), capacity) << "refused, but there are free slots";
  }
}
TEST(inserts_by_views, at_random_along_slots) {
  emulation::explore(contract::scaled(20000, 2000), [](emulation::exploration& run) {
    if (run.below(2) == 0)
      ask_along_slots<u64>(run);
    else
      ask_along_slots<u32>(run);
  });
}

}  // namespace
}  // namespace tilehash

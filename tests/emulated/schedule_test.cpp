// SPDX-License-Identifier: Apache-2.0
// The promises of designs for calls that meet, under schedules that stop at every atomic operation.
//
// A table is nearly full, and the items that come share a bucket or two, so that they meet. They come in the
// phases of an insert (engine/insert_phases.hpp), each of which any number of threads or tiles share: place,
// displace, change values; then some are erased, and buckets tidied. After each phase every key is where a
// lookup finds it, once, with a value that it may have.
// length: one question for all designs, with the memory and the model that it needs.
#include "points.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <numeric>
#include <set>
#include <vector>

#include <tilehash/algorithm/shared_work.hpp>
#include <tilehash/designs/bucketed_cuckoo.hpp>
#include <tilehash/designs/double_hashing.hpp>
#include <tilehash/designs/dynamic_cuckoo.hpp>
#include <tilehash/designs/horton.hpp>
#include <tilehash/designs/indexed.hpp>
#include <tilehash/designs/linear_probing.hpp>
#include <tilehash/designs/robin_hood.hpp>
#include <tilehash/designs/tiled.hpp>
#include <tilehash/engine/records_view.hpp>
#include <tilehash/kernel/erase.hpp>
#include <tilehash/kernel/sweep.hpp>
#include <tilehash/kernel/upsert.hpp>
#include <tilehash/papers/bucketed_cuckoo_balanced.hpp>
#include <tilehash/papers/cuckoo.hpp>
#include <tilehash/papers/mega_kv.hpp>
#include <tilehash/table_view.hpp>

#include "emulated.hpp"
#include "explore.hpp"

namespace tilehash {
namespace {

using emulation::exploration;
using emulation::explore;
using emulation::explore_all;

// ---- the machine finds what is planted, and what is right passes ----
// Two threads add 1 each; gives the sum.
u32 counted(exploration& run, bool atomically) {
  u32 sum = 0;
  run.run(2, 1, [&](emulation::thread&) {
    if (atomically)
      detail::fetch_add(&sum, 1U);
    else
      detail::store_relaxed(&sum, detail::load_relaxed(&sum) + 1);
  });
  return sum;
}
TEST(schedules_of_counters, find_a_lost_one) {
  u32 lost = 0, lost_at_random = 0, lost_atomically = 0;
  EXPECT_EQ(explore_all(0, 100, 1, [&](exploration& run) { lost += counted(run, false) != 2; }), 2U);
  EXPECT_EQ(lost, 0U);
  EXPECT_GT(explore_all(1, 100, 1, [&](exploration& run) { lost += counted(run, false) != 2; }), 2U);
  EXPECT_GT(lost, 0U);
  explore(1000, [&](exploration& run) { lost_at_random += counted(run, false) != 2; });
  EXPECT_GT(lost_at_random, 0U);
  explore(100, [&](exploration& run) { lost_atomically += counted(run, true) != 2; });
  EXPECT_EQ(lost_atomically, 0U);
}
// Lanes of a warp, warps and blocks: their order, by the seed.
TEST(schedules_of_counters, repeat_by_seed) {
  const auto order_of = [](u64 seed) {
    emulation::machine m({});
    exploration run(m, seed);
    u32 next = 0;
    std::vector<u32> order;
    run.run(2, 64, [&](emulation::thread& me) {
      detail::fetch_add(&next, 1U);
      const emulated_tile<4> t(me);
      t.any(true);
      order.push_back(static_cast<u32>(me.block().index * 64 + me.rank()));
      detail::fetch_add(&next, 1U);
    });
    EXPECT_EQ(next, 256U);
    return order;
  };
  EXPECT_EQ(order_of(1), order_of(1));
  EXPECT_NE(order_of(1), order_of(2));
}
TEST(schedules_of_counters, end_a_loop_without_end) {
  emulation::random_choices any(1);
  emulation::machine m({.resident = 2, .at_atomics = &any, .max_points = 1000});
  u32 never = 0;
  const auto wait = [&](emulation::thread&) {
    while (detail::load_relaxed(&never) == 0) {
    }
  };
  EXPECT_THROW(m.run(2, 1, 0, wait), emulation::convergence_error);
  never = 1;
  m.run(2, 1, 0, wait);
}
TEST(schedules_of_counters, read_16_bytes_in_halves) {
  const auto torn = [](bool tears) {
    u32 times = 0;
    for (u64 seed = 0; seed < 500; ++seed) {
      emulation::random_choices any(seed);
      emulation::machine m({.seed = seed, .resident = 2, .at_atomics = &any, .torn_loads = tears});
      alignas(16) u128 word = 0;
      m.run(2, 1, 0, [&](emulation::thread& me) {
        if (me.block().index == 0) {
          detail::compare_and_swap(&word, u128(0), u128(1) << 64 | 1);
        } else {
          const u128 seen = detail::load_relaxed(&word);
          times += static_cast<u64>(seen) != static_cast<u64>(seen >> 64);
        }
      });
    }
    return times;
  };
  EXPECT_GT(torn(true), 0U);
  EXPECT_EQ(torn(false), 0U);
}

// ---- blocks that share work ----
// Blocks that share work after their own: each share is taken once, all have finished their own before, one block ends the call
// when all shares are done, and the words are zero for the next call.
void share_work(exploration& run, bool is_work) {
  const u64 blocks = 1 + run.below(4), shares = run.below(4);
  u64 words[2] = {}, finished = 0, ends = 0;
  std::vector<u64> taken(shares), expects(blocks);
  for (u64& e : expects) e = run.below(2);
  const detail::shared_work work{words, words + 1, blocks};
  const auto end = [&] {
    ++ends;
    for (const u64 times : taken) EXPECT_EQ(times, u64(is_work));
  };
  run.run(blocks, 1, [&](emulation::thread& me) {
    detail::fetch_add(&finished, u64(1));
    const bool is_last = work.finish();
    if (is_last) {
      EXPECT_EQ(finished, blocks);
      if (!is_work) return work.end_without_work(), end();
      work.open();
    } else if (!is_work || expects[me.block().index] == 0) {
      if (work.go()) end();
      return;
    }
    if (is_last || work.is_opened()) {
      EXPECT_EQ(finished, blocks);
      for (u64 i = work.take(); i < shares; i = work.take()) detail::fetch_add(&taken[i], u64(1));
    }
    if (work.leave()) end();
  });
  EXPECT_EQ(ends, 1U);
  EXPECT_EQ(words[0], 0U);
  EXPECT_EQ(words[1], 0U);
}
TEST(schedules_of_shared_work, each_share_once) {
  explore(2000, [](exploration& run) { share_work(run, true); });
}
TEST(schedules_of_shared_work, none) {
  explore(500, [](exploration& run) { share_work(run, false); });
}

// ---- a table's memory, without a table ----
template <class Design>
class arena {
  using word = typename Design::word;

 public:
  // A table of at least so many slots.
  arena(u64 slots, u64 seed) {
    if constexpr (values_apart<Design>) {
      const u32 base = 1;
      const u64 each = std::bit_ceil(std::max<u64>(slots / Design::subtables / Design::bucket_slots, 1));
      using part = typename Design::part;
      const u64 bytes = (part::bytes(each) + 63) / 64 * 64;
      memory_.resize((Design::subtables * bytes + part::bytes(1)) / 64 + 2);
      design_ = Design(seed, base);
      for (u32 t = 0; t <= Design::subtables; ++t) {
        char* const at = memory_.front().bytes + t * bytes;
        const part p(at, t < Design::subtables ? each : 1, base);
        std::fill_n(p.keys, p.slots(), Design::slot_type::empty_word);
        t < Design::subtables ? design_.put(t, p) : design_.put_sentinel_cell(at);
      }
    } else {
      u64 capacity = slots;
      if constexpr (requires { Design::slot_type::min_buckets; })
        capacity = std::max<u64>(capacity, Design::slot_type::min_buckets * Design::bucket_slots);
      if constexpr (requires { typename Design::homes_type; })
        capacity = std::max<u64>(capacity, Design::homes_type::least * Design::bucket_slots);
      memory_.resize((Design::bytes(capacity) + sizeof(cells_) + 63) / 64 + 1);
      design_ = Design(memory_.front().bytes, capacity, seed, 0.8);
      std::fill_n(design_.slots(), design_.capacity(), Design::slot_type::empty_word);
    }
  }
  // Its contents when this copy was made.
  void restore(const arena& copy) { std::ranges::copy(copy.memory_, memory_.begin()); }
  const Design& design() const { return design_; }
  detail::sentinel_cells<typename Design::slot_type> sentinels() { return {cells_}; }

 private:
  struct alignas(64) line {
    char bytes[64] = {};
  };
  std::vector<line> memory_;
  typename detail::sentinel_cells<typename Design::slot_type>::cell cells_[2] = {};
  Design design_;
};

// ---- keys that come, and what must be true of them ----
template <class Design, u32 Width>
class question {
  using slot_type = typename Design::slot_type;
  using key_type = typename Design::key_type;
  using value_bits = typename slot_type::value_bits;
  using value_type = typename Design::mapped_type;
  using tile_type = emulated_tile<Width == 0 ? 1 : Width>;
  static constexpr u32 block_lanes = 8;  // a warp of a few lanes does for a block

 public:
  // A table that is as full as that, where displacements help as full as it gets, less a few keys. 0: only
  // the bucket to which the items come is full.
  question(exploration& run, u64 slots, double load) : run_(run), arena_(slots, run()) {
    for (u64 i = 0; i < values_.size(); ++i) values_[i] = static_cast<value_type>(u64(1) << i);
    const u64 homes = load == 0 ? 1 : 1 + run_.below(2);
    while (crowded_.size() < homes) crowded_.insert(home_of(draw()));
    const u64 all = design().capacity(), fill = static_cast<u64>(load * static_cast<double>(all));
    for (u64 refused = 0; stored_.size() < fill && refused < 8;) {
      const key_type k = run_.below(16) == 0 ? draw_crowded() : draw();
      if (stored_.count(k) != 0) continue;
      if (put_alone(k))
        stored_[k] = prefilled;
      else
        ++refused;
    }
    for (u64 i = 0; load == 0 && i < detail::solo_bucket<Design>::slots; ++i) {
      const key_type k = draw_crowded();
      if (stored_.count(k) == 0 && put_alone(k)) stored_[k] = prefilled;
    }
    drop_unplaced();
    if constexpr (displacing<Design> || replacing<Design>) {
      if (load != 0) free_some();
    }
    expect_locks("when it was filled");
  }

  // `n` items of `keys` keys that share their first buckets, some of which are in the table.
  void bring(u64 n, u64 keys) {
    std::vector<key_type> pool, there;
    for (const auto& [k, value] : stored_)
      if (crowded_.count(home_of(k)) != 0) there.push_back(k);
    while (pool.size() < keys)
      pool.push_back(!there.empty() && run_.below(3) == 0 ? there[run_.below(there.size())] : draw_item());
    items_.clear();
    for (u64 i = 0; i < n; ++i) items_.push_back(pool[run_.below(keys)]);
    became_.assign(n, outcome::refused);
  }

  // The items in the phases of an insert: op is keep or apply<op::sum>.
  template <class Update>
  void insert(const Update& update) {
    constexpr bool updates = !std::same_as<Update, detail::keep_stored>;
    const auto before = stored_;
    const std::vector<outcome> unknown(items_.size(), outcome::refused);
    by_lanes(items_.size(), [&](auto t, u64 i, bool mine) {
      const auto work = upsert_work<decltype(t)>(update, true);
      const outcome became = work.together(t, item_at(mine ? i : 0), mine);
      if (mine) became_[i] = became;
    });
    if constexpr (updates && !steady<Design>) change(update, unknown);
    expect_all(before, updates);
    if constexpr (displacing<Design>) {
      const auto placed = became_;
      std::vector<u64> waiting;
      for (u64 i = 0; i < items_.size(); ++i)
        if (became_[i] == outcome::refused) waiting.push_back(i);
      by_tiles(waiting.size(), [&](auto t, u64 w, bool mine) {
        const u64 i = waiting[mine ? w : 0];
        const auto x = item_at(i);
        const auto d = design().displacement_of(x.key.bits, slot_type::pack(x.key.bits, x.value));
        const outcome became = displace(d, t, mine);
        if (mine && t.rank() == 0) became_[i] = became;
      });
      if (updates) change(update, placed);
      expect_all(before, updates);
    }
    drop_unplaced();
  }

  // The items by a view: its inserts place and displace while others do.
  void insert_by_view() {
    const auto before = stored_;
    std::vector<u64> changes(detail::size_words);
    mutable_table_view<Design> view;
    view.design = design();
    view.sentinels = arena_.sentinels();
    view.changes = changes.data();
    std::vector<u64> late(items_.size());  // so that one may come while another moves keys
    for (u64& points : late) points = run_.below(3) == 0 ? 0 : run_.below(60);
    by_lanes(items_.size(), [&](auto t, u64 i, bool mine) {
      while (mine && late[i]-- != 0) emulation::schedule_point();
      const outcome became = view.insert(t, items_[mine ? i : 0], values_[mine ? i : 0], mine);
      if (mine) became_[i] = became;
    });
    expect_all(before, false);
    EXPECT_EQ(std::accumulate(changes.begin(), changes.end(), u64(0)), stored_.size() - before.size());
  }

  // Two keys at once where both would have the item in a bucket's last slot moved: one whose bucket that is,
  // which a primary item leaves for it, so that the item makes way for the remap entries; and one that shares
  // the item's own entry, and sends the item elsewhere. False where no bucket is like that.
  bool meet_at_a_last_slot() {
    constexpr u32 turn_of_both = 7;  // of sixteen rounds
    struct pair {
      u32 bucket, home;
      u64 tag;
    };
    std::vector<pair> pairs;
    for (u32 b = 0; b < capacity() / Design::bucket_slots; ++b) {
      const auto last = design().bucket_at(b)[Design::last_slot];
      if (!Design::holds(0, last)) continue;
      const auto secondary = design().location_in(b, last);
      const u32 home = design().where(design().primary_of(secondary));
      if (home != b) pairs.push_back({b, home, secondary.tag()});
    }
    if (pairs.empty()) return false;
    const pair p = pairs[run_.below(pairs.size())];
    key_type keys[2];
    for (u32 i = 0; i < 2; ++i) {
      for (u32 tries = 0;; ++tries) {
        if (tries == 100'000) return false;
        keys[i] = draw();
        const auto location = design().locate(encode(keys[i]));
        if (stored_.count(keys[i]) == 0 && design().where(location) == (i == 0 ? p.bucket : p.home) &&
            (i == 0 || location.tag() == p.tag))
          break;
      }
    }
    using displacement = typename Design::displacement;
    bool done[2] = {};
    by_threads(2, [&](u64 i) {
      const auto x = item_of(keys[i]);
      const auto d = design().displacement_of(x.key.bits, slot_type::pack(x.key.bits, x.value));
      done[i] = d.attempt(solo_tile{}, turn_of_both, true) == displacement::verdict::done;
    });
    for (u32 i = 0; i < 2; ++i)
      if (done[i]) stored_[keys[i]] = prefilled;
    expect_stored("after two displacements");
    expect_locks("after two displacements");
    return true;
  }

  // Keys of the items and of others, each by several; what is due is tidied.
  void erase() {
    std::vector<key_type> keys = items_;
    for (u64 i = 0; i < 4 && !stored_.empty(); ++i) keys.push_back(any_stored());
    for (u64 i = 0; i < 4; ++i) keys.push_back(keys[run_.below(keys.size())]);
    std::vector<u32> gone(keys.size());
    by_lanes(keys.size(), [&](auto t, u64 i, bool mine) {
      const detail::query<slot_type> q(keys[mine ? i : 0]);
      const bool is = detail::erase_together(design(), arena_.sentinels(), t, q, mine);
      if (mine) gone[i] = is;
    });
    std::map<key_type, u32> times;
    for (u64 i = 0; i < keys.size(); ++i) times[keys[i]] += gone[i];
    for (const auto& [k, n] : times) {
      EXPECT_EQ(n, stored_.count(k)) << "calls that erased key " << show(k);
      stored_.erase(k);
    }
    expect_stored("after an erase");
    if constexpr (tidying<Design>) {
      std::vector<u32> due;
      for (u64 b = 0; b < design().due_words() * 32; ++b)
        if ((design().due()[b / 32] >> b % 32 & 1) != 0) due.push_back(static_cast<u32>(b));
      by_threads(due.size(), [&](u64 i) { design().tidy(solo_tile{}, due[i], true); });
      expect_stored("after tidying");
    }
    if constexpr (detail::sweepable<Design>) {
      sweep();
    }
  }

 private:
  // The steps of detail::sweep().
  void sweep() {
    by_threads(capacity(), detail::unmark_slots<Design>{design()});
    if constexpr (probe_inserting<Design>) by_threads(capacity(), detail::move_keys<Design>{design()});
    by_threads(capacity(), detail::mark_walks<Design>{design()});
    expect_stored("after a sweep");
  }
  static constexpr u64 unplaced_capacity = 64;
  static constexpr u64 prefilled = ~u64(0);
  const Design& design() const { return arena_.design(); }
  static auto encode(key_type k) { return slot_type::encode(k); }
  static u64 show(key_type k) { return static_cast<u64>(k); }
  key_type draw() {
    for (;;) {
      const auto k = static_cast<key_type>(run_());
      if (!slot_type::is_reserved(encode(k))) return k;
    }
  }
  u64 home_of(key_type k) const {
    return reinterpret_cast<u64>(design().address(design().locate(encode(k))));
  }
  key_type draw_crowded() {
    for (u32 tries = 0;; ++tries) {
      const key_type k = draw();
      if (crowded_.count(home_of(k)) != 0 || tries == 20'000) return k;
    }
  }
  // Most of them such as can only be put in where others move.
  key_type draw_item() {
    const bool any = !displacing<Design> || keeps_free_ || run_.below(4) == 0;
    for (u32 tries = 0;; ++tries) {
      const key_type k = draw_crowded();
      if (any || tries == 100) return k;
      const arena<Design> as_it_was = arena_;
      const bool fits = place_alone(k) != outcome::refused;
      arena_.restore(as_it_was);
      if (!fits) return k;
    }
  }
  // Takes a few keys out, or many; most of them where the items do not come.
  void free_some() {
    keeps_free_ = run_.below(4) == 0;
    const bool anywhere = run_.below(2) == 0, of_one_home = run_.below(2) == 0;
    const u64 gone = keeps_free_ ? stored_.size() / 4 : 1 + run_.below(4);
    u64 first = 0;
    for (u64 i = 0, tries = 0; i < gone && tries < 400 && !stored_.empty(); ++tries) {
      const key_type k = any_stored();
      const u64 home = home_of(k);
      if (!anywhere && crowded_.count(home) != 0) continue;
      if (i == 0) first = home;
      if (of_one_home && !keeps_free_ && home != first) continue;
      detail::erase_one(design(), arena_.sentinels(), detail::query<slot_type>(k));
      stored_.erase(k);
      ++i;
    }
  }
  key_type any_stored() {
    return std::next(stored_.begin(), static_cast<long>(run_.below(stored_.size())))->first;
  }
  auto item_at(u64 i) const {
    detail::item<slot_type> x{detail::query<slot_type>(items_[i]), {}, true};
    x.value = value_at(i);
    return x;
  }
  // The value of the i-th item; a power of two, so that a sum shows which values are in it.
  value_bits value_at(u64 i) const {
    if constexpr (values_apart<Design>)
      return values_.data() + i;
    else
      return static_cast<value_bits>(values_[i]);
  }
  template <class Tile, class Update>
  auto upsert_work(const Update& update, bool inserts) {
    return detail::upsert_items<Design, detail::no_items, Update, Tile::width>{
        .design = design(),
        .sentinels = arena_.sentinels(),
        .inserts = inserts,
        .update = update,
        .unplaced = {unplaced_.data(), unplaced_capacity / 2, &unplaced_length_}};
  }

  // Fewer tries than a table's, so that the test does not wait for them.
  template <class Displacement, class Tile>
  static outcome displace(const Displacement& d, Tile t, bool active) {
    constexpr u32 patience = 20;
    typename Displacement::progress p;
    while (t.any(active)) {
      const auto v = detail::attempt_of(d, t, p, active);
      if (active) active = !p.ends_with(v, patience);
    }
    return p.became;
  }

  // Values of the items that are pending, or were present where the displacement met them, when no key moves.
  template <class Update>
  void change(const Update& update, const std::vector<outcome>& placed) {
    std::vector<u64> open;
    for (u64 i = 0; i < items_.size(); ++i)
      if (placed[i] == outcome::refused && became_[i] != outcome::inserted) open.push_back(i);
    by_lanes(open.size(), [&](auto t, u64 w, bool mine) {
      const u64 i = open[mine ? w : 0];
      const auto work = upsert_work<decltype(t)>(update, false);
      const outcome became = work.together(t, item_at(i), mine);
      if (mine) became_[i] = became;
    });
  }

  // ---- the schedules ----
  // f(tile, i, mine): a lane for each of n; threads that work alone where the width is 0.
  template <class F>
  void by_lanes(u64 n, F f) {
    if (n == 0) return;
    if constexpr (Width == 0) {
      by_threads(n, [&](u64 i) { f(solo_tile{}, i, true); });
    } else {
      run_.run((n + block_lanes - 1) / block_lanes, block_lanes, [&](emulation::thread& me) {
        const u64 i = me.block().index * block_lanes + me.rank();
        f(tile_type(me), i, i < n);
      });
    }
  }
  // f(tile, i, mine): a tile for each of n; all of a warp as often as the busiest.
  template <class F>
  void by_tiles(u64 n, F f) {
    if (n == 0) return;
    if constexpr (Width == 0) {
      by_lanes(n, f);
    } else {
      constexpr u64 tiles = block_lanes / Width;
      run_.run((n + tiles - 1) / tiles, block_lanes, [&](emulation::thread& me) {
        const u64 i = me.block().index * tiles + me.rank() / Width;
        f(tile_type(me), i, i < n);
      });
    }
  }
  template <class F>
  void by_threads(u64 n, F f) {
    if (n != 0) run_.run(n, 1, [&](emulation::thread& me) { f(me.block().index); });
  }

  // ---- what must be true ----
  auto item_of(key_type k) const {
    detail::item<slot_type> x{detail::query<slot_type>(k), {}, true};
    if constexpr (values_apart<Design>)
      x.value = &prefilled_value;
    else
      x.value = static_cast<value_bits>(prefilled_value);
    return x;
  }
  outcome place_alone(key_type k) {
    return upsert_work<solo_tile>(detail::keep_stored{}, true).together(solo_tile{}, item_of(k), true);
  }
  bool put_alone(key_type k) {
    outcome became = place_alone(k);
    if constexpr (displacing<Design>) {
      const auto x = item_of(k);
      if (became == outcome::refused)
        became = displace(design().displacement_of(x.key.bits, slot_type::pack(x.key.bits, x.value)),
                          solo_tile{}, true);
    }
    return became == outcome::inserted;
  }
  // Those that found no place when they had lost theirs: a table would be rebuilt.
  void drop_unplaced() {
    if constexpr (replacing<Design>) {
      for (u64 i = 0; i < unplaced_length_; ++i) {
        stored_.erase(slot_type::decode(unplaced_[i].key));
        design().drop(unplaced_[i].key);
      }
      unplaced_length_ = 0;
      expect_locks("when none is in hand");
    }
  }
  // Checks the contents after the items.
  void expect_all(const std::map<key_type, u64>& before, bool updates) {
    stored_ = before;
    std::map<key_type, u32> inserted;
    for (u64 i = 0; i < items_.size(); ++i) inserted[items_[i]] += became_[i] == outcome::inserted;
    for (const auto& [k, n] : inserted)
      EXPECT_LE(n, before.count(k) != 0 ? 0U : 1U) << "calls that inserted key " << show(k);
    for (u64 i = 0; i < items_.size(); ++i) {
      const key_type k = items_[i];
      if (became_[i] == outcome::inserted)
        stored_[k] = updates && stored_.count(k) != 0 ? stored_[k] | values_[i] : values_[i];
      if (became_[i] == outcome::present) {
        EXPECT_TRUE(before.count(k) != 0 || inserted[k] != 0)
            << "present, but nobody inserted key " << show(k);
        if (updates)
          stored_[k] =
              before.count(k) != 0 || stored_.count(k) != 0 ? plus(stored_[k], values_[i]) : values_[i];
      }
    }
    expect_stored("after an insert");
    expect_locks("after an insert");
  }
  static u64 plus(u64 a, u64 b) {
    return a == prefilled ? static_cast<value_type>(prefilled_value + b) | changed : a + b;
  }
  static constexpr u64 changed = u64(1) << 63;  // of a value that was present before

  u64 capacity() const {
    if constexpr (values_apart<Design>)
      return design().entries();
    else
      return design().capacity();
  }
  // A lock is held as long as a lane changes what it guards, or by a key in hand, and no longer.
  void expect_locks(const char* when) {
    u64 held = 0, evicted = 0;
    const auto count = [&](const u32* bits, u64 n) {
      for (u64 i = 0; i < n; ++i) held += bits[i / 32] >> i % 32 & 1;
    };
    [[maybe_unused]] const u64 buckets = capacity() / detail::solo_bucket<Design>::slots;
    if constexpr (values_apart<Design>) {
      for (u32 t = 0; t <= Design::subtables; ++t) count(design().at(t).locks, design().at(t).buckets);
    } else if constexpr (requires { design().locks(); }) {
      count(design().locks(), buckets);
    } else if constexpr (requires { Design::slots_of_32; }) {
      count(design().marks(), buckets);
      evicted = unplaced_length_;
    } else if constexpr (requires { Design::stash_slots; }) {  // behind the flag of the stash
      const auto* const flag = reinterpret_cast<const u32*>(design().slots() + design().capacity());
      count(flag + 1, design().capacity() / 8 + 1);
    }
    EXPECT_EQ(held, evicted) << "locks that are held " << when;
  }

  void expect_stored(const char* when) {
    std::map<key_type, u32> copies;
    const u64 slots = capacity();
    for (u64 i = 0; i < slots; ++i) {
      if constexpr (values_apart<Design>) {
        const auto w = *design().slot_at(i);
        if (!slot_type::is_free(w)) ++copies[slot_type::decode(design().key_at(i, w))];
      } else {
        const auto w = design().slots()[i];
        if (detail::holds_item(design(), i, w)) ++copies[slot_type::decode(design().key_at(i, w))];
      }
    }
    std::set<key_type> away;
    if constexpr (replacing<Design>) {
      for (u64 i = 0; i < unplaced_length_; ++i) {
        ++copies[slot_type::decode(unplaced_[i].key)];
        away.insert(slot_type::decode(unplaced_[i].key));
      }
    }
    if constexpr (replacing<Design>) {
      u64 most = design().capacity();
      if constexpr (requires { Design::slots_of_32; }) most = most * Design::slots_of_32 / 32;
      EXPECT_LE(stored_.size(), most) << "keys that were taken " << when;
    }
    table_view<Design> view;
    view.design = design();
    if constexpr (!values_apart<Design>) view.sentinels = arena_.sentinels();
    for (const auto& [k, value] : stored_) {
      EXPECT_EQ(copies[k], 1U) << "copies of key " << show(k) << " " << when;
      copies.erase(k);
      if (away.count(k) != 0) continue;
      const auto hit = view.find(k);
      EXPECT_TRUE(hit.found()) << "key " << show(k) << " is not found " << when;
      const u64 expected = value == prefilled ? prefilled_value : static_cast<value_type>(value & ~changed);
      if (hit.found()) {
        EXPECT_EQ(u64(hit.value()), expected) << "value of key " << show(k) << " " << when;
      }
    }
    for (const auto& [k, n] : copies) EXPECT_EQ(n, 0U) << "key " << show(k) << " is stored " << when;
  }

  exploration& run_;
  arena<Design> arena_;
  bool keeps_free_ = false;
  std::set<u64> crowded_;           // the first buckets of the items
  std::map<key_type, u64> stored_;  // and its value
  std::vector<key_type> items_;
  std::vector<outcome> became_;
  using list = detail::unplaced_items<slot_type>;
  std::vector<typename list::entry> unplaced_ = std::vector<typename list::entry>(unplaced_capacity);
  u64 unplaced_length_ = 0;
  std::vector<value_type> values_ = std::vector<value_type>(24);
  static constexpr value_type prefilled_value = value_type(1) << 30;
};

// ---- the designs ----
template <class Design, u32 Width, u64 Slots, u32 Percent, u64 Schedules>
struct asked {
  using design = Design;
  static constexpr u32 width = Width;
  static constexpr u64 slots = Slots, schedules = Schedules;
  static constexpr double load = Percent / 100.0;
};
// No atomic operation does it.
struct plain_sum {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(a + b);
  }
};

template <class Asked>
class schedules : public ::testing::Test {};
using all_asked = ::testing::Types<
    asked<linear_probing<u32, u32>, 0, 12, 60, 2000>, asked<tiled<u32, u32>, 0, 0, 100, 1500>,
    asked<tiled<u64, u64>, 2, 0, 100, 60>, asked<bucketed_cuckoo<u32, u32, murmur, 2>, 0, 12, 100, 3000>,
    asked<papers::bucketed_cuckoo_balanced<u32, u32, murmur, 4>, 0, 16, 70, 10'000>,
    asked<papers::cuckoo<u32, u32, 3, murmur, 2>, 0, 16, 100, 15'000>,
    asked<horton<u32, u32, 4>, 0, 0, 95, 2500>, asked<dynamic_cuckoo<u64, u32, 3>, 0, 48, 100, 5000>,
    asked<robin_hood<u32, u32, 1, 2>, 0, 0, 100, 10'000>, asked<robin_hood<u32, u32, 1>, 0, 0, 99, 1500>,
    asked<papers::mega_kv<u64, u64>, 0, 16, 94, 3000>>;
struct names {
  template <class Asked>
  static std::string GetName(int i) {
    return std::string(Asked::design::name) + "_" + std::to_string(i);
  }
};
TYPED_TEST_SUITE(schedules, all_asked, names);

template <class Asked>
void ask(double load, u64 schedules) {
  explore(contract::scaled(schedules, schedules / 12), [load](exploration& run) {
    question<typename Asked::design, Asked::width> q(run, Asked::slots, load);
    if (::testing::Test::HasFailure()) return;
    q.bring(2 + run.below(7), 1 + run.below(6));
    q.insert(detail::keep_stored{});
    q.erase();
    q.bring(2 + run.below(7), 1 + run.below(6));
    q.insert(detail::apply<plain_sum>{});
  });
}

TYPED_TEST(schedules, of_a_full_table) { ask<TypeParam>(TypeParam::load, TypeParam::schedules); }
// Where a bucket remembers what has passed it.
TYPED_TEST(schedules, of_a_full_bucket) {
  using design = typename TypeParam::design;
  constexpr bool passed = requires(const design d, typename design::location p) { d.passes(p); };
  ask<TypeParam>(0, passed && TypeParam::width == 0 ? 8000 : 100);
}

// All schedules of two items with one change that is not forced.
TYPED_TEST(schedules, of_two_items) {
  u64 n = 0;
  for (u64 seed = 0; seed < 8 && !this->HasFailure(); ++seed) {
    if (!contract::is_asked(seed / 2, 4)) continue;
    n += explore_all(1, 200, seed, [seed](exploration& run) {
      question<typename TypeParam::design, TypeParam::width> q(run, TypeParam::slots, TypeParam::load);
      q.bring(2, 1 + seed % 2);
      q.insert(detail::keep_stored{});
    });
  }
  EXPECT_GT(n, contract::scaled(50, 5));
}

// A bucket's last slot gets the remap entries while another thread moves the item in it.
TEST(schedules_of_horton, of_the_item_in_a_last_slot) {
  u64 asked = 0;
  explore(contract::scaled(3000, 1000), [&](exploration& run) {
    question<horton<u32, u32, 4>, 0> q(run, 0, 0.7 + 0.05 * static_cast<double>(run.below(6)));
    asked += q.meet_at_a_last_slot();
  });
  if (std::getenv("TILEHASH_SCHEDULE_SEED") == nullptr) {
    EXPECT_GT(asked, contract::scaled(300, 100));
  }
}

// ---- views: what a user's threads do to a table, reserved keys among theirs, and its size ----
TEST(schedules_of_views, of_updates_and_erases) {
  using design = linear_probing<u32, u32>;
  using view_type = mutable_table_view<design>;
  explore(500, [](exploration& run) {
    arena<design> memory(8, run());
    std::vector<u64> changes(detail::size_words);
    view_type view;
    view.design = memory.design();
    view.sentinels = memory.sentinels();
    view.changes = changes.data();
    const auto size = [&] {
      detail::table_change all;
      for (const u64 word : changes) all.add(word);
      return all.items;
    };
    const u32 keys[] = {~0U, ~0U - 1, static_cast<u32>(run.below(4)), 7};
    constexpr u64 threads = 5;
    struct call {
      u32 key;
      outcome became;
      bool gone;
    };
    std::vector<call> calls(threads);
    std::map<u32, u32> sums, inserted, erased;
    for (call& c : calls) c.key = keys[run.below(4)];
    run.run(threads, 1, [&](emulation::thread& me) {
      const u64 i = me.block().index;
      calls[i].became = view.insert_or_apply(calls[i].key, 1U << i, op::sum{});
    });
    for (u64 i = 0; i < threads; ++i) {
      sums[calls[i].key] += 1U << i;
      inserted[calls[i].key] += calls[i].became == outcome::inserted;
    }
    EXPECT_EQ(size(), sums.size());
    for (const auto& [key, sum] : sums) {
      EXPECT_EQ(inserted[key], 1U);
      EXPECT_EQ(view.find(key).value(), sum) << "of key " << key;
    }
    run.run(threads, 1, [&](emulation::thread& me) {
      const u64 i = me.block().index;
      calls[i].gone = view.erase(calls[i].key);
    });
    for (const call& c : calls) erased[c.key] += c.gone;
    for (const auto& [key, n] : erased) {
      EXPECT_EQ(n, 1U) << "calls that erased key " << key;
      EXPECT_FALSE(view.contains(key));
    }
    EXPECT_EQ(size(), 0U);
  });
}
// Some of the items are in the table, some come several times, and other keys move for most.
template <class Design, u32 Width>
void displace_by_views(u64 schedules) {
  explore(contract::scaled(schedules, schedules / 8), [](exploration& run) {
    question<Design, Width> q(run, 0, run.below(3) == 0 ? 0 : 1);
    if (::testing::Test::HasFailure()) return;
    q.bring(2 + run.below(7), 1 + run.below(6));
    q.insert_by_view();
  });
}
TEST(schedules_of_views, of_inserts_that_displace) {
  static_assert(mutable_table_view<tiled<u32, u32>>::displaces);
  displace_by_views<tiled<u32, u32>, 0>(3000);
  displace_by_views<tiled<u64, u64>, 0>(3000);
  displace_by_views<tiled<u64, u64>, 4>(200);
}
// One thread each inserts a reserved key, and none of them an op.
TEST(schedules_of_views, of_inserts) {
  using design = linear_probing<u32, u32>;
  explore(200, [](exploration& run) {
    arena<design> memory(8, run());
    const auto cells = memory.sentinels();
    const u32 key = ~0U - static_cast<u32>(run.below(2));
    std::vector<outcome> became(3);
    run.run(3, 1, [&](emulation::thread& me) {
      const u64 i = me.block().index;
      became[i] = cells.insert(key, static_cast<u32>(i));
    });
    EXPECT_EQ(std::ranges::count(became, outcome::inserted), 1);
    const auto winner = std::ranges::find(became, outcome::inserted) - became.begin();
    EXPECT_EQ(cells.find(key).value, winner);
  });
}

// ---- values of several words, each changed under its record's or its bucket's lock ----
struct wide {
  u64 part[3];
};
// Other threads run while it does.
struct slow_sum {
  wide operator()(const wide& a, const wide& b) const {
    wide sum;
    for (int i = 0; i < 3; ++i) {
      sum.part[i] = a.part[i] + b.part[i];
      emulation::schedule_point();
    }
    return sum;
  }
};
void expect_sum(const wide& w, u64 sum) {
  for (const u64 part : w.part) EXPECT_EQ(part, sum);
}
constexpr u64 changers = 4;
std::vector<wide> powers() {
  std::vector<wide> values;
  for (u64 i = 0; i < changers; ++i) values.push_back({{u64(1) << i, u64(1) << i, u64(1) << i}});
  return values;
}

TEST(schedules_of_values, in_records) {
  using design = indexed<u64, wide>;
  explore(200, [](exploration& run) {
    std::vector<design::record> records(2);
    const auto values = powers();
    std::vector<u32> ids(changers), locks(1);
    u64 sums[2] = {};
    for (u64 i = 0; i < changers; ++i) ids[i] = static_cast<u32>(run.below(2)), sums[ids[i]] += u64(1) << i;
    const std::vector<outcome> became(changers, outcome::present);
    const detail::value_changer<design, slow_sum> change{values.data(),  ids.data(),   became.data(),
                                                         records.data(), locks.data(), {}};
    run.run(changers, 1, [&](emulation::thread& me) { change(me.block().index); });
    for (u32 id = 0; id < 2; ++id) expect_sum(records[id].value, sums[id]);
    EXPECT_EQ(locks[0], 0U);
    // Records that several free are freed once.
    std::vector<u32> taken{3}, free(2);
    u64 freed = 0;
    const detail::record_freer free_them{ids.data(), ~0U, taken.data(), free.data(), &freed};
    run.run(changers, 1, [&](emulation::thread& me) { free_them(me.block().index); });
    EXPECT_EQ(freed, std::set<u32>(ids.begin(), ids.end()).size());
  });
}
TEST(schedules_of_values, in_subtables) {
  using design = dynamic_cuckoo<u64, wide, 2>;
  explore(200, [](exploration& run) {
    arena<design> memory(16, run());
    const auto values = powers();
    auto* const at = memory.design().at(0).keys;
    wide& stored = *memory.design().value_at(at);
    run.run(changers, 1, [&](emulation::thread& me) {
      memory.design().combine(at, values[me.block().index], slow_sum{});
    });
    expect_sum(stored, (u64(1) << changers) - 1);
  });
}

}  // namespace
}  // namespace tilehash

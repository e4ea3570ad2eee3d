// SPDX-License-Identifier: Apache-2.0
// The insert call of engine/window_call.hpp over a policy that records what it is asked: when a table grows, for
// how many items, and what the report says of what regions left. Tables of the library seldom leave anything
// over, and hardly ever where memory has just ended.
#include <gtest/gtest.h>

#include <numeric>
#include <optional>
#include <vector>

#include <tilehash/designs/linear_probing.hpp>
#include <tilehash/engine/insertion.hpp>
#include <tilehash/engine/window_call.hpp>
#include <tilehash/space/cpu.hpp>

namespace tilehash {
namespace {

using engine::growth;
using engine::insert_role;
using linear = linear_probing<u32, u32>;
using slot_type = linear::slot_type;

// Keys in a row.
struct keys_from {
  u32 first;
  TILEHASH_FN detail::item<slot_type> operator()(u64 i) const {
    detail::item<slot_type> x;
    x.valid = x.key.legal = true;
    x.key.bits = first + static_cast<u32>(i);
    return x;
  }
};
// The result of regions, in the form of engine/region_fill.hpp.
struct regions {
  bool lists_left = true;
  u64 inserted = 100, illegal = 2, left = 12;
  u32 first_left = 1'000'000;
  keys_from rest() const { return {first_left}; }
};
struct request {
  growth how;
  u64 items;
  bool operator==(const request&) const = default;
};

// Slots whose limit is what a test says, and which move nowhere.
struct recording_table : engine::slots<linear, cpu> {
  using base = engine::slots<linear, cpu>;
  using base::base, base::size_;
  template <class Table>
  using in_call = base::in_call<Table>;

  u64 most = 0;               // the limit
  u64 memory_left = ~u64(0);  // for so many requests
  std::optional<regions> filled = {};
  bool wiped = false;
  bool leaves_unwiped = false;  // when it is renewed
  std::vector<request> requests = {};
  std::vector<u64> renewals = {};  // the items of each
};
struct recording_policy : recording_table::in_call<recording_table> {
  recording_policy(recording_table& of) : in_call(of, true) {}
  u64 limit() const { return table.most; }
  u64 free_slots(u64 /*wanted*/) const { return limit() <= size() ? 0 : limit() - size(); }
  std::optional<u64> add_capacity(cpu& /*space*/, growth how, u64 items) {
    table.requests.push_back({how, items});
    if (table.memory_left-- == 0) throw out_of_memory("no memory is left");
    if (how == growth::enlarge) table.most = std::max(2 * table.most, items);
    return 0;
  }
  template <class Windows>
  bool renew(cpu& /*space*/, const Windows& /*w*/, u64 items) {
    table.renewals.push_back(items);
    if (table.memory_left-- == 0) throw out_of_memory("no memory is left");
    table.most = std::max(table.most, items);
    return table.leaves_unwiped;
  }

  void wipe(cpu& /*space*/) const { table.wiped = true; }
  template <class Source, class Update>
  static constexpr bool fills = !std::same_as<Source, detail::called_source<slot_type>>;
  template <class Windows>
  std::optional<regions> fill(cpu& /*space*/, const Windows& /*w*/, u64 /*end*/, bool /*unwiped*/) const {
    return std::exchange(table.filled, std::nullopt);
  }
};

struct window_call : testing::Test {
  cpu space{1};
  recording_table table{space, 1'000, {.load_factor = 0.95}};

  insert_report insert(u32 first, u64 n, insert_role role = insert_role::in_use) {
    return engine::window_call<recording_policy>(table, space, role)
        .run(keys_from{first}, detail::keep_stored{}, n);
  }
};

// ---- regions ----
TEST_F(window_call, reports_what_regions_took_and_what_the_rest_became) {
  table.most = 10'000;
  (void)insert(1'000'003, 5);  // of the rest, these are present
  table.filled = regions{};
  EXPECT_EQ(insert(0, 114), (insert_report{.inserted = 100 + 7, .present = 5, .refused = 2}));
  EXPECT_EQ(table.size(), 5U + 107);
}
TEST_F(window_call, inserts_nothing_where_regions_left_nothing) {
  table.most = 10'000;
  table.filled = regions{.left = 0};
  EXPECT_EQ(insert(0, 110), (insert_report{.inserted = 100, .present = 8, .refused = 2}));
  EXPECT_EQ(table.size(), 100U);
}
// Then the windows see all items again.
TEST_F(window_call, inserts_all_where_it_is_not_known_what_regions_left) {
  table.most = 10'000;
  table.filled = regions{.lists_left = false, .inserted = 0};
  EXPECT_EQ(insert(0, 114), (insert_report{.inserted = 114}));
}
// One call: what it learned of the memory holds for what regions left, too.
TEST_F(window_call, grows_for_what_regions_left) {
  table.most = 100;
  table.filled = regions{.left = 154};
  EXPECT_EQ(insert(0, 256), (insert_report{.inserted = 100 + 154, .refused = 2, .restarts = 1}));
  EXPECT_EQ(table.requests, (std::vector<request>{{growth::enlarge, 0}}));
}

// ---- growth ----
TEST_F(window_call, asks_once_for_all_that_is_pending) {
  table.most = 600;
  EXPECT_EQ(insert(0, 1'000), (insert_report{.inserted = 1'000, .restarts = 1}));
  // A window has whole groups of 256 items: three, and 232 are pending.
  EXPECT_EQ(table.requests, (std::vector<request>{{growth::enlarge, 768 + 232 + 232 / 64}}));
}
// Items with different keys are counted already.
struct different_keys : window_call {
  insert_report insert(u32 first, u64 n) {
    return engine::window_call<recording_policy>(table, space, insert_role::in_use, true)
        .run(keys_from{first}, detail::keep_stored{}, n);
  }
};
TEST_F(different_keys, renew_an_empty_table) {
  table.most = 100;
  EXPECT_EQ(insert(0, 1'000), (insert_report{.inserted = 1'000, .restarts = 1}));
  EXPECT_EQ(table.renewals, std::vector<u64>{1'000});
  EXPECT_EQ(table.requests, std::vector<request>{});
  EXPECT_FALSE(table.wiped);
}
TEST_F(different_keys, enlarge_a_table_once_for_those_that_are_new) {
  table.most = 300;
  (void)insert(0, 256);
  table.requests.clear();
  EXPECT_EQ(insert(100, 900), (insert_report{.inserted = 744, .present = 156, .restarts = 1}));
  EXPECT_EQ(table.requests, (std::vector<request>{{growth::enlarge, 256 + 744}}));
  EXPECT_EQ(table.renewals, std::vector<u64>{});
}
TEST_F(different_keys, that_are_present_need_no_growth) {
  table.most = 300;
  (void)insert(0, 256);
  EXPECT_EQ(insert(0, 300), (insert_report{.inserted = 44, .present = 256}));
  EXPECT_EQ(table.requests, std::vector<request>{});
}
TEST_F(different_keys, grow_step_by_step_without_memory_for_all) {
  table.most = 600;
  table.memory_left = 0;
  (void)insert(0, 256);
  EXPECT_EQ(table.renewals, std::vector<u64>{});
  table.size_ = 0;
  table.clear(space);
  EXPECT_EQ(insert(0, 1'000), (insert_report{.inserted = 1'000, .restarts = 1}));
  EXPECT_EQ(table.renewals, std::vector<u64>{1'000});
  EXPECT_EQ(table.requests.size(), 1U);
}
// The slots of a renewed table may have any content: unless regions are built there, they are wiped first.
TEST_F(different_keys, wipe_what_regions_did_not_write) {
  table.most = 100;
  table.leaves_unwiped = true;
  EXPECT_EQ(insert(0, 1'000), (insert_report{.inserted = 1'000, .restarts = 1}));
  EXPECT_TRUE(table.wiped);
}
TEST_F(different_keys, wipe_nothing_that_regions_wrote) {
  table.most = 100;
  table.leaves_unwiped = true;
  table.filled = regions{.lists_left = false, .inserted = 0};
  EXPECT_EQ(insert(0, 1'000), (insert_report{.inserted = 1'000, .restarts = 1}));
  EXPECT_FALSE(table.wiped);
}
TEST_F(window_call, does_not_grow_for_keys_that_are_present) {
  table.most = 768;
  EXPECT_EQ(insert(0, 768).inserted, 768U);
  EXPECT_EQ(insert(0, 768), (insert_report{.present = 768}));
  EXPECT_EQ(table.requests, std::vector<request>{});
}
TEST_F(window_call, asks_no_more_once_memory_has_ended) {
  table.most = 256;
  table.memory_left = 0;
  const u64 n = table.capacity() + 100;
  EXPECT_EQ(insert(0, n), (insert_report{.inserted = table.capacity(), .refused = 100}));
  EXPECT_EQ(table.requests.size(), 1U);
  EXPECT_EQ(table.size(), table.capacity());
}
// Below the limit it is the hash function's fault, but not for ever.
TEST_F(window_call, tries_four_hash_functions_before_it_grows) {
  table.most = 2 * table.capacity();
  table.memory_left = 5;
  const u64 size = table.capacity();
  EXPECT_EQ(insert(0, size + 100), (insert_report{.inserted = size, .refused = 100, .restarts = 5}));
  const request restart{growth::restart, size}, both{growth::both, 0};
  EXPECT_EQ(table.requests, (std::vector<request>{restart, restart, restart, restart, both, both}));
}
TEST_F(window_call, of_all_or_none_does_not_grow) {
  table.most = 256;
  EXPECT_EQ(insert(0, table.capacity() + 10, insert_role::all_or_none).refused, 10U);
  EXPECT_EQ(table.requests, std::vector<request>{});
}
TEST_F(window_call, throws_where_the_table_is_given_up) {
  table.most = 256;
  table.memory_left = 0;
  EXPECT_THROW((void)insert(0, 1'000, insert_role::fresh), out_of_memory);
}

}  // namespace
}  // namespace tilehash

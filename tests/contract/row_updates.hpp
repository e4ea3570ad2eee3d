// SPDX-License-Identifier: Apache-2.0
// Rows that change: items are inserted in place while their section has free entries, and the table is
// rebuilt when it has none.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <tuple>
#include <type_traits>
#include <unordered_map>
#include <vector>

#include <contract/random.hpp>
#include <tilehash/rows.hpp>
#include <tilehash/table.hpp>

namespace tilehash::contract {

// Checks that each section counts the items of its rows.
template <class Table, class Space>
void expect_sections_to_count_items(const Table& t, Space& space) {
  const auto design = t.view().design;
  using design_type = std::remove_const_t<decltype(design)>;
  std::vector<typename design_type::head> heads(design.capacity());
  std::vector<typename design_type::section> sections(design.sections());
  space.copy_to_host(heads.data(), design.heads(), heads.size() * sizeof heads[0]);
  space.copy_to_host(sections.data(), &design.section_at(0), sections.size() * sizeof sections[0]);
  for (u64 s = 0; s < sections.size(); ++s) {
    u64 items = 0;
    for (u64 r = 0; r < design_type::section_rows; ++r)
      items += heads[s * design_type::section_rows + r].count;
    ASSERT_EQ(sections[s].filled, items) << "in section " << s;
  }
}

class row_updates : public ::testing::Test {
 protected:
  using design = dynamic_hash_graph<u32, u32>;
  using table_type = table<design, updates_space>;
  using keys = std::vector<u32>;
  static constexpr u64 n = u64(1) << (updates_are_few ? 12 : 16);

  // n different keys.
  static keys some(u64 from, u64 count) {
    keys k(count);
    for (u64 i = 0; i < count; ++i) k[i] = mix32(static_cast<u32>(from + i));
    return k;
  }
  buffer<u32, updates_space> there(const keys& k) { return buffer<u32, updates_space>(space_, k); }

  insert_report build(table_type& t, const keys& k) {
    model_.clear();
    return change(t, k, true);
  }
  insert_report insert(table_type& t, const keys& k) { return change(t, k, false); }
  u64 erase(table_type& t, const keys& k) {
    for (const u32 key : k) model_.erase(key);
    return t.erase(space_, there(k).span());
  }
  void forget() { model_.clear(); }  // for an empty table
  // A rebuild gives the rows other memory.
  static const void* memory(const table_type& t) { return t.view().design.heads(); }
  // Checks that the table holds exactly the model's items.
  void compare(const table_type& t) {
    u64 items = 0, wrong = 0;
    keys asked;
    for (const auto& [key, its] : model_) {
      items += its.size();
      asked.push_back(key);
    }
    ASSERT_EQ(t.size(), items);
    expect_sections_to_count_items(t, space_);
    const auto q = there(asked);
    const buffer<u32, updates_space> counts(space_, asked.size());
    t.count(space_, q.span(), counts.span());
    const auto counted = counts.to_host();
    for (u64 i = 0; i < asked.size(); ++i) wrong += counted[i] != model_.at(asked[i]).size();
    EXPECT_EQ(wrong, 0U);
    const buffer<u32, updates_space> k(space_, items + 1), v(space_, items + 1);
    space_.fill(k.data(), k.size(), 0U);  // space for more than there should be
    space_.fill(v.data(), v.size(), 0U);
    ASSERT_EQ(t.retrieve_all(space_, k.span(), v.span()), items);
    const auto got = k.to_host(), got_values = v.to_host();
    std::unordered_map<u32, keys> back;
    for (u64 i = 0; i < items; ++i) back[got[i]].push_back(got_values[i]);
    for (auto& [key, its] : back) std::ranges::sort(its);
    for (auto& [key, its] : model_) std::ranges::sort(its);
    EXPECT_TRUE(back == model_);
  }

  updates_space space_;

 private:
  insert_report change(table_type& t, const keys& k, bool build) {
    keys values(k.size());
    for (u64 i = 0; i < k.size(); ++i) model_[k[i]].push_back(values[i] = ++serial_);
    const auto ks = there(k), vs = there(values);
    return build ? t.build(space_, ks.span(), vs.span()) : t.insert(space_, ks.span(), vs.span());
  }

  std::unordered_map<u32, keys> model_;
  u32 serial_ = 0;
};

// A hundredth more items finds free entries. Items without one make the table rebuild, with more rows when
// there are more items than the load factor allows.
TEST_F(row_updates, find_free_entries_until_none_is_left) {
  table_type t(space_, 0, {.load_factor = 0.8});
  std::ignore = build(t, some(0, n));
  const u64 rows = t.capacity(), bytes = t.bytes();
  const void* const at_first = memory(t);
  u64 at = n;
  for (int round = 0; round < 6; ++round, at += n / 100) {
    ASSERT_EQ(insert(t, some(at, n / 100)), (insert_report{.inserted = n / 100}));
    ASSERT_EQ(memory(t), at_first) << "built anew with a fifth of its room used";
  }
  compare(t);
  for (int round = 0; round < 30; ++round, at += n / 100) std::ignore = insert(t, some(at, n / 100));
  compare(t);
  EXPECT_GT(t.capacity(), rows);
  EXPECT_LT(t.load_factor(), 0.8 * 1.3);
  EXPECT_GE(t.bytes(), bytes);
}

// As many erases as inserts: the entries of erased items are reused, and nothing is rebuilt. (The fill of the
// fullest section is random, so there is a free entry for each item.)
TEST_F(row_updates, reuse_what_is_erased) {
  table_type t(space_, 0, {.load_factor = 2, .slack = 1});
  std::ignore = build(t, some(0, n));
  const void* const at_first = memory(t);
  const u64 part = n / 16;
  for (u64 round = 0; round < 40; ++round) {
    EXPECT_EQ(erase(t, some(round * part, part)), part);
    ASSERT_EQ(insert(t, some(n + round * part, part)).inserted, part);
    ASSERT_EQ(memory(t), at_first) << "built again in round " << round;
  }
  compare(t);
  EXPECT_EQ(erase(t, some(0, n)), 0U);
  EXPECT_EQ(erase(t, some(40 * part, n)), n);
  EXPECT_TRUE(t.empty());
  compare(t);
}

// Equal keys fill one section, and the table is rebuilt. A call that names a key many times erases each of
// its items once.
TEST_F(row_updates, of_equal_keys) {
  table_type t(space_);
  std::ignore = build(t, some(0, n));
  const keys equal(n / 2, 77), other(n / 4, 78);
  EXPECT_EQ(insert(t, equal).inserted, n / 2);
  EXPECT_EQ(insert(t, keys(n / 20, 77)).inserted, n / 20);
  EXPECT_EQ(insert(t, other).inserted, n / 4);
  compare(t);
  keys often(n, 77);
  often.push_back(some(0, 1)[0]);
  EXPECT_EQ(erase(t, often), n / 2 + n / 20 + 1);
  compare(t);
  EXPECT_EQ(erase(t, often), 0U);
  EXPECT_EQ(insert(t, equal).inserted, n / 2);
  compare(t);
}

TEST_F(row_updates, as_the_options_say) {
  for (const double slack : {0.0, 1.0}) {
    table_type t(space_, 0, {.load_factor = 1, .grow = false, .slack = slack});
    std::ignore = build(t, some(0, n));
    const u64 rows = t.capacity(), bytes = t.bytes();
    std::ignore = insert(t, some(n, n / 10));
    EXPECT_EQ(t.bytes() == bytes, slack == 1) << "slack " << slack;
    std::ignore = insert(t, some(2 * n, n));
    EXPECT_EQ(t.capacity(), rows);
    compare(t);
  }
  forget();
  table_type spacious(space_, n);
  const u64 bytes = spacious.bytes();
  for (u64 i = 0; i < 16; ++i) std::ignore = insert(spacious, some(i * (n / 16), n / 16));
  compare(spacious);
  EXPECT_LT(spacious.bytes(), bytes + bytes / 2);
  EXPECT_EQ(spacious.reserve(space_, 4 * n), 1U);
  EXPECT_EQ(spacious.reserve(space_, 3 * n), 0U);
  EXPECT_EQ(spacious.rehash(space_, 0), 1U);
  EXPECT_LT(spacious.bytes(), bytes + bytes / 2);
  compare(spacious);
  spacious.clear(space_);
  EXPECT_TRUE(spacious.empty());
  EXPECT_EQ(insert(spacious, {}), insert_report{});
  for (const double slack : {-0.5, 17.0})
    EXPECT_THROW((table_type(space_, 0, {.slack = slack})), invalid_argument);
  for (const double below : {-0.1, 0.5})
    EXPECT_THROW((table_type(space_, 0, {.load_factor = 0.8, .shrink_below = below})), invalid_argument);
}

// A rebuild keeps the number of rows and the reserved capacity; shrink_to_fit() gives it up.
TEST_F(row_updates, keep_what_was_reserved) {
  table_type t(space_, 3'000, {.load_factor = 0.1, .seed = 7});
  const u64 rows = t.capacity(), bytes = t.bytes();
  const keys equal(290, 5);
  std::ignore = insert(t, equal);  // more items than the section's capacity
  EXPECT_EQ(t.capacity(), rows);
  EXPECT_GE(t.bytes(), bytes);
  t.reserve(space_, 800);
  EXPECT_EQ(t.capacity(), rows);
  const u64 then = t.bytes();
  EXPECT_GE(then, bytes);
  for (u64 i = 0; i < 10; ++i) std::ignore = insert(t, some(i * 200, 200));
  EXPECT_EQ(t.bytes(), then) << "built again within what was reserved";
  EXPECT_EQ(t.clone(space_).reserve(space_, 3'000), 0U);
  compare(t);
  EXPECT_EQ(t.shrink_to_fit(space_), 1U);
  EXPECT_LT(t.bytes(), then);
  EXPECT_LT(t.capacity(), rows);
  compare(t);
}

// Capacity reserved in a table with items stays, too, and all items are found.
TEST_F(row_updates, keep_what_is_reserved_later) {
  for (const u64 held : {u64(0), u64(700)}) {
    forget();
    table_type t(space_, 0, {.load_factor = 0.1, .seed = 7});
    std::ignore = insert(t, some(0, held));
    EXPECT_EQ(t.reserve(space_, 3'000), 1U);
    const u64 rows = t.capacity(), bytes = t.bytes();
    compare(t);
    const void* const at_first = memory(t);
    std::ignore = insert(t, keys(290, 5));  // more items than the section's capacity
    EXPECT_NE(memory(t), at_first) << "it was to be built again";
    EXPECT_EQ(t.capacity(), rows);
    EXPECT_GE(t.bytes(), bytes) << "what was reserved is given up";
    compare(t);
    EXPECT_EQ(t.reserve(space_, 2'000), 0U);
    const void* const then = memory(t);
    for (u64 i = 0; i < 4; ++i) std::ignore = insert(t, some(1'000 + i * 200, 200));
    EXPECT_EQ(memory(t), then) << "built again within what was reserved";
    compare(t);
  }
}

// Only rehash() changes a given seed; equal seeds put each key into the same row.
TEST_F(row_updates, with_one_seed_have_the_same_rows) {
  table_type a(space_, 0, {.load_factor = 0.5, .seed = 7}), b(space_, 0, {.load_factor = 0.5, .seed = 7}),
      other(space_, 0, {.load_factor = 0.5, .seed = 8});
  std::ignore = build(a, some(0, 1'000));
  std::ignore = erase(a, some(0, 100));
  a.reserve(space_, 2'000);
  std::ignore = insert(a, some(1'000, 900));
  compare(a);
  b.reserve(space_, 2'000);
  other.reserve(space_, 2'000);
  ASSERT_EQ(a.capacity(), b.capacity());
  ASSERT_EQ(a.capacity(), other.capacity());
  u64 elsewhere = 0;
  for (const u32 key : some(0, 1'900)) {
    ASSERT_EQ(a.view().design.locate(key).row, b.view().design.locate(key).row);
    elsewhere += a.view().design.locate(key).row != other.view().design.locate(key).row;
  }
  EXPECT_GT(elsewhere, 1'500U);
  a.shrink_to_fit(space_);
  EXPECT_EQ(a.options().seed, 7U);
  compare(a);
  a.rehash(space_, 0);
  EXPECT_EQ(a.options().seed, 8U);
  compare(a);
}

// With more items than the rows are for, shrink_to_fit() increases neither rows nor bytes.
TEST_F(row_updates, shrink_to_fit_never_grows) {
  for (const double slack : {0.0, 0.25, 16.0}) {
    SCOPED_TRACE(slack);
    forget();
    table_type t(space_, 0, {.load_factor = 0.2, .grow = false, .slack = slack});
    for (const u64 more : {3'800U, 300U, 300U}) {
      std::ignore = insert(t, keys(more, 77));
      std::ignore = insert(t, some(more, more));
      const u64 rows = t.capacity(), bytes = t.bytes();
      t.shrink_to_fit(space_);
      EXPECT_LE(t.capacity(), rows);
      EXPECT_LE(t.bytes(), bytes);
      compare(t);
    }
    std::ignore = erase(t, {77});
    const u64 rows = t.capacity(), bytes = t.bytes();
    t.shrink_to_fit(space_);
    EXPECT_LE(t.capacity(), rows);
    EXPECT_LE(t.bytes(), bytes);
    compare(t);
  }
}

// As many items as a section has free entries, and one more; as many as one thread inserts into a section,
// and one more.
TEST_F(row_updates, fill_a_section_to_the_last_entry) {
  table_type t(space_, 0, {.load_factor = 1});
  keys all = some(0, 2'000);
  all.resize(3'000, 77);
  std::ignore = build(t, all);
  const design d = t.view().design;
  u64 items = 0;
  for (const u32 key : all)
    items += d.locate(key).row / design::section_rows == d.locate(77).row / design::section_rows;
  const u64 bytes = t.bytes();
  ASSERT_EQ(insert(t, keys(items / 4 + 1, 77)).inserted, items / 4 + 1);
  EXPECT_EQ(t.bytes(), bytes) << "built again before the section was full";
  compare(t);
  ASSERT_EQ(insert(t, {77}).inserted, 1U);
  EXPECT_GT(t.bytes(), bytes);
  compare(t);
  for (const u64 come : {u64(4'096), u64(4'097)}) {
    t.reserve(space_, 40 * come);
    EXPECT_EQ(insert(t, keys(come, 77)).inserted, come);
    compare(t);
  }
  EXPECT_EQ(erase(t, {77}), 1'001 + items / 4 + 1 + 2 * 4'096 + 1);
  compare(t);
}

// Erases free memory where `shrink_below` asks for it, and shrink_to_fit() frees all memory that it can.
TEST_F(row_updates, shrink) {
  for (const double below : {0.0, 0.3}) {
    table_type t(space_, 0, {.load_factor = 0.8, .shrink_below = below});
    std::ignore = build(t, some(0, n));
    const u64 full = t.bytes(), part = n / 8;
    for (u64 i = 0; i < 7; ++i) {
      EXPECT_EQ(erase(t, some(i * part, part)), part);
      if (below > 0) {
        EXPECT_GE(t.load_factor(), below);
      }
    }
    EXPECT_EQ(t.bytes() < full, below > 0);
    compare(t);
    t.shrink_to_fit(space_);
    const u64 bytes = t.bytes();
    EXPECT_LT(bytes, full / 4);
    EXPECT_EQ(t.shrink_to_fit(space_), 0U) << "there is nothing more to give back";
    EXPECT_EQ(t.bytes(), bytes);
    compare(t);
    EXPECT_EQ(insert(t, some(n, n)).inserted, n);  // and it grows again
    compare(t);
  }
}

}  // namespace tilehash::contract

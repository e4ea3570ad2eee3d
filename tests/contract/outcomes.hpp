// SPDX-License-Identifier: Apache-2.0
// The outcomes of many items that are inserted at once, against std::map. `outcomes_space` is the space.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <contract/random.hpp>
#include <tilehash/map.hpp>

namespace tilehash::contract {

template <class Pair>
class outcomes_of_many : public ::testing::Test {
 public:
  using key_type = std::tuple_element_t<0, Pair>;
  using mapped_type = std::tuple_element_t<1, Pair>;
  using table_type = map<key_type, mapped_type, outcomes_space>;

  // So many items of so many keys. Some floats are NaN.
  static std::vector<key_type> keys_of(u64 n, u64 different, u64 first) {
    std::vector<key_type> keys(n);
    for (u64 i = 0; i < n; ++i) {
      const u64 number = first + (different >= n ? i : mix64(run_seed() + i) % different);
      if constexpr (std::is_floating_point_v<key_type>)
        keys[i] = i % 1000 == 7 ? std::numeric_limits<key_type>::quiet_NaN() : static_cast<key_type>(number);
      else
        keys[i] = spread_key<key_type>(number);
    }
    return keys;
  }
  // Inserts items of so many different values, and compares outcomes and values with the model's.
  void insert(table_type& table, const std::vector<key_type>& keys, bool may_fill = false,
              u64 values_differ = ~u64(0)) {
    const u64 n = keys.size();
    std::vector<mapped_type> values(n);
    for (u64 i = 0; i < n; ++i) values[i] = static_cast<mapped_type>(mix64(i) % values_differ);
    buffer<key_type, outcomes_space> k(space, std::span<const key_type>(keys));
    buffer<mapped_type, outcomes_space> v(space, std::span<const mapped_type>(values));
    const buffer<outcome, outcomes_space> out(space, n);
    const insert_report report = table.insert(space, k.span(), v.span(), out.span());
    const auto outcomes = out.to_host();
    std::map<outcome, u64> counts;
    for (u64 i = 0; i < n; ++i) {
      ++counts[outcomes[i]];
      if (outcomes[i] != outcome::inserted) continue;
      ASSERT_TRUE(model.emplace(keys[i], values[i]).second) << "item " << i << " was inserted twice";
    }
    EXPECT_EQ(report.inserted, counts[outcome::inserted]);
    EXPECT_EQ(report.present, counts[outcome::present]);
    EXPECT_EQ(report.refused, counts[outcome::refused]);
    EXPECT_EQ(table.size(), model.size());
    const buffer<bool, outcomes_space> found(space, n);
    table.find(space, k.span(), v.span(), found.span());
    const auto flags = found.to_host();
    const auto stored = v.to_host();
    for (u64 i = 0; i < n; ++i) {
      const bool refused = outcomes[i] == outcome::refused;
      ASSERT_EQ(flags[i] == 0, refused) << "item " << i;
      if (refused) {
        ASSERT_TRUE(may_fill || keys[i] != keys[i]);  // a NaN
        continue;
      }
      ASSERT_EQ(stored[i], model.at(keys[i])) << "item " << i;
    }
  }

  outcomes_space space;
  std::map<key_type, mapped_type> model;
};
using outcomes_pairs = std::conditional_t<TILEHASH_FEW_TYPES != 0, ::testing::Types<std::tuple<float, u32>>,
                                          ::testing::Types<std::tuple<u32, u32>, std::tuple<u64, u64>,
                                                           std::tuple<float, u32>, std::tuple<u64, u16>>>;
TYPED_TEST_SUITE(outcomes_of_many, outcomes_pairs);

TYPED_TEST(outcomes_of_many, into_an_empty_table_and_again) {
  const u64 n = (u64(1) << 15) + scaled(30'000, 500);
  for (const u64 different : {n, n / 3, u64(1)}) {
    for (const bool grows : {true, false}) {
      if (!is_asked(different + (grows ? 1 : 0), 2)) continue;
      SCOPED_TRACE(std::to_string(different) + (grows ? " keys, growing" : " keys, fixed"));
      this->model.clear();
      typename TestFixture::table_type table(this->space, grows ? 0 : different, {.grow = grows});
      this->insert(table, TestFixture::keys_of(n, different, 0));
      this->insert(table, TestFixture::keys_of(n / 4, different, different / 2), !grows);
    }
  }
}
// Regions do not record which of equal keys they keep, and leave items over.
TYPED_TEST(outcomes_of_many, copies_into_a_table_made_for_all) {
  const u64 n = (u64(1) << 15) + scaled(30'000, 500);
  for (const u64 different : {n - n / 8, n / 3, u64(50), u64(1)}) {
    for (const u64 values_differ : {~u64(0), u64(2)}) {
      if (!is_asked(values_differ + different / 50, 2)) continue;
      SCOPED_TRACE(std::to_string(different) + " keys, " + std::to_string(values_differ) + " values");
      this->model.clear();
      typename TestFixture::table_type table(this->space, n);
      this->insert(table, TestFixture::keys_of(n, different, 0), false, values_differ);
      this->insert(table, TestFixture::keys_of(n / 4, different, different / 2));
    }
  }
}
// A sample says that they repeat.
TYPED_TEST(outcomes_of_many, many_copies) {
  const u64 n = 66'000;
  typename TestFixture::table_type table(this->space, n);
  this->insert(table, TestFixture::keys_of(n, 1'000, 0));
}
TYPED_TEST(outcomes_of_many, more_than_a_fixed_table_takes) {
  const u64 n = (u64(1) << 15) + scaled(30'000, 500);
  for (const u64 made_for : {n / 2, n - n / 16}) {  // one by one, and by regions
    if (!is_asked(made_for == n / 2 ? 0 : 1, made_for == n / 2 ? 4 : 2)) continue;  // the first takes long
    this->model.clear();
    typename TestFixture::table_type table(this->space, made_for, {.load_factor = 0.93, .grow = false});
    const u64 items = std::max(n, table.capacity() - table.capacity() / 64);
    this->insert(table, TestFixture::keys_of(std::min(items, n + n / 16), n + n / 16, 0), true);
    EXPECT_GE(table.size(), made_for);
  }
}
// With memory for the bits of a part of the slots.
TYPED_TEST(outcomes_of_many, a_part_of_the_slots_at_a_time) {
  using table_type = typename TestFixture::table_type;
  using design = std::remove_cvref_t<decltype(std::declval<table_type>().view().design)>;
  if constexpr (detail::claims_slots<design, outcomes_space, detail::array_source<typename design::slot_type>,
                                     detail::keep_stored>()) {
    using key_type = typename TestFixture::key_type;
    using mapped_type = typename TestFixture::mapped_type;
    using source = detail::array_source<typename design::slot_type>;
    const u64 n = 3'000;
    const auto keys = TestFixture::keys_of(n, n / 2, 0);
    std::vector<mapped_type> values(n);
    for (u64 i = 0; i < n; ++i) values[i] = static_cast<mapped_type>(i % 3);
    buffer<key_type, outcomes_space> k(this->space, std::span<const key_type>(keys));
    buffer<mapped_type, outcomes_space> v(this->space, std::span<const mapped_type>(values));
    buffer<outcome, outcomes_space> out(this->space, n);
    table_type table(this->space, n);
    const insert_report report = table.insert(this->space, k.span(), v.span());
    const buffer<u32, outcomes_space> bits(this->space, 7);
    detail::look_up_outcomes(this->space, table.view().design, source{k.data(), v.data()}, n, bits,
                             out.data());
    std::map<key_type, std::pair<u64, u64>> items;  // of a key: all, and inserted ones
    const auto outcomes = out.to_host();
    u64 inserted = 0;
    for (u64 i = 0; i < n; ++i) {
      if (keys[i] != keys[i]) continue;  // NaN
      auto& [all, first] = items[keys[i]];
      ++all, first += outcomes[i] == outcome::inserted;
      inserted += outcomes[i] == outcome::inserted;
      ASSERT_NE(outcomes[i], outcome::refused);
    }
    for (const auto& [key, counts] : items) ASSERT_EQ(counts.second, 1U);
    EXPECT_EQ(inserted, report.inserted);
  }
}

}  // namespace tilehash::contract

// SPDX-License-Identifier: Apache-2.0
// Rows behind a table of ids, under the GPU's schedule, compared with std::map.
#include <tilehash/designs/linear_probing.hpp>
#include <tilehash/engine/records.hpp>

#include <array>
#include <map>

#include "designs_test.hpp"

namespace tilehash::designs_test {

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(EmulatedDesign);

namespace {

using wide = std::array<u64, 3>;
using block = std::array<u32, 5>;

struct add_blocks {
  TILEHASH_FN block operator()(const block& a, const block& b) const {
    block c{};
    for (u32 i = 0; i < 5; ++i) c[i] = a[i] + b[i];
    return c;
  }
};

template <class Design>
class driven_index {
 public:
  explicit driven_index(u64 seed) : space_({.seed = seed, .preempt = true}), table_(space_) {}

  // Adds items of so many keys, from one on, several of each.
  void add(u64 first, u64 distinct, u64 n) {
    std::vector<wide> keys(n);
    std::vector<block> values(n);
    for (u64 i = 0; i < n; ++i) {
      keys[i] = key(first + mix64(i) % distinct);
      values[i] = {static_cast<u32>(i), 1, 2, 3, static_cast<u32>(first)};
    }
    const u64 before = model_.size();
    for (u64 i = 0; i < n; ++i) model_[keys[i]] = add_blocks{}(model_[keys[i]], values[i]);
    buffer<wide, emulated> k(space_, keys);
    buffer<block, emulated> v(space_, values);
    const auto report = table_.insert_or_apply(space_, k.span(), v.span(), add_blocks{});
    EXPECT_EQ(report.inserted, model_.size() - before);
    EXPECT_EQ(report.inserted + report.present, n);
    compare();
  }
  void erase(u64 first, u64 n) {
    std::vector<wide> keys;
    u64 gone = 0;
    for (u64 i = 0; i < n; ++i) {
      keys.push_back(key(first + i));
      keys.push_back(key(first + i));
      gone += model_.erase(key(first + i));
    }
    buffer<wide, emulated> k(space_, keys);
    EXPECT_EQ(table_.erase(space_, k.span()), gone);
    compare();
  }

 private:
  static wide key(u64 i) { return {mix64(i), i, 5}; }

  void compare() {
    ASSERT_EQ(table_.size(), model_.size());
    buffer<wide, emulated> k(space_, table_.size());
    buffer<block, emulated> v(space_, table_.size());
    ASSERT_EQ(table_.retrieve_all(space_, k.span(), v.span()), model_.size());
    const auto keys = k.to_host();
    EXPECT_TRUE((std::map<wide, block>(model_) == zip(keys, v.to_host())));
    buffer<bool, emulated> found(space_, keys.size());
    table_.find(space_, k.span(), v.span(), found.span());
    EXPECT_TRUE((std::map<wide, block>(model_) == zip(keys, v.to_host())));
    EXPECT_EQ(std::ranges::count(found.to_host(), 0), 0);
  }
  static std::map<wide, block> zip(const std::vector<wide>& keys, const std::vector<block>& values) {
    std::map<wide, block> all;
    for (u64 i = 0; i < keys.size(); ++i) all[keys[i]] = values[i];
    return all;
  }

  emulated space_;
  table<Design, emulated> table_;
  std::map<wide, block> model_;
};

TEST(Indexed, AnswersLikeTheModel) {
  for (u64 seed = 1; seed < (small() ? 2U : 4U); ++seed) {
    driven_index<indexed<wide, block>> d(seed);
    d.add(0, 300, 800);
    d.erase(0, 100);
    d.add(200, 200, 500);
    d.erase(390, 50);
    d.add(0, 50, 50);
  }
}
TEST(Indexed, OverAnotherDesign) {
  driven_index<indexed<wide, block, murmur, linear_probing<u64, u32>>> d(1);
  d.add(0, 300, 800);
  d.erase(0, 100);
  d.add(50, 300, 500);
}

}  // namespace
}  // namespace tilehash::designs_test

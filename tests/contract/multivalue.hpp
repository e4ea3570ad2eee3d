// SPDX-License-Identifier: Apache-2.0
// A multimap keeps every item, against std::unordered_multimap.
#pragma once

#include <unordered_map>

#include <contract/question.hpp>

namespace tilehash::contract {

template <class Key, class Value>
struct multivalues : question<Key, Value> {
  using typename question<Key, Value>::maker;
  using typename question<Key, Value>::test;
  static constexpr const char* name = "multivalue";
  static constexpr abilities needs = {.keeps_duplicates = true};

  static void every_item_is_kept(const maker& make) {
    auto random = numbers_of_this_test();
    for (u64 distinct : {1, 10, 1'000}) {
      const auto base = multivalues::distinct_keys(random, distinct);
      const u64 n = make.at_most(scaled(4'500, 750));
      const auto k = keys_from(random, base, n);
      const auto v = multivalues::values_for(random, k);
      std::unordered_multimap<Key, value_of<Value>, bytes_hash, bytes_equal> expected;
      for (u64 i = 0; i < n; ++i) expected.emplace(one_representation(k[i]), v[i]);

      const auto table = make();
      const auto report = table->build(k, v);
      ASSERT_EQ(report, (insert_report{.inserted = n, .present = 0, .refused = 0, .restarts = 0}));
      const auto counts = table->count(base);
      for (u64 i = 0; i < base.size(); ++i) ASSERT_EQ(counts[i], expected.count(one_representation(base[i])));
      for (const auto& [key, value] : table->for_each()) {
        const auto [first, last] = expected.equal_range(key);
        const auto it =
            std::find_if(first, last, [&](const auto& item) { return same_bytes(item.second, value); });
        ASSERT_NE(it, last) << "an item that nobody gave";
        expected.erase(it);
      }
      ASSERT_TRUE(expected.empty()) << expected.size() << " items lost";
    }
  }

  static auto keys_from(random_numbers& random, const std::vector<Key>& base, u64 n) {
    std::vector<Key> k;
    for (u64 i = 0; i < n; ++i) k.push_back(base[random.below(base.size())]);
    return k;
  }

  static constexpr test tests[] = {{"every_item_is_kept", every_item_is_kept}};
};

}  // namespace tilehash::contract

// SPDX-License-Identifier: Apache-2.0
// Every key is legal, including those that look like the marks of free slots.
#pragma once

#include <contract/question.hpp>

namespace tilehash::contract {

template <class Key, class Value>
struct every_key : question<Key, Value> {
  using typename question<Key, Value>::maker;
  using typename question<Key, Value>::test;
  using typename question<Key, Value>::keys;
  static constexpr const char* name = "every_key";
  static constexpr abilities needs = {};

  static void of_a_small_type(const maker& make) {
    if constexpr (sizeof(Key) <= 2) {
      auto random = numbers_of_this_test();
      auto k = keys_by<Key>(u64(1) << 8 * sizeof(Key), [](u64 i) { return i; });
      std::shuffle(k.begin(), k.end(), random);
      k.resize(make.at_most(scaled(k.size(), std::min<u64>(k.size(), 5'000))));
      const auto table = make();
      model<Key, Value> expected(make.can);
      expected.build(*table, k, every_key::values_for(random, k));
      expected.verify(*table);
      if (!make.can.erases) return;
      expected.erase(*table, every_key::part(k, 0, k.size() / 2));
      expected.verify(*table, k);
      expected.insert(*table, k, every_key::values_for(random, k));
      expected.verify(*table);
    }
  }

  // One special key at a time, through every verb.
  static void special_and_alone(const maker& make) {
    auto random = numbers_of_this_test();
    const auto special = special_keys<Key>();
    for (const Key& key : special) {
      SCOPED_TRACE((model<Key, Value>::show(key)));
      const auto table = make();
      model<Key, Value> expected(make.can);
      expected.build(*table, {key}, every_key::values_for(random, {key}));
      expected.verify(*table, special);
      if (!make.can.inserts || !make.can.erases) continue;
      expected.insert(*table, {key, key}, every_key::values_for(random, {key, key}));
      expected.verify(*table, special);
      table->rehash(100);
      expected.verify(*table, special);
      expected.erase(*table, {key, key});
      expected.verify(*table, special);
      expected.insert(*table, {key}, every_key::values_for(random, {key}));
      expected.verify(*table, special);
      expected.clear(*table);
      expected.verify(*table, special);
      expected.insert(*table, {key}, every_key::values_for(random, {key}));
      expected.verify(*table, special);
    }
  }

  static void special_among_others(const maker& make) {
    auto random = numbers_of_this_test();
    auto k = every_key::random_keys(random, make.at_most(scaled(3'000, 300)));
    for (int i = 0; i < 3; ++i) {
      for (const Key& key : special_keys<Key>()) k.push_back(key);
    }
    std::shuffle(k.begin(), k.end(), random);
    const auto table = make(0, {.load_factor = 0.95});
    model<Key, Value> expected(make.can);
    expected.build(*table, k, every_key::values_for(random, k));
    expected.verify(*table, special_keys<Key>());
    if (!make.can.erases) return;
    expected.erase(*table, special_keys<Key>());
    expected.verify(*table, k);
    expected.insert(*table, k, every_key::values_for(random, k));
    expected.verify(*table);
  }

  static constexpr test tests[] = {
      {"of_a_small_type", of_a_small_type, {}, sizeof(Key) <= 2},
      {"special_and_alone", special_and_alone},
      {"special_among_others", special_among_others},
  };
};

}  // namespace tilehash::contract

// SPDX-License-Identifier: Apache-2.0
// Any sequence of bulk calls gives the answers of std::unordered_map. Sequences start short and get longer,
// so that the first failure is a short one.
#pragma once

#include <contract/question.hpp>

namespace tilehash::contract {

template <class Key, class Value>
struct random_calls : question<Key, Value> {
  using typename question<Key, Value>::maker;
  using typename question<Key, Value>::test;
  using typename question<Key, Value>::keys;
  static constexpr const char* name = "random_calls";
  static constexpr abilities needs = {};

  static keys some(random_numbers& random, const keys& universe, u64 most) {
    keys k;
    for (u64 left = random.below(most + 1); left != 0; --left)
      k.push_back(universe[random.below(universe.size())]);
    return k;
  }
  static keys any_universe(random_numbers& random, u64 most) {
    auto all = families<Key>(random, random.between(1, most));
    auto& k = all[random.below(all.size())].keys;
    for (const Key& key : special_keys<Key>()) {
      if (random.one_in(4)) k.push_back(key);
    }
    if (k.empty()) k.push_back(key_from<Key>(random()));
    return k;
  }

  static void like_the_model(const maker& make) {
    auto random = numbers_of_this_test();
    const u64 sequences = make.at_most(scaled(28, 6));
    for (u64 sequence = 0; sequence < sequences; ++sequence) {
      const u64 most = make.at_most(random.one_in(8) ? 5'000 : random.one_in(2) ? 400 : 40);
      const keys universe = any_universe(random, most);
      table_options options{.load_factor = 0.02 + 0.01 * static_cast<double>(random.below(97)),
                            .seed = random.one_in(2) ? random() : known_seed,
                            .grow = !random.one_in(4)};
      const auto table = make(random.one_in(2) ? 0 : random.below(most), options);
      model<Key, Value> expected(make.can);
      std::string log =
          "load factor " + std::to_string(options.load_factor) + (options.grow ? "" : ", no growth");
      for (u64 step = 0; step <= sequence; ++step)
        step_once(make, random, universe, most, options.grow, *table, expected, log);
    }
  }

  static void step_once(const maker& make, random_numbers& random, const keys& universe, u64 most, bool grow,
                        subject<Key, Value>& table, model<Key, Value>& expected, std::string& log) {
    const keys k = some(random, universe, random.one_in(3) ? most : 1 + most / 8);
    const u64 choice = random.below(16);
    const auto note = [&](const char* call, u64 n) {
      log += std::string("; ") + call + " " + std::to_string(n);
    };
    if ((make.can.inserts || make.can.adds) && choice < 6) {
      note("insert", k.size());
      SCOPED_TRACE(log);
      expected.insert(table, k, random_calls::values_for(random, k), !grow);
      expected.verify(table, k);
    } else if (make.can.erases && choice < 11) {
      note("erase", k.size());
      SCOPED_TRACE(log);
      expected.erase(table, k);
      expected.verify(table, k);
    } else if (make.can.reserves && choice < 13) {
      note(choice == 11 ? "rehash" : "reserve", most);
      SCOPED_TRACE(log);
      choice == 11 ? table.rehash(random.below(most)) : table.reserve(random.below(2 * most));
      expected.verify(table, universe);
    } else if (choice == 13) {
      note("clear", 0);
      SCOPED_TRACE(log);
      expected.clear(table);
      expected.verify(table, universe);
    } else if (grow) {
      note("build", k.size());
      SCOPED_TRACE(log);
      expected.build(table, k, random_calls::values_for(random, k));
      expected.verify(table, universe);
    }
  }

  static constexpr test tests[] = {{"like_the_model", like_the_model}};
};

}  // namespace tilehash::contract

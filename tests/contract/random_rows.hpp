// SPDX-License-Identifier: Apache-2.0
// After any calls the rows hold each key's items, as std::unordered_map does, for easy and for colliding
// keys: thousands of small tables and some that are built by regions, or in bins.
//
// The includer names the space, `rows_space`, and the number of tables of a design, `random_tables`.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <unordered_map>
#include <vector>

#include <contract/keys.hpp>
#include <tilehash/rows.hpp>
#include <tilehash/table.hpp>

namespace tilehash::contract {

template <class Design>
class random_rows : public ::testing::Test {
 public:
  using key = typename Design::key_type;
  using keys = std::vector<key>;

  // One table, from its first call to its last.
  void play(random_numbers& random) {
    const u64 most = random.one_in(60) ? 40'000 : random.one_in(8) ? 5'000 : 300;
    const u64 seed = random.one_in(2) ? known_seed : random();
    constexpr double loads[] = {0.3, 0.8, 1, 2, Design::max_load_factor}, slacks[] = {0, 0.25, 1};
    const table_options options{.load_factor = loads[random.below(std::size(loads))],
                                .seed = seed,
                                .slack = slacks[random.below(std::size(slacks))]};
    universe_ = some_keys(random, 1 + random.below(most), seed);
    strangers_ = keys_by<key>(200, [&](u64) { return random(); });
    log_ = "keys " + std::to_string(universe_.size()) + ", load factor " +
           std::to_string(options.load_factor) + ", slack " + std::to_string(options.slack) + ", seed " +
           std::to_string(seed);
    model_.clear(), given_.clear();
    table<Design, rows_space> t(space_, random.one_in(2) ? 0 : random.below(most), options);
    const u64 steps = !erasable<Design> ? 2 : 1 + random.below(8);
    for (u64 i = 0; i < steps && !this->HasFailure(); ++i) {
      change(t, random);
      SCOPED_TRACE(log_);
      compare(t);
    }
  }

 private:
  struct items {
    u32 count = 0;
    u64 first = 0;  // the number of the oldest item
  };
  struct key_hash {
    u64 operator()(const key& k) const { return detail::hash_key(murmur(1), k); }
  };

  static keys some_keys(random_numbers& random, u64 n, u64 seed) {
    switch (random.below(6)) {
      case 0:
        return keys_by<key>(n, [](u64 i) { return i; });
      case 1:  // keys that differ in high bits only
        return keys_by<key>(n, [](u64 i) { return i << (8 * (sizeof(key) < 8 ? sizeof(key) : 8) - 16); });
      case 2:  // few keys, so each is frequent
        return keys_by<key>(1 + n / 50, [&](u64) { return random(); });
      case 3: {  // keys whose rows are the first 64th, if the table has this seed
        keys all = special_keys<key>();
        while (all.size() < n / 4 + 20) {
          const key one = key_from<key>(random());
          if (fast_range(detail::hash_key(typename Design::hasher(seed), one), u64(64)) == 0)
            all.push_back(one);
        }
        return all;
      }
      default:
        return keys_by<key>(n, [&](u64) { return random(); });
    }
  }

  keys picked(random_numbers& random) {
    keys k(random.one_in(3) ? universe_.size() : random.below(1 + universe_.size() / 8));
    const bool one = random.one_in(16);  // one key for all
    for (key& each : k) each = universe_[one ? 0 : random.below(universe_.size())];
    return k;
  }

  void change(table<Design, rows_space>& t, random_numbers& random) {
    const keys k = picked(random);
    const buffer<key, rows_space> there(space_, k);
    const u64 choice = erasable<Design> ? random.below(16) : 15;
    const auto note = [&](const char* call) {
      log_ += std::string("; ") + call + " " + std::to_string(k.size());
    };
    if constexpr (erasable<Design>) {
      if (choice < 7) {
        note("insert");
        const auto values = serials(k);
        EXPECT_EQ(t.insert(space_, there.span(), values.span()), (insert_report{.inserted = k.size()}))
            << log_;
        return;
      }
      if (choice < 11) {
        note("erase");
        u64 gone = 0;
        for (const key& each : k) {
          const auto at = model_.find(each);
          if (at == model_.end()) continue;
          gone += at->second.count;
          model_.erase(at);
        }
        EXPECT_EQ(t.erase(space_, there.span()), gone) << log_;
        return;
      }
      if (choice < 13) {
        note(choice == 11 ? "reserve" : "rehash");
        choice == 11 ? t.reserve(space_, 2 * k.size()) : t.rehash(space_, k.size() / 2);
        return;
      }
    }
    model_.clear();
    if (choice == 14) {
      note("clear");
      t.clear(space_);
      return;
    }
    note("build");
    const auto values = serials(k);
    EXPECT_EQ(t.build(space_, there.span(), values.span()), (insert_report{.inserted = k.size()})) << log_;
  }

  // An item's value is its number, so no item can be mistaken for another.
  buffer<u32, rows_space> serials(const keys& k) {
    std::vector<u32> numbers;
    for (const key& each : k) {
      items& its = model_[each];
      if (its.count++ == 0) its.first = given_.size();
      numbers.push_back(static_cast<u32>(given_.size()));
      given_.push_back(each);
    }
    return buffer<u32, rows_space>(space_, numbers);
  }
  // Checks whether an item of this key has this value.
  bool is_there(const key& k, u32 value) const {
    const auto at = model_.find(k);
    return at != model_.end() && value >= at->second.first && value < given_.size() && given_[value] == k;
  }

  void compare(const table<Design, rows_space>& t) {
    u64 all = 0;
    for (const auto& [k, its] : model_) all += its.count;
    ASSERT_EQ(t.size(), all);
    keys asked = universe_;
    asked.insert(asked.end(), strangers_.begin(), strangers_.end());
    const buffer<key, rows_space> q(space_, asked);
    const buffer<u32, rows_space> out(space_, asked.size()), counts(space_, asked.size());
    const buffer<bool, rows_space> found(space_, asked.size()), contained(space_, asked.size());
    t.find(space_, q.span(), out.span(), found.span());
    t.contains(space_, q.span(), contained.span());
    t.count(space_, q.span(), counts.span());
    const auto values = out.to_host(), counted = counts.to_host();
    const auto met = found.to_host(), also = contained.to_host();
    u64 wrong = 0;
    for (u64 i = 0; i < asked.size(); ++i) {
      const auto at = model_.find(asked[i]);
      const u32 count = at == model_.end() ? 0 : at->second.count;
      wrong += counted[i] != count || bool(met[i]) != (count != 0) || bool(also[i]) != (count != 0);
      wrong += count != 0 && !is_there(asked[i], values[i]);
    }
    EXPECT_EQ(wrong, 0U) << "of " << asked.size() << " answers";
    const buffer<key, rows_space> k(space_, all + 1);
    const buffer<u32, rows_space> v(space_, all + 1);
    ASSERT_EQ(t.retrieve_all(space_, k.span(), v.span()), all);
    const auto got = k.to_host();
    const auto beside = v.to_host();
    std::vector<bool> seen(given_.size());
    for (u64 i = 0; i < all; ++i) {
      const bool right = is_there(got[i], beside[i]) && !seen[beside[i]];
      wrong += !right;
      if (right) seen[beside[i]] = true;
    }
    EXPECT_EQ(wrong, 0U) << "of " << all << " items";
  }

  rows_space space_;
  keys universe_, strangers_;
  std::unordered_map<key, items, key_hash> model_;
  keys given_;  // by number
  std::string log_;
};

TYPED_TEST_SUITE_P(random_rows);
TYPED_TEST_P(random_rows, hold_what_a_map_says) {
  SCOPED_TRACE("repeat it with TILEHASH_SEED=" + std::to_string(run_seed()));
  random_numbers random("random_rows");
  for (u64 i = scaled(random_tables, 10); i != 0 && !this->HasFailure(); --i) this->play(random);
}
REGISTER_TYPED_TEST_SUITE_P(random_rows, hold_what_a_map_says);

}  // namespace tilehash::contract

// SPDX-License-Identifier: Apache-2.0
// Tests of every design under the GPU's schedule, compared with std::unordered_map.
// length: one list of questions, asked of each design.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <limits>
#include <random>
#include <span>
#include <unordered_map>
#include <vector>

#include <contract/judged.hpp>
#include <contract/random.hpp>
#include <tilehash/space/buffer.hpp>
#include <tilehash/table.hpp>

#include "emulated.hpp"

namespace tilehash::designs_test {

inline bool small() { return contract::sizes_asked_for() == contract::test_sizes::small; }

// ---- items ----------------------------------------------------------------------------------------------

enum class pattern { distinct, some_twice, few, all_equal };

// Keys of a pattern; those whose bits may equal a table's marks come first.
template <class Key>
std::vector<Key> make_keys(u64 n, pattern p, u64 seed) {
  std::vector<Key> keys(n);
  for (u64 i = 0; i < n; ++i) {
    const u64 number = p == pattern::distinct     ? i
                       : p == pattern::some_twice ? i % (n - n / 16)
                       : p == pattern::few        ? mix64(seed + i) % (n / 8 + 1)
                                                  : 0;
    using limits = std::numeric_limits<Key>;
    const u64 x = mix64(seed == number ? ~u64(0) : seed ^ number);  // mix64(0) is 0, which is added below
    switch (number) {
      case 0:
        keys[i] = limits::max();
        break;
      case 1:
        keys[i] = Key(0);
        break;
      case 2:
        keys[i] = std::floating_point<Key> ? limits::denorm_min() : static_cast<Key>(limits::max() - 1);
        break;
      case 3:
        keys[i] = std::floating_point<Key> ? -limits::infinity() : Key(1);
        break;
      default:
        keys[i] = static_cast<Key>(std::floating_point<Key> ? x >> 12 : x);
    }
  }
  return keys;
}

// A design's tables on the emulated GPU, called with host vectors, and their expected contents.
template <class Design>
class driver {
 public:
  using key_type = typename Design::key_type;
  using table_type = table<Design, emulated>;
  using value_type = typename table_type::value_element;
  static constexpr bool is_set = table_type::is_set;
  static constexpr bool keeps_all = multivalue<Design>;

  driver(emulation::schedule s, u64 items, table_options options)
      : space_(s), table_(space_, items, lowered(options)) {}

  // Inserts or builds; every item gets a value of its own. Checks the report. An insert without outcomes may
  // go by regions.
  contract::judged put(const std::vector<key_type>& keys, bool build, bool asks = true) {
    const bool named = !build && asks;
    std::vector<value_type> values(keys.size());
    if (!is_set) std::ranges::generate(values, [&] { return static_cast<value_type>(++serial_); });
    buffer<key_type, emulated> k(space_, keys);
    buffer<value_type, emulated> v(space_, values);
    buffer<outcome, emulated> outcomes(space_, named ? keys.size() : 0);
    if (build) model_.clear();

    const insert_report report =
        build ? build_from(k.span(), v.span()) : insert(k.span(), v.span(), outcomes.span());

    // Any one of equal keys wins, so the model keeps all their values until a lookup shows the winner.
    std::unordered_map<key_type, std::vector<value_type>> offered;
    std::unordered_map<key_type, u64> inserted;
    insert_report counted;
    for (u64 i = 0; i < keys.size(); ++i) {
      if (!model_.contains(keys[i])) offered[keys[i]].push_back(values[i]);
      if (!named) continue;
      const outcome became = outcomes.data()[i];
      inserted[keys[i]] += became == outcome::inserted;
      ++(became == outcome::inserted  ? counted.inserted
         : became == outcome::present ? counted.present
                                      : counted.refused);
    }
    if (named) {
      EXPECT_EQ(report.inserted, counted.inserted);
      EXPECT_EQ(report.present, counted.present);
      EXPECT_EQ(report.refused, counted.refused);
      std::erase_if(offered, [&](const auto& o) { return inserted[o.first] == 0; });
      for (const auto& [key, times] : inserted) EXPECT_LE(times, model_.contains(key) ? 0U : 1U);
    }
    EXPECT_EQ(report.inserted, keeps_all ? keys.size() : offered.size());
    EXPECT_EQ(report.inserted + report.present + report.refused, keys.size());
    for (auto& [key, choice] : offered) model_[key] = choice;
    EXPECT_EQ(table_.size(), keeps_all ? keys.size() : model_.size());
    return {report};
  }

  // Erases, and checks how many keys were present.
  void erase(const std::vector<key_type>& keys)
    requires erasable<Design>
  {
    buffer<key_type, emulated> k(space_, keys);
    u64 expected = 0;
    for (const key_type& key : keys) expected += model_.erase(key);
    EXPECT_EQ(table_.erase(space_, k.span()), expected);
    EXPECT_EQ(table_.size(), model_.size());
  }

  // Adds a value to each item's, or inserts it. The model must know the stored values: call compare() before.
  void add(const std::vector<key_type>& keys)
    requires(insertable<Design> && !is_set)
  {
    std::vector<value_type> values(keys.size());
    std::ranges::generate(values, [&] { return static_cast<value_type>(++serial_); });
    buffer<key_type, emulated> k(space_, keys);
    buffer<value_type, emulated> v(space_, values);
    u64 fresh = 0;
    for (u64 i = 0; i < keys.size(); ++i) {
      auto& stored = model_[keys[i]];
      fresh += stored.empty();
      stored = {stored.empty() ? values[i] : static_cast<value_type>(stored[0] + values[i])};
    }
    EXPECT_EQ(table_.insert_or_apply(space_, k.span(), v.span(), op::sum{}).inserted, fresh);
    EXPECT_EQ(table_.size(), model_.size());
  }

  // Looks these keys up.
  void look_up(const std::vector<key_type>& keys) {
    const u64 n = keys.size();
    buffer<key_type, emulated> k(space_, keys);
    buffer<bool, emulated> found(space_, n);
    buffer<u32, emulated> counts(space_, keeps_all ? n : 0);
    buffer<value_type, emulated> values(space_, n);
    if constexpr (is_set)
      table_.contains(space_, k.span(), found.span());
    else
      table_.find(space_, k.span(), values.span(), found.span());
    if constexpr (keeps_all) table_.count(space_, k.span(), counts.span());
    u64 wrong = 0;
    for (u64 i = 0; i < n; ++i) {
      const auto known = model_.find(keys[i]);
      wrong += found.data()[i] != (known != model_.end());
      if (known == model_.end()) continue;
      if constexpr (keeps_all) wrong += counts.data()[i] != known->second.size();
      if constexpr (!is_set) wrong += !settle(known->second, values.data()[i]);
    }
    EXPECT_EQ(wrong, 0U) << "of " << n << " lookups";
  }

  // Checks that the table holds exactly the model's items, each once.
  void compare() {
    const u64 n = table_.size(),
              capacity = n + table_.capacity();  // larger than size(), for the items of a broken table
    buffer<key_type, emulated> keys(space_, capacity);
    buffer<value_type, emulated> values(space_, capacity);
    u64 given = 0;
    if constexpr (is_set)
      given = table_.retrieve_all(space_, keys.span());
    else
      given = table_.retrieve_all(space_, keys.span(), values.span());
    ASSERT_EQ(given, n);
    std::unordered_map<key_type, std::vector<value_type>> seen;
    for (u64 i = 0; i < n; ++i) seen[keys.data()[i]].push_back(is_set ? value_type() : values.data()[i]);
    ASSERT_EQ(seen.size(), model_.size());
    u64 wrong = 0;
    for (auto& [key, got] : seen) {
      const auto known = model_.find(key);
      if (known == model_.end())
        ++wrong;
      else if constexpr (keeps_all) {
        std::ranges::sort(got);
        std::ranges::sort(known->second);
        wrong += got != known->second;
      } else {
        wrong += got.size() != 1 || (!is_set && !settle(known->second, got[0]));
      }
    }
    EXPECT_EQ(wrong, 0U);
  }

  table_type& get() { return table_; }
  emulated& space() { return space_; }

 private:
  using keys_in = typename table_type::keys_in;
  using values_in = typename table_type::values_in;

  // A load above the design's limit becomes that limit.
  static table_options lowered(table_options options) {
    constexpr double highest = detail::highest_load_factor<Design>();
    if (options.load_factor > highest) options.load_factor = highest;
    return options;
  }

  insert_report build_from(keys_in keys, values_in values) {
    if constexpr (is_set)
      return table_.build(space_, keys);
    else
      return table_.build(space_, keys, values);
  }
  insert_report insert(keys_in keys, values_in values, std::span<outcome> outcomes) {
    if constexpr (!insertable<Design>)
      return {};
    else if constexpr (is_set)
      return table_.insert(space_, keys, outcomes);
    else
      return table_.insert(space_, keys, values, outcomes);
  }

  // Checks that this is one of the key's possible values; from now on it is the only one.
  static bool settle(std::vector<value_type>& may_have, const value_type& has) {
    if (std::ranges::find(may_have, has) == may_have.end()) return false;
    if constexpr (!keeps_all) may_have = {has};
    return true;
  }

  emulated space_;
  table_type table_;
  std::unordered_map<key_type, std::vector<value_type>> model_;
  u64 serial_ = 0;
};

// ---- the questions --------------------------------------------------------------------------------------

template <class Key>
std::vector<Key> part(const std::vector<Key>& keys, u64 from, u64 to) {
  return {keys.begin() + static_cast<std::ptrdiff_t>(std::min<u64>(from, keys.size())),
          keys.begin() + static_cast<std::ptrdiff_t>(std::min<u64>(to, keys.size()))};
}

// All verbs in a table's life: build, lookup, insert, erase, and insert again.
template <class Design>
void live(emulation::schedule s, u64 n, pattern p, double load_factor) {
  SCOPED_TRACE("seed " + std::to_string(s.seed) + ", " + std::to_string(n) + " keys, load " +
               std::to_string(load_factor));
  using key_type = typename Design::key_type;
  driver<Design> d(s, 0, {.load_factor = load_factor});
  const auto keys = make_keys<key_type>(n + n / 2, p, 42 + n);
  const auto first = part(keys, 0, n), strangers = make_keys<key_type>(n / 2 + 1, p, 7);

  d.look_up(first);
  EXPECT_EQ(d.put(first, true).refused, 0U);
  d.look_up(first);
  d.look_up(keys);
  d.look_up(strangers);
  d.compare();
  if constexpr (insertable<Design>) {
    EXPECT_EQ(d.put(keys, false).refused, 0U);
    d.look_up(keys);
    auto half = part(keys, 0, keys.size() / 2);
    half.insert(half.end(), strangers.begin(), strangers.end());
    half.insert(half.end(), keys.begin(), keys.begin() + static_cast<std::ptrdiff_t>(keys.size() / 4));
    d.erase(half);
    d.look_up(keys);
    d.compare();
    EXPECT_EQ(d.put(keys, false).refused, 0U);
    d.look_up(keys);
    d.look_up(strangers);
    d.compare();
    if constexpr (!driver<Design>::is_set) {
      d.erase(first);
      d.add(keys);
      d.compare();
    }
  }
}

// Slots are freed and reused without growth: no key may be stored twice, none may be lost.
template <class Design>
void churn(emulation::schedule s, u64 n) {
  using key_type = typename Design::key_type;
  driver<Design> d(s, n, {.load_factor = 0.9, .grow = false});
  const auto keys = make_keys<key_type>(2 * n, pattern::distinct, s.seed);
  d.put(part(keys, 0, n), false);
  for (u64 round = 0; round < 4; ++round) {  // the table holds n keys from number round * n / 8 on
    d.erase(part(keys, round * n / 8, round * n / 8 + n / 2));
    const auto again = part(keys, (round + 1) * n / 8, (round + 1) * n / 8 + n);
    auto twice = again;
    twice.insert(twice.end(), again.begin(), again.end());
    d.put(twice, false);
    d.look_up(keys);
    d.compare();
  }
}

// Each key four times, and a few more keys than a small table holds. Many inserts compete for the same slots
// and keys, and many keys must be displaced.
template <class Design>
void contend(emulation::schedule s, u64 n) {
  using key_type = typename Design::key_type;
  driver<Design> d(s, n, {.load_factor = 0.98, .grow = false});
  const auto distinct = make_keys<key_type>(n + n / 40, pattern::distinct, s.seed);
  std::vector<key_type> keys;
  for (u32 i = 0; i < 4; ++i) keys.insert(keys.end(), distinct.begin(), distinct.end());
  std::shuffle(keys.begin(), keys.end(), std::mt19937_64(s.seed));
  d.put(keys, false);
  d.look_up(distinct);
  d.compare();
  d.erase(keys);
  d.compare();
}

// More keys than slots: items without a free slot are refused by name, and nothing else changes.
template <class Design>
void overfill(emulation::schedule s) {
  using key_type = typename Design::key_type;
  driver<Design> d(s, 100, {.load_factor = 0.9, .grow = false});
  const u64 capacity = d.get().capacity();  // sentinel cells may hold two more
  const auto keys =
      make_keys<key_type>(capacity + capacity / (small() ? 64 : 4) + 3, pattern::distinct, s.seed);
  EXPECT_GT(d.put(keys, false).refused, 0U);
  d.look_up(keys);
  d.compare();
}

template <class Design>
class EmulatedDesign : public testing::Test {
 protected:
  // Wide tiles take longer: the whole warp serves each lane's operation.
  static u64 sized(u64 n) {
    u64 divisor = small() ? 8 : 2;
    if constexpr (requires { Design::preferred_width; }) divisor *= (Design::preferred_width + 3) / 4;
    return n / divisor;
  }
};
TYPED_TEST_SUITE_P(EmulatedDesign);

TYPED_TEST_P(EmulatedDesign, AnswersLikeTheModel) {
  struct {
    u64 n;
    pattern keys;
    double load_factor;
  } const cases[] = {
      {0, pattern::distinct, 0.5},
      {1, pattern::distinct, 0.9},
      {31, pattern::distinct, 0.95},
      {33, pattern::few, 0.5},
      {this->sized(1000), pattern::all_equal, 0.9},
      {this->sized(1000), pattern::few, 0.9},
      {this->sized(1000), pattern::distinct, 0.5},
      {this->sized(3000), pattern::distinct, 0.95},
  };
  u64 seed = 0;
  for (const auto& c : cases) {
    ++seed;
    live<TypeParam>({.seed = seed, .interleave = seed % 3 != 0, .preempt = seed % 2 == 0}, c.n, c.keys,
                    c.load_factor);
  }
}

TYPED_TEST_P(EmulatedDesign, AnyScheduleGivesRightAnswers) {
  for (u64 seed = 100; seed < (small() ? 102U : 106U); ++seed)
    live<TypeParam>({.seed = seed, .preempt = true, .resident = static_cast<u32>(1 + seed % 3)},
                    this->sized(600), pattern::few, 0.9);
}

TYPED_TEST_P(EmulatedDesign, SlotsAreUsedAgain) {
  if constexpr (insertable<TypeParam>) {
    for (u64 seed = 200; seed < (small() ? 201U : 203U); ++seed)
      churn<TypeParam>({.seed = seed, .preempt = seed % 2 == 1}, this->sized(400));
  } else {
    GTEST_SKIP() << "tables of this design are only built";
  }
}

TYPED_TEST_P(EmulatedDesign, EqualKeysMeet) {
  if constexpr (insertable<TypeParam>) {
    for (u64 seed = 400; seed < (small() ? 401U : 404U); ++seed)
      contend<TypeParam>({.seed = seed, .preempt = seed % 2 == 0, .resident = 4}, this->sized(500));
  } else {
    GTEST_SKIP() << "tables of this design are only built";
  }
}

TYPED_TEST_P(EmulatedDesign, AFullTableSaysSo) {
  if constexpr (insertable<TypeParam>) {
    if (!small())
      overfill<TypeParam>({.seed = 300, .interleave = false});  // each refused key takes a long search
    overfill<TypeParam>({.seed = 301, .preempt = true});
  } else {
    GTEST_SKIP() << "tables of this design are only built";
  }
}

REGISTER_TYPED_TEST_SUITE_P(EmulatedDesign, AnswersLikeTheModel, AnyScheduleGivesRightAnswers,
                            SlotsAreUsedAgain, EqualKeysMeet, AFullTableSaysSo);

// So many items that they are partitioned, and a block builds each region in its scratch.
template <class Design>
void build_by_regions(u64 n, pattern p, double load_factor, u64 seed) {
  SCOPED_TRACE(std::to_string(n) + " keys, load " + std::to_string(load_factor));
  using key_type = typename Design::key_type;
  driver<Design> d({.seed = seed, .preempt = true}, 0, {.load_factor = load_factor});
  const auto keys = make_keys<key_type>(n, p, seed);
  EXPECT_EQ(d.put(keys, true).refused, 0U);
  if constexpr (requires { d.get().view().design.regions(); }) {
    EXPECT_GT(d.get().view().design.regions(), 1U);
    EXPECT_TRUE(detail::regions_pay(d.space(), d.get().view().design, n, 0)) << "a region fits no block";
  }
  d.look_up(keys);
  d.look_up(make_keys<key_type>(2000, pattern::distinct, seed + 1));
  d.compare();
  d.erase(part(keys, 0, 1000));
  d.put(part(keys, 500, 1500), false);
  d.look_up(part(keys, 0, 2000));
  d.compare();
}

// So many new items that they are merged region by region with the table's items.
template <class Design>
void merge_by_regions(u64 n, pattern p, double load_factor, u64 held, u64 seed) {
  SCOPED_TRACE(std::to_string(held) + " keys and " + std::to_string(n - held) + ", load " +
               std::to_string(load_factor));
  using key_type = typename Design::key_type;
  driver<Design> d({.seed = seed, .preempt = true}, n, {.load_factor = load_factor});
  const auto keys = make_keys<key_type>(n, p, seed);
  d.put(part(keys, 0, held), false);
  d.erase(part(keys, 0, held / 8));  // leaves gaps
  ASSERT_TRUE(detail::regions_pay(d.space(), d.get().view().design, n - held, d.get().size()));
  EXPECT_EQ(d.put(part(keys, held, n), false, false).refused, 0U);
  d.look_up(keys);
  d.compare();
  d.get().rehash(d.space(), n + n / 8);
  d.look_up(keys);
  d.compare();
}

}  // namespace tilehash::designs_test

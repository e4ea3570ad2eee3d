// SPDX-License-Identifier: Apache-2.0
// Turnover by each form of the verbs: calls that synchronize, asynchronous calls, views in a user's kernel, and
// tables that grow. The contents are compared with those expected, and the lookups with those of a new
// table of the same items. The includer names the space, `turnover_space`, and `turnover_memory`, its memory.
#pragma once

#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <type_traits>
#include <unordered_set>
#include <vector>

#include <contract/faulty.hpp>
#include <contract/only_read.hpp>
#include <contract/random.hpp>
#include <tilehash/designs/bucketed_cuckoo.hpp>
#include <tilehash/designs/double_hashing.hpp>
#include <tilehash/designs/linear_probing.hpp>
#include <tilehash/designs/tiled.hpp>
#include <tilehash/papers/cuckoo.hpp>
#include <tilehash/papers/quadratic_probing.hpp>
#include <tilehash/space/buffer.hpp>
#include <tilehash/table.hpp>

namespace tilehash::contract {

template <class View>
struct view_eraser {
  View view;
  const typename View::key_type* keys;
  TILEHASH_FN void operator()(u64 i) const { view.erase(keys[i]); }
};
template <class View>
struct view_inserter {
  View view;
  const typename View::key_type* keys;
  TILEHASH_FN void operator()(u64 i) const {
    if constexpr (View::is_set)
      view.insert(keys[i]);
    else
      view.insert(keys[i], static_cast<typename View::mapped_type>(keys[i]));
  }
};

// (By threads alone: the emulated machine looks up by lanes in a twentieth of the speed.)
template <class View>
struct probe_counter {
  View view;
  const typename View::key_type* keys;
  u32* counts;
  TILEHASH_FN void operator()(u64 i) const { counts[i] = view.find(keys[i]).probes(); }
};

// A table in which keys replace others. The value of a key is the key.
template <class Design>
class turned_over {
  using space_type = turnover_space;
  using key = typename Design::key_type;
  static constexpr bool is_set = std::is_void_v<typename Design::mapped_type>;
  using value = std::conditional_t<is_set, char, typename Design::mapped_type>;
  using keys = std::vector<key>;

 public:
  using table_type = table<Design, space_type>;

  turned_over(space_type& space, u64 n, table_options options)
      : tested(space, n, options), space_(space), random_(numbers()) {
    universe_.resize(2 * n);
    for (u64 i = 0; i < 2 * n; ++i) universe_[i] = spread_key<key>(i ^ (random_() << 20));
    present_ = n;
    insert(part(0, n));
  }
  // Chooses some present keys that go, and as many absent ones that come.
  void choose(u64 some) {
    for (u64 i = 0; i < some; ++i) {
      std::swap(universe_[i], universe_[random_.between(i, present_ - 1)]);
      std::swap(universe_[present_ + i], universe_[random_.between(present_ + i, universe_.size() - 1)]);
    }
    out = part(0, some), in = part(present_, present_ + some);
    for (u64 i = 0; i < some; ++i) std::swap(universe_[i], universe_[present_ + i]);
  }
  void insert(const keys& k) {
    const buffer<key, space_type> device(space_, k);
    insert_report report;
    if constexpr (is_set) {
      report = tested.insert(space_, device.span());
    } else {
      const buffer<value, space_type> values(space_, std::vector<value>(k.begin(), k.end()));
      report = tested.insert(space_, device.span(), values.span());
    }
    ASSERT_EQ(report.refused, 0U);
  }
  void erase(const keys& k) {
    const buffer<key, space_type> device(space_, k);
    ASSERT_EQ(tested.erase(space_, device.span()), k.size());
  }

  // Every key is found with its value if it is present; then the averages of buckets read.
  void verify() {
    const buffer<key, space_type> device(space_, universe_);
    const buffer<bool, space_type> found(space_, universe_.size());
    const buffer<value, space_type> values(space_, universe_.size());
    if constexpr (is_set)
      tested.contains(space_, device.span(), found.span());
    else
      tested.find(space_, device.span(), values.span(), found.span());
    const auto is = found.to_host();
    const auto v = values.to_host();
    u64 wrong = 0;
    for (u64 i = 0; i < universe_.size(); ++i) {
      wrong += (is[i] != 0) != (i < present_);
      if constexpr (!is_set) wrong += i < present_ && v[i] != static_cast<value>(universe_[i]);
    }
    ASSERT_EQ(wrong, 0U);
    ASSERT_EQ(tested.size(), present_);
    ASSERT_EQ(all_keys(), std::unordered_set<key>(universe_.begin(),
                                                  universe_.begin() + static_cast<std::ptrdiff_t>(present_)));
  }
  // Adds up what lookups read now, here and in a new table: one state of a small table may be an exception.
  void measure() {
    turned_over fresh(*this);
    present_reads_ += reads(0, present_), absent_reads_ += reads(present_, universe_.size());
    fresh_present_reads_ += fresh.reads(0, present_);
    fresh_absent_reads_ += fresh.reads(present_, universe_.size());
  }
  void expect_short_lookups() {
    EXPECT_LE(present_reads_, 1.5 * fresh_present_reads_);
    EXPECT_LE(absent_reads_, 1.5 * fresh_absent_reads_) << "of absent keys";
  }

  table_type tested;
  keys out, in;

 private:
  // A new table with the same items.
  turned_over(const turned_over& other)
      : tested(other.space_, other.present_, other.tested.options()),
        space_(other.space_),
        random_(other.random_),
        universe_(other.universe_),
        present_(other.present_) {
    insert(part(0, present_));
  }
  static random_numbers numbers() {
    const auto* info = ::testing::UnitTest::GetInstance()->current_test_info();
    return random_numbers(std::string(info->test_suite_name()) + "." + info->name());
  }
  keys part(u64 first, u64 end) const {
    const auto at = [&](u64 i) { return universe_.begin() + static_cast<std::ptrdiff_t>(i); };
    return keys(at(first), at(end));
  }
  double reads(u64 first, u64 end) {
    const buffer<key, space_type> device(space_, part(first, end));
    const buffer<u32, space_type> counts(space_, end - first);
    const auto view = tested.view();
    using view_type = std::remove_const_t<decltype(view)>;
    space_.for_each(end - first, probe_counter<view_type>{view, device.data(), counts.data()});
    const auto host = counts.to_host();
    return static_cast<double>(std::accumulate(host.begin(), host.end(), u64(0))) /
           static_cast<double>(end - first);
  }
  // A key that is stored twice is missed by the set, and then the table's size is wrong.
  std::unordered_set<key> all_keys() {
    const u64 n = tested.size();
    const buffer<key, space_type> device(space_, n);
    const buffer<value, space_type> values(space_, n);
    if constexpr (is_set)
      tested.retrieve_all(space_, device.span());
    else
      tested.retrieve_all(space_, device.span(), values.span());
    const auto host = device.to_host();
    return {host.begin(), host.end()};
  }

  space_type& space_;
  random_numbers random_;
  keys universe_;  // the present keys come first
  u64 present_ = 0;
  double present_reads_ = 0, absent_reads_ = 0, fresh_present_reads_ = 0, fresh_absent_reads_ = 0;
};

template <class Design>
class turnover_forms : public ::testing::Test {
  static_assert(detail::sweepable<Design>, "a misspelt member hides it");

 protected:
  static constexpr u64 items() { return scaled(turnover_items, 300); }
  static constexpr u64 rounds() { return scaled(turnover_rounds, 30); }
  static table_options options(double load) {
    const double highest = sizeof(typename Design::word) > 8 ? 0.8 : double(Design::max_load_factor);
    return {.load_factor = std::min(load, highest), .grow = false};
  }
  // Calls one_round(table) many times for each load.
  template <class Round>
  void turn_over(const Round& one_round) {
    SCOPED_TRACE("repeat it with TILEHASH_SEED=" + std::to_string(run_seed()));
    for (const double load : {0.5, 0.8, 0.9}) {  // fuller tables may refuse an item
      SCOPED_TRACE(load);
      turned_over<Design> t(here.space, items(), options(load));
      for (u64 round = 0; round < rounds(); ++round) {
        t.choose(1 + items() / (round % 2 == 0 ? 10 : 50));
        one_round(t);
        if (this->HasFatalFailure()) return;
        if (round % 10 == 0) t.verify();
        if (round + 10 >= rounds()) t.measure();
      }
      t.verify();
      t.expect_short_lookups();
    }
  }

  ground<turnover_space, turnover_memory> here;
};
TYPED_TEST_SUITE_P(turnover_forms);

// The sweep takes no memory: here there is none.
TYPED_TEST_P(turnover_forms, of_calls_without_memory) {
  this->turn_over([&](auto& t) {
    using key = typename TypeParam::key_type;
    const buffer<key, turnover_space> out(this->here.space, t.out);
    this->here.memory.refuse_after(0);
    u64 gone = 0;
    this->here.memory.guarded([&] { gone = t.tested.erase(this->here.space, out.span()); });
    this->here.memory.guarded(
        [&] { t.tested.erase(this->here.space, out.span()); });  // sweeps, erases nothing
    this->here.memory.refuse_after(faulty::never);
    ASSERT_EQ(gone, t.out.size());
    t.insert(t.in);
  });
}
TYPED_TEST_P(turnover_forms, of_asynchronous_calls) {
  this->turn_over([&](auto& t) {
    using key = typename TypeParam::key_type;
    using value = typename TypeParam::mapped_type;
    auto& space = this->here.space;
    const buffer<key, turnover_space> out(space, t.out), in(space, t.in);
    const buffer<u64, turnover_space> erased(space, 1);
    const buffer<insert_report, turnover_space> report(space, 1);
    t.tested.erase_async(space, out.span(), erased.data());
    if constexpr (std::is_void_v<value>) {
      t.tested.insert_async(space, in.span(), report.data());
    } else {
      const buffer<value, turnover_space> values(space, std::vector<value>(t.in.begin(), t.in.end()));
      t.tested.insert_async(space, in.span(), values.span(), report.data());
    }
    ASSERT_EQ(erased.to_host()[0], t.out.size());
    ASSERT_EQ(report.to_host()[0].inserted, t.in.size());  // no other verb sweeps the table then
  });
}
// A view sweeps nothing. The next verb that changes the table and synchronizes does.
TYPED_TEST_P(turnover_forms, of_views) {
  this->turn_over([&](auto& t) {
    using key = typename TypeParam::key_type;
    auto& space = this->here.space;
    const buffer<key, turnover_space> out(space, t.out), in(space, t.in);
    const auto view = t.tested.mutable_view(space);
    using view_type = std::remove_const_t<decltype(view)>;
    space.for_each(t.out.size(), view_eraser<view_type>{view, out.data()});
    t.tested.erase(space, {});
    space.for_each(t.in.size(), view_inserter<view_type>{view, in.data()});
    t.insert(t.in);  // a view moves no key, and so refuses some
  });
}
REGISTER_TYPED_TEST_SUITE_P(turnover_forms, of_calls_without_memory, of_asynchronous_calls, of_views);

using turnover_designs = all_or_read<
#if TILEHASH_FEW_TYPES  // one of each way to place a key, with slots of three widths
    ::testing::Types<double_hashing<u32, void>, papers::cuckoo<u32, u32>, tiled<u64, u64>>,
#else
    ::testing::Types<linear_probing<u32, u32>, double_hashing<u32, void>, papers::quadratic_probing<u64, u32>,
                     papers::cuckoo<u32, u32>, bucketed_cuckoo<u64, u64>, tiled<u32, u32>, tiled<u64, u64>>,
#endif
    ::testing::Types<double_hashing<u32, void>, tiled<u32, u32>>>;

}  // namespace tilehash::contract

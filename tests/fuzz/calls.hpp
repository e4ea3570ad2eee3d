// SPDX-License-Identifier: Apache-2.0
// Bytes as a sequence of calls on a table, compared with std::unordered_map (contract/model.hpp) after each.
//
//   byte 0  the design          byte 2  threads, growth, kind of keys
//   byte 1  the pair of types   then    options, and call after call until the bytes end
//
// Where an input has no more bytes, all that is drawn is 0.
// length: the calls of one table.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <contract/cpu.hpp>
#include <contract/random_calls.hpp>
#include <fuzz/design_names.hpp>

namespace tilehash::fuzz {

using contract::random_numbers;

// The abilities of a table beyond the subject of the contract.
template <class Key, class Value>
class fuzzed {
 public:
  using value = contract::value_of<Value>;
  using keys = std::vector<Key>;
  using values = std::vector<value>;
  enum class change : u8 { insert, assign, apply, erase };

  virtual ~fuzzed() = default;
  virtual contract::subject<Key, Value>& subject() = 0;

  // Changes by threads of the caller's own, through a view that is kept while it is valid. Gives the outcomes
  // (of an erase: present where it erased, else refused), or nothing where the design has no such views.
  virtual std::optional<std::vector<outcome>> change_by_view(change, const keys&, const values&) = 0;
  virtual void swap_with_clone() = 0;
  // Asks a moved-from table for these keys, and whether it answers as an empty one; then moves back.
  virtual bool is_empty_after_a_move(const keys&) = 0;
  // Lookups whose answers take the places of their keys, and calls whose arrays overlap otherwise, which must
  // be refused. Gives what is wrong, or nothing.
  virtual std::string with_one_array(keys, values) = 0;
  // Operations on the keys; the answers to finds.
  struct applied {
    apply_report report;
    values out;
    std::vector<u8> found;
  };
  virtual std::optional<applied> apply(const std::vector<operation>&, const keys&, const values&) = 0;
  virtual std::optional<insert_report> insert_first(const keys&, const values&) = 0;
  virtual std::optional<outcome> insert_one(const Key&, const value&) = 0;
  virtual std::optional<insert_report> insert_async(const keys&, const values&) = 0;
};

template <class View, class Key, class Value>
struct change_body {
  View view;
  const Key* keys;
  const Value* values;
  outcome* outcomes;
  u32 what;

  void operator()(u64 i) const {
    if constexpr (requires { view.erase(keys[i]); }) {
      if (what == 3) {
        outcomes[i] = view.erase(keys[i]) ? outcome::present : outcome::refused;
        return;
      }
    }
    if constexpr (View::is_set) {
      outcomes[i] = view.insert(keys[i]);
    } else {
      if constexpr (requires { view.insert_or_assign(keys[i], values[i]); }) {
        if (what == 1) return void(outcomes[i] = view.insert_or_assign(keys[i], values[i]));
        if (what == 2)
          return void(outcomes[i] = view.insert_or_apply(keys[i], values[i], contract::sum_of_bytes{}));
      }
      outcomes[i] = view.insert(keys[i], values[i]);
    }
  }
};

template <class Design>
class fuzzed_table final : public contract::table_subject<Design, cpu>,
                           public fuzzed<typename Design::key_type, typename Design::mapped_type> {
  using base = contract::table_subject<Design, cpu>;
  using more = fuzzed<typename Design::key_type, typename Design::mapped_type>;
  using key = typename Design::key_type;
  using value = typename more::value;
  using keys = typename more::keys;
  using values = typename more::values;
  using base::ground_, base::space_, base::table_;
  static constexpr bool is_set = base::table_type::is_set;

 public:
  using base::base;
  contract::subject<key, typename Design::mapped_type>& subject() override { return *this; }

  std::optional<std::vector<outcome>> change_by_view(typename more::change what, const keys& k,
                                                     const values& v) override {
    if constexpr (view_changeable<Design>) {
      if (!steady<Design> && (what == more::change::assign || what == more::change::apply)) return {};
      using view_type = decltype(table_.mutable_view(*space_));
      // A view is valid until the table changes its memory, or its hash function.
      const auto& now = table_.view().design;
      const std::array<u64, 3> state = {reinterpret_cast<u64>(now.slots()), table_.capacity(),
                                        *table_.options().seed};
      if (!view_ || state != viewed_) {
        view_ = std::make_shared<view_type>(table_.mutable_view(*space_));
        viewed_ = {reinterpret_cast<u64>(table_.view().design.slots()), table_.capacity(),
                   *table_.options().seed};
      }
      std::vector<outcome> outcomes(k.size());
      const auto& view = *static_cast<const view_type*>(view_.get());
      space_->for_each(k.size(), change_body<view_type, key, value>{view, k.data(), v.data(), outcomes.data(),
                                                                    static_cast<u32>(what)});
      return outcomes;
    } else {
      return {};
    }
  }
  void swap_with_clone() override {
    auto copy = ground_->memory.guarded([&] { return table_.clone(*space_); });
    std::swap(table_, copy);
    view_ = {};
  }
  bool is_empty_after_a_move(const keys& k) override {
    view_ = {};
    auto taken = std::move(table_);
    bool empty = table_.size() == 0 && table_.empty();
    std::vector<u8> found(k.size());
    table_.contains(*space_, k, found);
    for (u64 i = 0; i < k.size(); ++i) empty = empty && found[i] == 0 && !table_.view().contains(k[i]);
    table_.for_each(*space_, [&](const auto&...) { empty = false; });
    if (!k.empty() && k.size() % 2 == 0) {
      auto copy = table_.clone(*space_);
      copy.clear(*space_);
      empty = empty && copy.size() == 0;
    }
    if (k.size() % 3 == 0) table_.clear(*space_);
    table_ = std::move(taken);
    return empty;
  }
  std::string with_one_array(keys k, values v) override {
    std::string wrong;
    const auto refuses = [&](const char* verb, auto call) {
      try {
        call();
        wrong += std::string(verb) + " takes arrays that overlap; ";
      } catch (const invalid_argument&) {
      }
    };
    const flags over_keys(reinterpret_cast<u8*>(k.data()), k.size());
    if (sizeof(key) > 1) refuses("contains", [&] { table_.contains(*space_, k, over_keys); });
    if constexpr (insertable<Design>) {
      if constexpr (is_set) {
        const std::span outcomes(reinterpret_cast<outcome*>(k.data()), k.size());
        refuses("insert", [&] { std::ignore = table_.insert(*space_, k, outcomes); });
      } else {
        const std::span outcomes(reinterpret_cast<outcome*>(v.data()), v.size());
        refuses("insert", [&] { std::ignore = table_.insert(*space_, k, v, outcomes); });
      }
    }
    if constexpr (std::is_same_v<key, value>) {
      values apart(k.size()), in_place = k;
      table_.find(*space_, k, apart);
      table_.find(*space_, in_place, in_place);
      if (in_place != apart) wrong += "a find into the array of its keys; ";
      if (k.size() > 2) {
        const std::span all(k);
        refuses("find", [&] { table_.find(*space_, all.first(k.size() - 1), all.last(k.size() - 1)); });
      }
    }
    if constexpr (std::is_same_v<key, u32>) {
      std::vector<u32> apart(k.size()), in_place = k;
      table_.count(*space_, k, apart);
      table_.count(*space_, in_place, in_place);
      if (in_place != apart) wrong += "a count into the array of its keys; ";
    }
    return wrong;
  }
  std::optional<typename more::applied> apply(const std::vector<operation>& ops, const keys& k,
                                              const values& v) override {
    if constexpr (requires { table_.apply(*space_, ops, k, v, std::span<value>{}, std::span<bool>{}); }) {
      typename more::applied a{{}, values(k.size()), {}};
      const buffer<bool, cpu> found(*space_, k.size());
      a.report =
          ground_->memory.guarded([&] { return table_.apply(*space_, ops, k, v, a.out, found.span()); });
      a.found = found.to_host();
      return a;
    } else {
      return {};
    }
  }
  std::optional<insert_report> insert_first(const keys& k, const values& v) override {
    if constexpr (requires { table_.insert(*space_, k, v, keep::first); })
      return ground_->memory.guarded([&] { return table_.insert(*space_, k, v, keep::first); });
    else
      return {};
  }
  std::optional<outcome> insert_one(const key& k, const value& v) override {
    if constexpr (!requires(typename base::table_type::engine_type e) { e.insert_one(*space_, k, nullptr); })
      return {};
    else if constexpr (is_set)
      return table_.insert(*space_, k);
    else
      return table_.insert(*space_, k, v);
  }
  std::optional<insert_report> insert_async(const keys& k, const values& v) override {
    if constexpr (!replacing<Design> &&
                  requires(insert_report* r) { table_.insert_async(*space_, k, v, r); }) {
      if (table_.options().grow) return {};
      insert_report report;
      table_.insert_async(*space_, k, v, &report);
      return report;
    } else {
      return {};
    }
  }

 private:
  std::shared_ptr<void> view_;
  std::array<u64, 3> viewed_ = {};  // slots, capacity, seed
};

// ---- the calls ----
template <class Key, class Value>
using fuzzed_maker = std::unique_ptr<fuzzed<Key, Value>> (*)(
    std::unique_ptr<contract::under_test<cpu>::ground_type>, u64, table_options);

template <class Key, class Value>
class play {
  using calls = contract::random_calls<Key, Value>;
  using keys = typename calls::keys;
  using value = contract::value_of<Value>;
  using values = std::vector<value>;
  using change = typename fuzzed<Key, Value>::change;

 public:
  play(random_numbers& bytes, contract::abilities can, fuzzed_maker<Key, Value> make)
      : bytes_(bytes), can_(can), expected_(can) {
    const u64 setup = bytes_.below(256);
    grows_ = (setup & 2) != 0 || !(can_.inserts);
    most_ = (setup & 4) != 0 ? 24 : (setup & 8) != 0 ? 60 : (setup & 16) != 0 ? 300 : 120;
    random_numbers seeded(bytes_.below(256));
    universe_ = calls::any_universe(seeded, most_);
    values_ = contract::any_values<value>(seeded, 64);
    constexpr double loads[] = {0.8, 0.5, 0.9, 0.98, 0.3, 0.05, 0.7, 0.95};
    table_options options{.load_factor = std::min(loads[bytes_.below(8)], can_.highest_load),
                          .seed = (setup & 32) != 0 ? 7 + (setup >> 6) : contract::known_seed,
                          .grow = grows_,
                          .slack = 0.25 * static_cast<double>(setup >> 6)};
    if (bytes_.one_in(4)) options.shrink_below = options.load_factor / 2;
    options.reuse_ids = (setup & 64) != 0;
    const u64 items = bytes_.one_in(2) ? 0 : bytes_.below(most_);
    table_ = make(contract::under_test<cpu>::make(static_cast<int>(setup & 1)), items, options);
  }

  void run() {
    for (u32 step = 0; step < 64 && !bytes_.ended(); ++step) {
      step_once();
      if (subject().size() != expected_.size())
        ADD_FAILURE() << "size() is " << subject().size() << ", not " << expected_.size();
    }
    expected_.verify(subject(), universe_);
  }

 private:
  contract::subject<Key, Value>& subject() { return table_->subject(); }

  void step_once() {
    const u64 choice = bytes_.below(22);
    SCOPED_TRACE("call " + std::to_string(choice));
    const keys k = calls::some(bytes_, universe_, bytes_.one_in(3) ? most_ : 1 + most_ / 8);
    const values v = values_for(k);
    switch (choice) {
      case 0:
      case 1:
        if (can_.inserts || can_.adds) expected_.insert(subject(), k, v, !grows_);
        break;
      case 2:
        if (grows_ && (can_.inserts || can_.adds)) expected_.insert_unnamed(subject(), k, v);
        break;
      case 3:
        if (can_.inserts && can_.maps) expected_.insert_or_assign(subject(), k, v, !grows_);
        break;
      case 4:
        if (can_.inserts && can_.maps) expected_.insert_or_apply(subject(), k, v, !grows_);
        break;
      case 5:
      case 6:
        if (can_.erases) expected_.erase(subject(), k);
        break;
      case 7:
        if (grows_) expected_.build(subject(), k, v);
        break;
      case 8:
        change_capacity();
        break;
      case 9:
        expected_.clear(subject());
        break;
      case 10:
        table_->swap_with_clone();
        break;
      case 11:
        EXPECT_TRUE(table_->is_empty_after_a_move(k)) << "a moved-from table is not empty";
        break;
      case 12:
      case 13:
        by_view(static_cast<change>(bytes_.below(4)), k, v);
        break;
      case 14:
        with_little_memory(k, v);
        break;
      case 15:
        if (!k.empty()) {
          EXPECT_EQ(table_->with_one_array(k, v), "");
        }
        break;
      case 16:
        mixed(k, v);
        break;
      case 17:
        first_of(k, v);
        break;
      case 18:
        one_by_one(k, v);
        break;
      case 19:
        throwing(k, v);
        break;
      default:
        expected_.verify(subject(), k);
    }
    expected_.verify_answers(subject(), k);
  }
  values values_for(const keys& k) {
    values v;
    for (u64 i = 0; i < k.size(); ++i) v.push_back(values_[(i + serial_) % values_.size()]);
    ++serial_;
    return v;
  }
  void change_capacity() {
    if (!can_.reserves) return;
    const u64 n = bytes_.below(1 + 2 * most_), before = subject().capacity();
    switch (bytes_.below(3)) {
      case 0:
        subject().reserve(n);
        EXPECT_GE(subject().capacity(), before) << "reserve() made the table smaller";
        break;
      case 1:
        subject().rehash(n);
        break;
      default:
        subject().shrink_to_fit();
    }
    expected_.verify(subject(), universe_);
  }

  // The model takes reports and outcomes from a table; here they are what a call gave that it does not know.
  void by_view(change what, const keys& k, const values& v) {
    if (!can_.maps && (what == change::assign || what == change::apply)) what = change::insert;
    const auto outcomes = table_->change_by_view(what, k, v);
    if (!outcomes) return;
    if (what == change::erase) {
      u64 gone = 0;
      for (const outcome o : *outcomes) gone += o == outcome::present;
      return expected_.judge_erased(k, gone);
    }
    insert_report report;
    for (const outcome o : *outcomes) {
      report.inserted += o == outcome::inserted;
      report.present += o == outcome::present;
      report.refused += o == outcome::refused;
    }
    if (what == change::insert) expected_.judge_insert(k, v, report, *outcomes, true);
    if (what == change::assign) expected_.judge_assign(subject(), k, v, report, *outcomes, true);
    if (what == change::apply) expected_.judge_apply(k, v, report, *outcomes, true);
  }

  // A call that gets so many allocations and no more. One that throws leaves the table as it was.
  void with_little_memory(const keys& k, const values& v) {
    const u64 allocations = bytes_.below(16), choice = bytes_.below(8);
    auto& table = subject();
    auto after = expected_;
    const u64 capacity = table.capacity();
    bool threw = false;
    table.refuse_memory_after(allocations);
    try {
      if (choice == 0 && can_.inserts) after.insert(table, k, v, true);
      if (choice == 1 && can_.inserts && can_.maps) after.insert_or_assign(table, k, v, true);
      if (choice == 2 && can_.inserts && can_.maps) after.insert_or_apply(table, k, v, true);
      if (choice == 3 && can_.erases) after.erase(table, k);
      if (choice == 4 && can_.reserves) table.reserve(2 * most_);
      if (choice == 5 && can_.reserves) table.rehash(0);
      if (choice == 6 && can_.reserves) table.shrink_to_fit();
      if (choice == 7 && grows_) {
        const auto report = table.build(k, v);
        table.refuse_memory_after(contract::faulty::never);
        after.judge_build(table, k, v, report);
      }
    } catch (const out_of_memory&) {
      threw = true;
    }
    table.refuse_memory_after(contract::faulty::never);
    EXPECT_EQ(table.bytes_allocated(), table.bytes()) << "memory is kept, or given back twice";
    if (threw) {
      EXPECT_EQ(table.capacity(), capacity) << "a call that throws leaves the table as it was";
    } else {
      expected_ = std::move(after);
    }
    expected_.verify(table, universe_);
  }
  // Finds each key, then erases, then inserts, then assigns it.
  void mixed(const keys& k, const values& v) {
    if (!grows_) return;
    std::vector<operation> ops;
    for (u64 i = 0; i < k.size(); ++i) ops.push_back(static_cast<operation>(bytes_.below(4)));
    const auto before = subject().find(k);
    const auto got = table_->apply(ops, k, v);
    if (!got) return;
    u64 found = 0;
    for (u64 i = 0; i < k.size(); ++i) {
      if (ops[i] != operation::find) continue;
      found += before[i].has_value();
      EXPECT_EQ(got->found[i] != 0, before[i].has_value()) << "apply: find";
      EXPECT_TRUE(contract::same_bytes(got->out[i], before[i].value_or(value{}))) << "apply: the value found";
    }
    EXPECT_EQ(got->report.found, found);
    const auto of = [&](operation what) {
      std::pair<keys, values> its;
      for (u64 i = 0; i < k.size(); ++i)
        if (ops[i] == what) its.first.push_back(k[i]), its.second.push_back(v[i]);
      return its;
    };
    expected_.judge_erased(of(operation::erase).first, got->report.erased);
    const auto inserts = of(operation::insert), assigns = of(operation::insert_or_assign);
    expected_.judge_put(subject(), inserts, got->report.inserted, assigns, got->report.assigned);
  }
  void first_of(const keys& k, const values& v) {
    if (!grows_) return;
    keys fresh;
    for (const Key& key : k)
      if (!expected_.has(key)) fresh.push_back(key);
    const auto report = table_->insert_first(k, v);
    if (!report) return;
    expected_.judge_first(subject(), k, v, *report);
  }
  // An op that throws at one of its calls: no key is lost, and the table is valid.
  void throwing(const keys& k, const values& v) {
    if (!can_.inserts || !can_.maps) return;
    contract::fuse = 1 + bytes_.below(2 * k.size() + 1);
    try {
      const auto [report, outcomes] = subject().insert_or_apply(k, v);
      contract::fuse = 0;  // the model adds up, too
      expected_.judge_apply(k, v, report, outcomes, !grows_);
    } catch (const contract::fuse_burnt&) {
      contract::fuse = 0;
      expected_.judge_thrown(subject(), k);
    } catch (const out_of_memory& e) {
      contract::fuse = 0;
      EXPECT_STREQ(e.what(), contract::fuse_burnt::message);
      expected_.judge_thrown(subject(), k);
    }
    expected_.verify(subject(), universe_);
  }
  void one_by_one(const keys& k, const values& v) {
    for (u64 i = 0; i < std::min<u64>(k.size(), 20); ++i) {
      const auto became = table_->insert_one(k[i], v[i]);
      if (!became) return;
      const insert_report report{.inserted = *became == outcome::inserted,
                                 .present = *became == outcome::present,
                                 .refused = *became == outcome::refused};
      expected_.judge_insert({k[i]}, {v[i]}, report, {*became}, !grows_);
    }
    if (const auto report = table_->insert_async({}, {}); report) {
      EXPECT_EQ(*report, insert_report{});
    }
  }

  random_numbers& bytes_;
  contract::abilities can_;
  contract::model<Key, Value> expected_;
  bool grows_ = true;
  u64 most_ = 0, serial_ = 0;
  keys universe_;
  values values_;
  std::unique_ptr<fuzzed<Key, Value>> table_;
};

// ---- designs by number ----
inline constexpr u32 designs = std::size(design_names), most_pairs = 4;

using player = void (*)(random_numbers&);
// By design and pair of types; null where no unit offers it.
inline std::array<std::array<player, most_pairs>, designs>& players() {
  static std::array<std::array<player, most_pairs>, designs> all = {};
  return all;
}

template <class Key, class Value>
void play_on(random_numbers& bytes, const contract::abilities& can, fuzzed_maker<Key, Value> make) {
  play<Key, Value>(bytes, can, make).run();
}

template <class Design>
void play_design(random_numbers& bytes) {
  using key = typename Design::key_type;
  using mapped = typename Design::mapped_type;
  play_on<key, mapped>(bytes, contract::table_subject<Design, cpu>::can,
                       [](auto ground, u64 n, table_options options) -> std::unique_ptr<fuzzed<key, mapped>> {
                         return std::make_unique<fuzzed_table<Design>>(std::move(ground), n, options);
                       });
}

template <class... Designs>  // of one name, by pair of types
bool offer(std::string_view name) {
  static_assert(sizeof...(Designs) <= most_pairs);
  for (u32 i = 0; i < designs; ++i) {
    if (design_names[i] != name) continue;
    u32 pair = 0;
    ((players()[i][pair++] = play_design<Designs>), ...);
    return true;
  }
  throw std::logic_error("a design that design_names does not have");
}

}  // namespace tilehash::fuzz

// SPDX-License-Identifier: Apache-2.0
// The calls, and the tables they are made on.
#pragma once

#include <tilehash/core/atomic.hpp>
#include <tilehash/core/op.hpp>
#include <tilehash/designs/bucketed_cuckoo.hpp>
#include <tilehash/instances/map.hpp>
#include <tilehash/space/buffer.hpp>
#include <tilehash/table.hpp>

#include <chrono>
#include <span>
#include <utility>
#include <vector>

#include "numbered.hpp"
#include "ours/calls.hpp"

namespace tilehash::bench {

struct do_nothing {
  TILEHASH_FN void operator()(u64 /*i*/) const {}
};

struct make_pairs {
  shuffled number;
  u32 *keys, *values;
  TILEHASH_FN void operator()(u64 i) const {
    keys[i] = key_of<u32>(number(i));
    values[i] = value_of<u32>(keys[i]);
  }
};

// Counts the keys whose value is not so many times what it was made as; that of an absent key is
// 0.
struct check_multiples {
  const u32 *keys, *answers;
  u32 times;
  u64* wrong;
  TILEHASH_FN void operator()(u64 i) const {
    if (answers[i] != times * value_of<u32>(keys[i])) detail::fetch_add(wrong, u64(1));
  }
};

// Every call, each with the same items.
template <class Design, class Space>
class call_bench {
  using table_type = table<Design, Space>;
  using items_in = std::span<const u32>;
  using clock = std::chrono::steady_clock;
  using table_ref = table_type&;

  // Does the table have the verbs that do not wait?
  static constexpr bool inserts_async =
      requires(table_ref t, Space& s, items_in in, insert_report* r) { t.insert_async(s, in, in, r); };
  static constexpr bool assigns_async = requires(table_ref t, Space& s, items_in in, insert_report* r) {
    t.insert_or_assign_async(s, in, in, r);
  };
  static constexpr bool applies_async = requires(table_ref t, Space& s, items_in in, insert_report* r) {
    t.insert_or_apply_async(s, in, in, op::sum{}, r);
  };
  static constexpr bool erases_async =
      requires(table_ref t, Space& s, items_in in, u64* n) { t.erase_async(s, in, n); };

 public:
  call_bench(Space& space, const std::string& space_name, const calls_case& the_case, u64 items,
             const tell_call& tell)
      : space_(space),
        case_(the_case),
        tell_(tell),
        blank_{.design = the_case.design, .space = space_name, .items = items},
        keys_(space, items),
        values_(space, items),
        answers_(space, items),
        async_report_(space, 1),
        erased_(space, 1) {}

  // The least that anything costs.
  void call_nothing() {
    const auto call = [&] {
      space_.for_each(items(), do_nothing{});
      space_.synchronize();
    };
    tell_(time({"nothing"}, no_setup, call, all()));
  }

  // On a table that is made for the items and holds none or all of them.
  void call_own_table() {
    make_items_of(shuffled(0, items()));
    table_type t(space_, items()), growing(space_), fixed(space_, items(), {.grow = false});
    call_insert("insert", t, [&] { t.clear(space_); });
    call_insert("insert_growing", growing, [&] { growing = table_type(space_); });
    call_insert("insert_fixed", fixed, [&] { fixed.clear(space_); });
    call_insert_async(fixed, [&] { fixed.clear(space_); });
    const auto build = [&] { report_ = t.build(space_, keys(), given()); };
    measure(t, {"build"}, no_setup, build, inserted());
    blank_.held = items();
    call_with_present_keys(t, fixed, [&](table_type& x) { report_ = x.build(space_, keys(), given()); });
  }

  // On a table that is half full before every call.
  void call_half_full_table() {
    const u64 held = blank_.held = case_.slots / 2;
    const auto capacity = static_cast<u64>(static_cast<double>(case_.slots) * table_options().load_factor);
    buffer<u32, Space> others(space_, held), their_values(space_, held);
    space_.for_each(held, make_pairs{shuffled(0, held), others.data(), their_values.data()});
    const auto fill = [&](table_type& t) {
      t.clear(space_);
      report_ = t.insert(space_, others.span(), their_values.span());
    };
    table_type t(space_, capacity), fixed(space_, capacity, {.grow = false});
    make_items_of(shuffled(held, held));
    call_insert("insert", t, [&] { fill(t); });
    call_insert_async(fixed, [&] { fill(fixed); });
    make_items_of(shuffled(0, held));  // some of those that it holds
    call_with_present_keys(t, fixed, fill);
  }

 private:
  enum class values { as_made, added_up, gone };  // what they are in the end
  struct kind {
    const char* name;
    bool waits = true;
    values after = values::as_made;
  };
  static constexpr auto no_setup = [] {};
  static constexpr unsigned fewest = 5;
  static constexpr double most_seconds = 1;

  u64 items() const { return blank_.items; }
  items_in keys() const { return keys_.span(); }
  items_in given() const { return values_.span(); }
  void make_items_of(const shuffled& number) {
    space_.for_each(items(), make_pairs{number, keys_.data(), values_.data()});
  }

  // How many items a call says it did this with, once its answers are complete.
  auto all() const {
    return [this] { return items(); };
  }
  auto inserted() const {
    return [this] { return report_.inserted; };
  }
  auto present() const {
    return [this] { return report_.present; };
  }
  auto reported_inserted() const {
    return [this] { return read_one(space_, async_report_.data()).inserted; };
  }
  auto reported_present() const {
    return [this] { return read_one(space_, async_report_.data()).present; };
  }
  void forget() {
    async_report_.copy_from(std::vector<insert_report>(1));
    erased_.copy_from(std::vector<u64>(1));
  }

  template <class Setup>
  void call_insert(const char* name, table_type& t, Setup setup) {
    const auto insert = [&] { report_ = t.insert(space_, keys(), given()); };
    measure(t, {name}, setup, insert, inserted());
  }
  template <class Setup>
  void call_insert_async([[maybe_unused]] table_type& t, [[maybe_unused]] Setup setup) {
    if constexpr (inserts_async) {
      const auto insert = [&] { t.insert_async(space_, keys(), given(), async_report_.data()); };
      const auto begin = [&] { setup(), forget(); };
      measure(t, {"insert_async", false}, begin, insert, reported_inserted());
    }
  }

  // fill(table) leaves a table with the items, among others or alone. `fixed` does not grow.
  template <class Fill>
  void call_with_present_keys(table_type& t, table_type& fixed, Fill fill_one) {
    const auto fill = [&] { fill_one(t); };
    fill();
    call_present(t);
    call_present_async(fixed, [&] { fill_one(fixed); });
    u64 gone = 0;
    const auto erase = [&] { gone = t.erase(space_, keys()); };
    measure(t, {"erase", true, values::gone}, fill, erase, [&] { return gone; });
    if constexpr (erases_async) {
      const auto erase_async = [&] { t.erase_async(space_, keys(), erased_.data()); };
      const auto begin = [&] { fill(), forget(); };
      const auto erased = [&] { return read_one(space_, erased_.data()); };
      measure(t, {"erase_async", false, values::gone}, begin, erase_async, erased);
    }
  }
  void call_present(table_type& t) {
    const auto insert = [&] { report_ = t.insert(space_, keys(), given()); };
    const auto find = [&] { t.find(space_, keys(), answers_.span()); };
    const auto find_async = [&] { t.find_async(space_, keys(), answers_.span()); };
    const auto add = [&] { report_ = t.insert_or_apply(space_, keys(), given(), op::sum{}); };
    measure(t, {"insert_present"}, no_setup, insert, present());
    measure(t, {"find"}, no_setup, find, all());
    measure(t, {"find_async", false}, no_setup, find_async, all());
    measure(t, {"insert_or_apply", true, values::added_up}, no_setup, add, present());
  }
  template <class Fill>
  void call_present_async([[maybe_unused]] table_type& t, [[maybe_unused]] Fill fill) {
    const auto begin = [&] { forget(); };
    if constexpr (assigns_async) {
      fill();
      const auto assign = [&] { t.insert_or_assign_async(space_, keys(), given(), async_report_.data()); };
      measure(t, {"insert_or_assign_async", false}, begin, assign, reported_present());
    }
    if constexpr (applies_async) {
      fill();
      const auto add = [&] {
        t.insert_or_apply_async(space_, keys(), given(), op::sum{}, async_report_.data());
      };
      measure(t, {"insert_or_apply_async", false, values::added_up}, begin, add, reported_present());
    }
  }

  // One call over and over, setup() before each, and whether it did what it should: with all items, as
  // done_with() says, and with the values that are then in the table.
  template <class Setup, class Call, class Count>
  void measure(const table_type& t, kind what, Setup setup, Call call, Count done_with) {
    call_row row = time(what, setup, call, done_with);
    const u32 times = what.after == values::gone      ? 0
                      : what.after == values::as_made ? 1
                                                      : 2 + row.repeat;  // as made, once to warm up, and then
    buffer<u64, Space> wrong(space_, 1);
    space_.fill(wrong.data(), 1, u64(0));
    t.find(space_, keys(), answers_.span());
    space_.for_each(items(), check_multiples{keys_.data(), answers_.data(), times, wrong.data()});
    row.wrong += read_one(space_, wrong.data());
    tell_(row);
  }
  template <class Setup, class Call, class Count>
  call_row time(kind what, Setup setup, Call call, Count done_with) {
    const auto since = [](auto start) { return std::chrono::duration<double>(clock::now() - start).count(); };
    call_row row = blank_;
    row.call = what.name;
    row.waits = what.waits;
    std::vector<double> done, returned;
    const auto begin = clock::now();
    for (unsigned i = 0; i <= case_.repeat && (i <= fewest || since(begin) < most_seconds); ++i) {
      setup();
      space_.synchronize();
      const auto start = clock::now();
      call();
      const double back = since(start);
      if (!what.waits) space_.synchronize();
      const double end = what.waits ? back : since(start);
      if (done_with() != items()) ++row.wrong;
      if (i == 0) continue;
      done.push_back(end);
      returned.push_back(back);
    }
    row.repeat = static_cast<unsigned>(done.size());
    row.done = spread(std::move(done));
    row.returned = spread(std::move(returned));
    return row;
  }

  Space& space_;
  const calls_case& case_;
  const tell_call& tell_;
  call_row blank_;
  buffer<u32, Space> keys_, values_, answers_;
  buffer<insert_report, Space> async_report_;
  buffer<u64, Space> erased_;
  insert_report report_;
};

template <class Design, class Space>
void measure_calls(Space& space, const std::string& space_name, const calls_case& the_case,
                   const tell_call& tell) {
  call_bench<Design, Space>(space, space_name, the_case, 1, tell).call_nothing();
  for (const u64 items : the_case.items)
    call_bench<Design, Space>(space, space_name, the_case, items, tell).call_own_table();
  for (const u64 items : the_case.batches)
    call_bench<Design, Space>(space, space_name, the_case, items, tell).call_half_full_table();
}
template <class Space>
void measure_calls(Space& space, const std::string& space_name, const calls_case& the_case,
                   const tell_call& tell) {
  if (the_case.design == "tiled")
    measure_calls<tiled<u32, u32>>(space, space_name, the_case, tell);
  else
    measure_calls<bucketed_cuckoo<u32, u32>>(space, space_name, the_case, tell);
}

}  // namespace tilehash::bench

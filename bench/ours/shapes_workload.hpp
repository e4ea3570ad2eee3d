// SPDX-License-Identifier: Apache-2.0
// Measures the shapes of keys of one width in one space, and checks every answer.
// length: one class, whose members are the verbs of a shape.
#pragma once

#include <tilehash/index.hpp>
#include <tilehash/instances/multimap.hpp>
#include <tilehash/space/buffer.hpp>

#include <ctime>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "ours/shapes.hpp"
#include "ours/shapes_calls.hpp"
#include "ours/shapes_items.hpp"

namespace tilehash::bench {

template <class Key, class Value, class Space>
class shape_bench {
  using enum shape_verb;
  using enum shape_form;
  using enum shape_state;
  template <class T>
  using memory = buffer<T, Space>;
  using map_type = map<Key, Value, Space>;
  using index_type = index<Key, Space>;
  using multimap_type = multimap<Key, Value, Space>;
  using items_type = shape_items<Key, Value, Space>;
  using work = std::function<void()>;
  using call = std::function<void(u64 items)>;  // a call with so many of the items

 public:
  shape_bench(Space& space, const shapes_case& the_case)
      : space_(space), case_(the_case), async_report_(space, 1), wrong_(space, 1), lost_(space, 1) {}

  // Nothing if the table does not have the verb in this form.
  std::optional<shape_row> run(const shape& what) {
    prepare(what);
    shape_row row{
        .what = what, .key_bytes = sizeof(Key), .value_bytes = sizeof(Value), .items = items_->size()};
    const bool done = what.verb == retrieve          ? retrieve_all(row)
                      : what.verb == insert_and_find ? number_keys(row)
                      : what.adds()                  ? change(row)
                      : what.verb == erase           ? remove(row)
                                                     : look_up(row);
    table_.reset();
    return done ? std::optional(row) : std::nullopt;
  }

 private:
  // ---- items and tables ----
  static constexpr u64 last_part = 16;  // of a nearly full table's items, that the call adds

  void prepare(const shape& what) {
    const bool adds_last = what.adds() && what.state == near_full;
    const u64 n = adds_last ? std::max<u64>(case_.items / last_part, 1) : case_.items;
    if (items_ && items_->of() == what.keys && items_->size() == n && adds_last == added_last_) return;
    items_.reset();
    added_last_ = adds_last;
    items_.emplace(space_, what.keys, n, adds_last ? last_part - 1 : 1);
  }
  std::span<const Key> keys(u64 n) const { return items_->keys.first(n); }
  std::span<const Value> values(u64 n) const { return items_->values.first(n); }

  // A table in the state of a shape, whose keys and values from `first` on are so many of all.
  struct contents {
    u64 first, count, made_for;
  };
  contents contents_of(const shape& s) const {
    const u64 own = items_->distinct(), others = items_->all_keys.size() - own;
    contents its{0, 0, own};
    if (s.state == present || (!s.adds() && s.state != empty)) its.count = own;
    if (s.state == half) its.made_for = 2 * own;
    if (s.adds() && (s.state == half || s.state == near_full)) its = {own, others, own + others};
    if (s.form == growing) its.made_for = its.count;
    return its;
  }
  template <class Table>
  Table prepared(shape_row& row) {
    const contents its = contents_of(row.what);
    row.held = its.count;
    const bool async_add = row.what.adds() && row.what.form == async;  // which never grows a table
    table_options options{.grow = row.what.form != fixed && !async_add};
    if (row.what.state == near_full) options.load_factor = 0.95;
    Table made(space_, its.made_for, options);
    insert_report report;
    if constexpr (Table::is_set)
      report = made.insert(space_, items_->all_keys.span().subspan(its.first, its.count));
    else
      report = made.insert(space_, items_->all_keys.span().subspan(its.first, its.count),
                           items_->all_values.span().subspan(its.first, its.count));
    row.wrong += report.inserted != its.count;
    return made;
  }

  // ---- the stopwatch ----
  static constexpr double small_call = 1e-4;  // seconds that any call may take, whatever its items

  // setup() and the call, over and over. First with small parts of the items: a call that two of them predict to
  // be over the limit is not made.
  bool time(shape_row& row, const work& setup, const call& make) {
    const u64 all = row.items;
    const auto seconds_of = [&](u64 n) {
      setup();
      return case_.clock == measured_clock::wall ? space_.time([&] { make(n); })
                                                 : processor_seconds([&] { make(n); });
    };
    // For so many items, from those of two parts: a part of a call that grows a table moves all that it holds.
    u64 before = 0;
    double seconds_before = 0;
    const auto predicted = [&](u64 n, double s) {
      const double an_item = std::max(s - seconds_before, 0.0) / static_cast<double>(n - before);
      return s - small_call + an_item * static_cast<double>(all - n);
    };
    for (const u64 share : {u64(4096), u64(256), u64(16)}) {
      row.items = all / share;
      if (row.items == 0) continue;
      double s = seconds_of(row.items);
      const auto is_over = [&] {
        // The cost of a call without items is not known after the first part.
        return (before == 0 ? s - small_call : predicted(row.items, s)) > case_.limit;
      };
      // The first call of a kernel loads it, and a stall of milliseconds would count for all parts.
      for (unsigned again = 0; again < 3 && is_over(); ++again) s = std::min(s, seconds_of(row.items));
      row.over_limit = is_over();
      row.seconds = spread({s});
      if (row.over_limit) return false;
      before = row.items;
      seconds_before = s;
    }
    row.items = all;
    std::vector<double> seconds;
    for (unsigned i = 0; i < case_.repeat; ++i) seconds.push_back(seconds_of(all));
    row.seconds = spread(std::move(seconds));
    return true;
  }

  template <class Work>
  static double processor_seconds(Work work) {
    const std::clock_t start = std::clock();
    work();
    return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  }

  // ---- verbs that change values ----
  bool change(shape_row& row) {
    const call make = change_of(row.what);
    if (!make) return false;
    const map_type before = prepared<map_type>(row);
    outcomes_ = row.what.form == outcomes ? memory<outcome>(space_, row.items) : memory<outcome>();
    if (!time(
            row, [&] { reset(before); }, make))
      return true;
    check_change(row);
    return true;
  }
  void reset(const map_type& before) {
    table_.emplace(before.clone(space_));
    report_ = {};
    async_report_.copy_from(std::vector<insert_report>(1));
    zero(lost_);
  }
  call change_of(const shape& what) {
    switch (what.verb) {
      case insert:
        return form_of<inserts>(what.form);
      case insert_or_assign:
        return form_of<assigns>(what.form);
      case insert_or_apply:
        return form_of<adds>(what.form);
      case shape_verb::count:
        return form_of<counts>(what.form);
      default:
        return [this](u64 n) { report_ = table_->build(space_, keys(n), values(n)); };
    }
  }
  template <class Verb>
  call form_of(shape_form form) {
    if (form == outcomes)
      return [this](u64 n) {
        report_ = Verb::call(*table_, space_, keys(n), values(n), std::span<outcome>(outcomes_.first(n)));
      };
    if (form == async) return async_of<Verb>();
    if (form == by_thread || form == by_tile) return kernel_of<Verb>(form);
    return [this](u64 n) { report_ = Verb::call(*table_, space_, keys(n), values(n)); };
  }
  template <class Verb>
  call async_of() {
    // (Without members of this class: nvcc's device pass takes them for errors, and makes no kernels then.)
    if constexpr (requires(map_type t, Space& on, std::span<const Key> k, std::span<const Value> v,
                           insert_report* r) { Verb::call_async(t, on, k, v, r); })
      return [this](u64 n) { Verb::call_async(*table_, space_, keys(n), values(n), async_report_.data()); };
    else
      return {};
  }
  template <class Verb>
  call kernel_of(shape_form form) {
    if constexpr (requires(map_type t, Space& on, Key k, Value v) {
                    Verb::one(t.mutable_view(on), solo_tile{}, k, v, true);
                  })
      return [this, form](u64 n) {
        const auto view = table_->mutable_view(space_);
        start(form, n,
              change_by_view<Verb, std::remove_const_t<decltype(view)>, Key, Value>{
                  view, items_->keys.data(), items_->values.data(), lost_.data(), n});
      };
    else
      return {};
  }
  template <class Kernel>
  void start(shape_form form, u64 n, const Kernel& kernel) {
    if constexpr (Space::has_lanes) {
      if (form == by_tile) return space_.for_each_lane(n, kernel);
    }
    space_.for_each(n, kernel);
  }

  void check_change(shape_row& row) {
    const shape& what = row.what;
    const bool by_kernel = what.form == by_thread || what.form == by_tile;
    if (what.form == async) report_ = read_one(space_, async_report_.data());
    row.refused = by_kernel ? read_one(space_, lost_.data()) : report_.refused;
    const bool held = what.state == present;
    if (row.refused == 0) {
      const u64 fresh = held ? 0 : items_->distinct();
      row.wrong += table_->size() != row.held + fresh;
      if (!by_kernel) row.wrong += report_.inserted != fresh || report_.present != row.items - fresh;
    }
    if (what.form == outcomes) row.wrong += outcomes_differ();
    row.wrong +=
        check_values(row, {held, what.verb == insert_or_apply, what.verb == shape_verb::count, false});
  }
  bool outcomes_differ() const {
    insert_report counted;
    for (const outcome o : outcomes_.to_host())
      ++(o == outcome::inserted  ? counted.inserted
         : o == outcome::present ? counted.present
                                 : counted.refused);
    return counted.inserted != report_.inserted || counted.present != report_.present ||
           counted.refused != report_.refused;
  }
  // The values of all keys that the table may hold. Returns how many are wrong.
  u64 check_values(const shape_row& row, const expected_value& expected) {
    const u64 own = items_->distinct();
    const contents its = contents_of(row.what);
    const u64 numbers = std::max(own, its.first + its.count);
    const memory<Value> answers(space_, numbers);
    table_->find_or(space_, items_->all_keys.first(numbers), answers.span(), static_cast<Value>(0));
    zero(wrong_);
    zero(lost_);
    space_.for_each(numbers, check_numbers<Value>{expected, own, items_->times.data(), answers.data(),
                                                  wrong_.data(), lost_.data()});
    const u64 wrong = read_one(space_, wrong_.data()), lost = read_one(space_, lost_.data());
    // An item may be refused although an equal one, of another thread, is placed.
    return row.refused == 0 ? wrong + lost : wrong + lost > row.refused;
  }

  // ---- lookups ----
  bool look_up(shape_row& row) {
    const map_type before = prepared<map_type>(row);
    return row.what.verb == find ? look_up<Value>(row, before) : look_up<bool>(row, before);
  }
  template <class Answer>
  bool look_up(shape_row& row, const map_type& in) {
    const memory<Answer> answers(space_, row.items);
    const call make = lookup_of<Answer>(row.what.form, in, answers);
    if (!make) return false;
    if (!time(
            row, [] {}, make))
      return true;
    zero(wrong_);
    space_.for_each(row.items,
                    check_lookups<Answer>{items_->number, row.held != 0, answers.data(), wrong_.data()});
    row.wrong += read_one(space_, wrong_.data());
    return true;
  }
  template <class Answer>
  call lookup_of(shape_form form, const map_type& in, const memory<Answer>& to) {
    if (form == by_thread || form == by_tile) return lookup_kernel_of<Answer>(form, in, to);
    const bool waits = form == sync;
    return [this, waits, &in, &to](u64 n) {
      if constexpr (std::is_same_v<Answer, bool>)
        waits ? in.contains(space_, keys(n), to.first(n)) : in.contains_async(space_, keys(n), to.first(n));
      else
        waits ? in.find_or(space_, keys(n), to.first(n), static_cast<Value>(0))
              : in.find_or_async(space_, keys(n), to.first(n), static_cast<Value>(0));
    };
  }
  template <class Answer>
  call lookup_kernel_of(shape_form form, const map_type& in, const memory<Answer>& to) {
    using view_type = decltype(in.view());
    using kernel = look_up_by_view<view_type, Key, Answer>;
    constexpr bool has_tiles = requires(view_type v, Key k) { v.find(solo_tile{}, k, true); };
    if (form == by_tile && !has_tiles) return {};
    return [=, this, &in, &to](u64 n) {
      const kernel look_up{in.view(), items_->keys.data(), to.data(), n};
      if constexpr (has_tiles)
        start(form, n, look_up);
      else
        space_.for_each(n, look_up);
    };
  }

  // ---- erase ----
  bool remove(shape_row& row) {
    u64 erased = 0;
    const call make = erase_of(row.what.form, erased);
    if (!make) return false;
    const map_type before = prepared<map_type>(row);
    if (!time(
            row, [&] { reset(before); }, make))
      return true;
    if (row.what.form == async) erased = read_one(space_, lost_.data());
    const bool told = row.what.form == sync || row.what.form == async;
    row.wrong += (told && erased != items_->distinct()) + (table_->size() != 0);
    row.wrong += check_values(row, {true, false, false, true});
    return true;
  }
  call erase_of(shape_form form, u64& erased) {
    if (form == sync) return [this, &erased](u64 n) { erased = table_->erase(space_, keys(n)); };
    if (form == async) {
      if constexpr (requires(map_type t, Space& on, std::span<const Key> k, u64* to) {
                      t.erase_async(on, k, to);
                    })
        return [this](u64 n) { table_->erase_async(space_, keys(n), lost_.data()); };
    } else if constexpr (requires(map_type t, Space& on, Key k) { t.mutable_view(on).erase(k); }) {
      return [this, form](u64 n) {
        const auto view = table_->mutable_view(space_);
        start(form, n, erase_by_view<std::remove_const_t<decltype(view)>, Key>{view, items_->keys.data(), n});
      };
    }
    return {};
  }

  // ---- insert_and_find of an index ----
  bool number_keys(shape_row& row) {
    const index_type before = prepared<index_type>(row);
    std::optional<index_type> in;
    const memory<u32> ids(space_, row.items);
    const auto make = [&](u64 n) { report_ = in->insert_and_find(space_, keys(n), ids.first(n)); };
    if (!time(
            row, [&] { in.emplace(before.clone(space_)); }, make))
      return true;
    row.refused = report_.refused;
    row.wrong += in->size() != row.held + (row.what.state == present ? 0 : items_->distinct());
    zero(wrong_);
    const auto view = std::as_const(*in).view();
    space_.for_each(row.items, check_ids<std::remove_const_t<decltype(view)>, Key>{
                                   view, items_->keys.data(), ids.data(), wrong_.data()});
    row.wrong += read_one(space_, wrong_.data());
    return true;
  }

  // ---- retrieve of a multimap: each key once, all values ----
  bool retrieve_all(shape_row& row) {
    const u64 n = row.items, own = items_->distinct();
    multimap_type in(space_, 0);
    row.wrong += in.build(space_, keys(n), values(n)).inserted != n;
    row.held = n;
    const memory<u64> offsets(space_, own + 1);
    const memory<Value> out(space_, n);
    const auto make = [&](u64 of) {  // so many items' keys, at least one
      const u64 asked = std::max<u64>(own * of / n, 1);
      in.retrieve(space_, items_->all_keys.first(asked), offsets.first(asked + 1), out.span());
    };
    if (!time(
            row, [] {}, make))
      return true;
    zero(wrong_);
    space_.for_each(own, check_counts_of_values{items_->times.data(), offsets.data(), wrong_.data()});
    row.wrong += read_one(space_, wrong_.data());
    if (row.wrong != 0) return true;
    space_.for_each(n, check_values_of_keys<Value>{own, offsets.data(), out.data(), wrong_.data()});
    row.wrong += read_one(space_, wrong_.data());
    return true;
  }

  void zero(memory<u64>& counter) { space_.fill(counter.data(), 1, u64(0)); }

  Space& space_;
  const shapes_case& case_;
  std::optional<items_type> items_;
  bool added_last_ = false;
  std::optional<map_type> table_;
  insert_report report_;
  memory<insert_report> async_report_;
  memory<u64> wrong_, lost_;
  memory<outcome> outcomes_;
};

// The shapes of one width.
template <class Key, class Value, class Space>
void measure_shapes(Space& space, const std::string& space_name, std::span<const shape> shapes,
                    const shapes_case& the_case, shape_width width, const tell_shape& tell) {
  shape_bench<Key, Value, Space> bench(space, the_case);
  for (const shape& what : shapes) {
    if (what.width != width) continue;
    if (auto row = bench.run(what)) {
      row->space = space_name;
      tell(*row);
    }
  }
}

}  // namespace tilehash::bench

// SPDX-License-Identifier: Apache-2.0
// The steps of a table over several ranks (several/distributed.hpp): a change, and a lookup.
//
//   change   send the items, reserve, insert, sum the reports
//   lookup   send the keys, find them, send the answers back
//
// Between two steps all ranks agree to go on (several/agreement.hpp), if the step could fail on one of them.
#pragma once

#include <cmath>
#include <exception>
#include <optional>
#include <span>
#include <tuple>
#include <utility>

#include <tilehash/core/error.hpp>
#include <tilehash/core/options.hpp>
#include <tilehash/core/result.hpp>
#include <tilehash/designs/concepts.hpp>
#include <tilehash/several/frequent.hpp>
#include <tilehash/several/item_traffic.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

template <class Table, class Exchange>
class shared_table {
 public:
  using Space = typename Table::space_type;
  using key_type = typename Table::key_type;
  using value_element = typename Table::value_element;
  using keys_in = typename Table::keys_in;
  using values_in = typename Table::values_in;
  static constexpr bool is_set = Table::is_set;

 protected:
  static constexpr bool combines = insertable<typename Table::design_type>;  // one item a key
  static constexpr u64 shape = sizeof(key_type) | u64(is_set ? 0 : sizeof(value_element)) << 16;

  // Words of a step in addition to the counts; 0 is item_traffic's.
  enum word : u32 { free_slots = 1, items = 1, inserted = 2, refused = 3, restarts = 4, combined = 5 };

  shared_table(Space& space, Exchange& exchange, u64 items, const table_options& options)
      : traffic_(exchange) {
    auto& words = traffic_.words();
    words.begin(shared_verb::made, shape);
    words.attempt([&] {
      table_options own = options;
      if (options.seed) own.seed = *options.seed + traffic_.rank();
      table_.emplace(space, own_part(items, traffic_.ranks()), own);
    });
    traffic_.agree();
  }

  // The items of one rank, of so many: the mean, a shard, and 8 standard deviations.
  static u64 own_part(u64 items, u32 ranks) {
    if (ranks == 1 || items == 0) return items;
    const double mean = static_cast<double>(items) / ranks,
                 shard = static_cast<double>(items) / several::shards;
    return static_cast<u64>(mean + shard + 8 * std::sqrt(mean)) + 1;
  }

  void check_items(const Space& space, keys_in keys, values_in values) const {
    require(is_set || keys.size() == values.size(), "several: keys and values differ in length");
    space.check_pointer(keys, "the keys");
    if (!is_set) space.check_pointer(values, "the values");
  }

  // ---- a change ----

  // How a call treats its frequent keys.
  enum class often : u8 { sends_all, sends_one, combines };

  // The items that a rank sends: its own, or others that it made of them.
  struct sent_items {
    keys_in keys;
    const value_element* values;
    frequent_items<key_type, value_element, Space> frequent;
    locally_combined<Table> combined;
    bool represent_others = false;
  };
  template <class Apply>
  void choose_items(Space& space, keys_in keys, values_in values, often how, const Apply& apply,
                    sent_items& sent) {
    check_items(space, keys, values);
    sent = {};
    sent.keys = keys;
    sent.values = values.data();
    if constexpr (combines) {
      if (how == often::sends_all || !traffic_.template samples<key_type, value_element>()) return;
      sent.frequent = frequent_of_call<key_type, value_element>(space, keys, is_set ? nullptr : values.data(),
                                                                traffic_.ranks(), least_combined_);
      if (sent.frequent.size() == 0) return;
      sent.represent_others = true;
      if (how == often::sends_one) return;
      sent.combined.make(space, keys, values.data(), apply);
      sent.frequent = {};
      sent.keys = sent.combined.keys.span();
      sent.values = sent.combined.values.data();
    }
  }

  // Brings the items to their owners. Through windows as long as they fit; then frequent keys are looked for.
  template <class Apply>
  arrived_items<key_type, value_element, Space> bring(Space& space, keys_in keys, values_in values, often how,
                                                      const Apply& apply, sent_items& sent) {
    traffic_.takes_values(!is_set);
    traffic_.next_call();
    arrived_items<key_type, value_element, Space> in;
    const auto choose = [&] {
      traffic_.words().attempt([&] { choose_items(space, keys, values, how, apply, sent); });
    };
    choose();
    while (traffic_.template pushes<key_type, value_element>()) {
      if (traffic_.push(space, sent.keys, sent.values, sent.frequent, in)) return in;
      choose();
    }
    return traffic_.copy(space, sent.keys, sent.values, sent.frequent, {});
  }
  // Sends the items, and inserts them by apply(table, keys, values) at their owners.
  template <class Apply>
  insert_report change(Space& space, shared_verb verb, keys_in keys, values_in values, often how,
                       const Apply& apply, const std::exception_ptr& failure = nullptr) {
    auto& words = traffic_.words();
    words.begin(verb, shape);
    words.attempt([&] {
      if (failure != nullptr) std::rethrow_exception(failure);
    });
    sent_items sent;
    words.mine(traffic_.extra(free_slots)) = free_now();
    const auto in = bring(space, keys, values, how, apply, sent);
    make_capacity(space, in.keys);
    insert_report report;
    words.attempt([&] { report = apply_in_windows(in.keys, in.values.data(), apply); });
    report.refused += sent.combined.refused;
    return sum(space, report, keys, sent.represent_others, [] {});
  }
  // Sends the items, and replaces each table by the one that make(keys, values, next) puts into `next`.
  template <class Make>
  insert_report replace(Space& space, shared_verb verb, keys_in keys, values_in values, const Make& make) {
    auto& words = traffic_.words();
    words.begin(verb, shape);
    sent_items sent;
    const auto never = [](Table&, keys_in, const value_element*) { return insert_report(); };
    const auto in = bring(space, keys, values, often::sends_one, never, sent);
    insert_report report;
    std::optional<Table> next;
    words.attempt([&] { report = make(in.keys, in.values, next); });
    return sum(space, report, keys, sent.represent_others, [&] { table_ = std::move(next); });
  }

  // Items that the table takes before it grows. A table that never grows needs no capacity.
  u64 free_now() const {
    if constexpr (!Table::can_resize) return ~u64(0);
    if (!table_->options().grow) return ~u64(0);
    const u64 most =
        static_cast<u64>(static_cast<double>(table_->capacity()) * table_->options().load_factor);
    const u64 size = table_->size();
    return most > size ? most - size : 0;
  }
  // A table that may have to grow does so before any table changes. Keys that are present need no slot.
  void make_capacity(Space& space, keys_in arrived) {
    auto& words = traffic_.words();
    bool enough = true;
    for (u32 r = 0; r < traffic_.ranks(); ++r)
      enough = enough && words.sum(r) <= words.of(r, traffic_.extra(free_slots));
    if (enough) return;
    if constexpr (Table::can_resize) {
      words.attempt([&] {
        if (!table_->options().grow || arrived.size() <= free_now()) return;
        u64 absent = arrived.size();
        if (!table_->empty()) {
          const buffer<u8, Space> present(space, arrived.size());
          table_->contains(space, arrived, present.span());
          absent = count_absent(space, present.data(), arrived.size());
        }
        if (absent > free_now()) table_->reserve(space, table_->size() + absent);
      });
    }
    traffic_.agree();
  }
  // Other ranks' tables may have changed, so lack of memory ends no call here: fewer items need less. As in
  // one table, items that need more memory are refused.
  template <class Apply>
  insert_report apply_in_windows(keys_in keys, const value_element* values, const Apply& apply) {
    constexpr u64 least = 32;
    insert_report all;
    u64 window = keys.size(), first = 0;
    do {
      const u64 n = window < keys.size() - first ? window : keys.size() - first;
      try {
        const insert_report part = apply(*table_, keys.subspan(first, n), values + (is_set ? 0 : first));
        all.inserted += part.inserted;
        all.present += part.present;
        all.refused += part.refused;
        all.restarts += part.restarts;
        first += n;
      } catch (const out_of_memory&) {
        if (window > least) {
          window = window / 2 > least ? window / 2 : least;
        } else {
          all.refused += n;
          first += n;
        }
      }
    } while (first < keys.size());
    return all;
  }

  // The sums of all ranks' reports, after commit(), which cannot fail. A refused item of combined ones represents
  // several: all items whose keys are absent now were refused.
  template <class Commit>
  insert_report sum(Space& space, const insert_report& own, keys_in keys, bool is_combined,
                    const Commit& commit) {
    auto& words = traffic_.words();
    words.mine(traffic_.extra(items)) = keys.size();
    words.mine(traffic_.extra(inserted)) = own.inserted;
    words.mine(traffic_.extra(refused)) = own.refused;
    words.mine(traffic_.extra(restarts)) = own.restarts;
    words.mine(traffic_.extra(combined)) = is_combined;
    traffic_.agree();
    commit();
    insert_report all;
    const u64 given = words.sum(traffic_.extra(items));
    all.inserted = words.sum(traffic_.extra(inserted));
    all.refused = words.sum(traffic_.extra(refused));
    all.restarts = words.sum(traffic_.extra(restarts));
    if (all.refused != 0 && words.sum(traffic_.extra(combined)) != 0)
      all.refused = absent_now(space, keys, all.refused);
    all.present = given - all.inserted - all.refused;
    return all;
  }
  // The items whose keys are absent. Without memory to find them, the table having changed: `at_least`.
  u64 absent_now(Space& space, keys_in keys, u64 at_least) {
    try {
      return count_absent_items(space, keys);
    } catch (const out_of_memory&) {
      if (!traffic_.words().failed_together()) throw;
      return at_least;
    }
  }
  u64 count_absent_items(Space& space, keys_in keys) {
    buffer<u8, Space> present;
    ask(
        space, shared_verb::contains, keys, [&] { present = buffer<u8, Space>(space, keys.size()); },
        [&](keys_in arrived, u8* to) { table_->contains(space, arrived, flags(to, arrived.size())); },
        [&] { return present.data(); });
    auto& words = traffic_.words();
    words.attempt(
        [&] { words.mine(traffic_.extra(refused)) = count_absent(space, present.data(), keys.size()); });
    traffic_.agree();
    return words.sum(traffic_.extra(refused));
  }

  // ---- a lookup ----

  // Sends the keys; look_up(keys, answers ...) writes a column for each of out() ..., which return where the
  // answers go, or null. check() runs first.
  template <class Check, class LookUp, class... Out>
  void ask(Space& space, shared_verb verb, keys_in keys, const Check& check, const LookUp& look_up,
           const Out&... out) {
    auto& words = traffic_.words();
    words.begin(verb, shape | u64(sizeof...(Out)) << 32);
    words.attempt([&] {
      space.check_pointer(keys, "the keys");
      check();
    });
    frequent_items<key_type, value_element, Space> frequent;
    const auto choose = [&] {
      if (traffic_.template samples<key_type, value_element>())
        words.attempt([&] {
          frequent = frequent_of_call<key_type, value_element>(space, keys, nullptr, traffic_.ranks(),
                                                               least_combined_);
        });
    };
    traffic_.takes_values(false);
    traffic_.next_call();
    const u32 sizes[] = {u32(sizeof(*out()))...};
    choose();
    while (traffic_.template pushes<key_type, value_element>()) {
      if (ask_by_windows(space, keys, frequent, sizes, look_up, out...)) return;
      choose();
    }
    auto in = traffic_.template copy<key_type, value_element>(space, keys, nullptr, frequent, sizes);
    words.attempt([&] {
      columns here = in.answers_here;
      look_up_at(in.keys, look_up, here, out()...);
      space.synchronize();
    });
    traffic_.agree();
    (take_back(space, in, keys.size(), out()), ...);
    space.synchronize();
  }
  // Through windows: the owners write answers to the window of the rank that asked. They look up whole parts, so
  // no rank waits for counts; the keys after those that were sent may be any. Returns false on all ranks if the
  // keys of one of them did not fit.
  template <class LookUp, class... Out>
  bool ask_by_windows(Space& space, keys_in keys,
                      const frequent_items<key_type, value_element, Space>& frequent,
                      std::span<const u32> sizes, const LookUp& look_up, const Out&... out) {
    if constexpr (windowed<Exchange>) {
      auto& words = traffic_.words();
      auto& windows = traffic_.windows();
      const u32 key_size = sizeof(key_type), me = traffic_.rank(), ranks = traffic_.ranks();
      if (!windows.open(space, words, keys.size() + frequent.size(), std::span(&key_size, 1), sizes)) {
        traffic_.avoid_windows();
        return false;
      }
      words.attempt([&] {
        windows.template push<key_type, value_element>(space, keys, nullptr, false, frequent, true);
      });
      traffic_.exchange().fence();
      words.attempt([&] {
        for (u32 k = 0; k < ranks; ++k) look_up_part(windows, (me + k) % ranks, look_up, out()...);
      });
      traffic_.exchange().fence();
      std::vector<u64> sent(ranks, 0);
      words.attempt([&] {
        columns answers = windows.answers_of(me);
        (return_part(space, answers, windows.positions(), keys.size(), out()), ...);
        sent = windows.counts(space);
      });
      for (u32 r = 0; r < ranks; ++r) words.mine(r) = sent[r];
      traffic_.agree();
      if (windows.all_fit(words)) return true;
      traffic_.overflowed();
    }
    return false;
  }
  template <class Windows, class LookUp, class... T>
  void look_up_part(const Windows& windows, u32 asking, const LookUp& look_up, T*... /*out*/) {
    const u32 me = traffic_.rank();
    columns here = windows.items_of(me), there = windows.answers_of(asking);
    const keys_in arrived(here.template next<key_type>() + windows.parts().first_item(asking, me),
                          windows.parts().capacity(asking, me));
    const u64 first = windows.parts().first_answer(me, asking);
    const std::tuple<T*...> to{(there.template next<T>() + first)...};
    std::apply([&](T*... column) { look_up(arrived, column...); }, to);
  }
  template <class T>
  static void return_part(Space& space, columns& answers, const u32* positions, u64 n, T* out) {
    const T* const from = answers.next<T>();
    if (out != nullptr) space.for_each(n, return_answers<T>{from, positions, n, out});
  }
  // (The columns are in the order of the arguments.)
  template <class LookUp, class... T>
  static void look_up_at(keys_in arrived, const LookUp& look_up, columns& here, T*... /*out*/) {
    const std::tuple<T*...> to{here.next<T>()...};
    std::apply([&](T*... column) { look_up(arrived, column...); }, to);
  }
  template <class Items, class T>
  void take_back(Space& space, Items& in, u64 n, T* out) {
    const T* const answers = traffic_.template send_back<T>(in);
    if (out != nullptr) space.for_each(n, return_answers<T>{answers, in.positions.data(), n, out});
  }

  item_traffic<Space, Exchange> traffic_;
  std::optional<Table> table_;
  u64 least_combined_ = tuning::of<Space>::least_to_partition;
};

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash

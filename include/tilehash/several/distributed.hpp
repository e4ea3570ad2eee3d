// SPDX-License-Identifier: Apache-2.0
// distributed<Table, Exchange>: one table over several ranks.
//
//   items -> owners' order -> all_to_all -> each owner's own table -> answers back -> the caller's order
//
// Each rank has an ordinary table with the keys of its shards (several/shards.hpp), and with a seed of its own.
// It grows alone.
#pragma once

#include <concepts>
#include <exception>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include <tilehash/core/arrays.hpp>
#include <tilehash/core/op.hpp>
#include <tilehash/kernel/lift.hpp>
#include <tilehash/several/exchange.hpp>
#include <tilehash/several/retrieval.hpp>
#include <tilehash/several/saving.hpp>
#include <tilehash/several/shared_table.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace several {

/// A hash table over the ranks of an exchange: an ordinary table on each rank.
///
/// These rules hold for all verbs.
///
/// Collective. All ranks make the same calls in the same order. A rank without items passes empty arrays.
/// Results are in the order of the rank's own arrays. Reports are sums over all ranks.
///
/// Space. Arrays and tables of a rank are in the memory of its space. A rank brings at most 2^32 - 2 items to a
/// call.
///
/// Errors. If a rank throws before its table has changed, all ranks throw. That rank throws its own exception,
/// and the others one of the same kind that names the rank. All tables are then unchanged (strong). Once a table
/// has changed, items that need more memory are refused. (Without memory to count them, refused items with one
/// frequent key count once.) An op that throws leaves the items of other ranks in
/// place (basic). If a rank ends or does not answer, the exchange throws error on the others. Neither it nor
/// the table can be used then.
///
/// Memory. A copy of the rank's items in the order of the owners, and the items received; both are kept until
/// release(). Temporary memory: 4 bytes a key for answers. An associative op of many items with frequent keys takes
/// a local table of all keys.
///
/// Complexity. That of the table's verb for the items that the rank receives, and O(items) to route and send.
///
/// Synchronization. Every collective verb synchronizes with the host, and waits for all ranks.
///
/// Concurrency. Exclusive, also lookups.
template <class Table, exchange Exchange>
class distributed : public detail::shared_table<Table, Exchange> {
  using base = detail::shared_table<Table, Exchange>;
  using verb = detail::shared_verb;

 public:
  using table_type = Table;
  using base::is_set;
  using typename base::key_type, typename base::keys_in, typename base::Space, typename base::value_element,
      typename base::values_in;

  /// Makes an empty table on each rank. Collective.
  ///
  /// \param space of this rank; it must outlive the table.
  /// \param exchange of this rank; it must outlive the table.
  /// \param items to size all tables for, together.
  /// \param options of each rank's table. A given seed differs by rank.
  /// \throws invalid_argument, out_of_memory (strong).
  /// \complexity O(capacity of the rank's table).
  /// \memory none.
  /// \synchronizes no; waits for all ranks.
  /// \concurrency no other call on the exchange.
  distributed(Space& space, Exchange& exchange, u64 items = 0, const table_options& options = {})
      : base(space, exchange, items, options) {}

  // ---- of this rank alone: not collective ----

  /// Returns this rank's table, with the keys that it owns. for_each(), retrieve_all() and views are those of
  /// the ranks' tables. A key of another rank that is inserted here cannot be found. O(1).
  Table& local() { return *this->table_; }
  /// \overload
  const Table& local() const { return *this->table_; }
  /// Returns the rank that owns a key. O(1).
  u32 owner(const key_type& key) const { return rank_of(shard_of(key), this->traffic_.ranks()); }
  /// Returns the bytes that are kept for items on their way, in addition to the table's own.
  u64 kept_bytes() const { return this->traffic_.bytes(); }
  /// Frees that memory; the next call allocates it again.
  void release() { this->traffic_.release(); }
  /// Sets the number of items of a call from which frequent keys are combined before they are sent.
  void combine_from(u64 items) { this->least_combined_ = items; }

  // ---- collective ----

  /// Returns the number of items on all ranks.
  u64 size() {
    auto& words = this->traffic_.words();
    words.begin(verb::size, base::shape);
    words.attempt([&] { words.mine(this->traffic_.extra(base::items)) = local().size(); });
    this->traffic_.agree();
    return words.sum(this->traffic_.extra(base::items));
  }

  /// Replaces the contents by these items. See table::build(). Takes the memory of the new tables before the
  /// old ones are freed.
  insert_report build(Space& space, keys_in keys, values_in values)
    requires(!is_set)
  {
    return rebuilt(space, keys, values);
  }
  /// \overload
  insert_report build(Space& space, keys_in keys)
    requires is_set
  {
    return rebuilt(space, keys, {});
  }
  /// Inserts the items whose keys are absent. See table::insert().
  insert_report insert(Space& space, keys_in keys, values_in values)
    requires(base::combines && !is_set)
  {
    return this->change(space, verb::insert, keys, values, base::often::sends_one,
                        [&](Table& t, keys_in k, const value_element* v) {
                          return t.insert(space, k, values_in(v, k.size()));
                        });
  }
  /// \overload
  insert_report insert(Space& space, keys_in keys)
    requires(base::combines && is_set)
  {
    return this->change(space, verb::insert, keys, {}, base::often::sends_one,
                        [&](Table& t, keys_in k, const value_element*) { return t.insert(space, k); });
  }
  /// Adds the items to those in the table, in designs that keep duplicates. See table::insert(). In addition
  /// to the memory of that, takes a copy of the table.
  insert_report insert(Space& space, keys_in keys, values_in values)
    requires(Table::adds_items && !is_set)
  {
    return this->replace(space, verb::insert, keys, values,
                         [&](keys_in k, values_in v, std::optional<Table>& next) {
                           next.emplace(local().clone(space));
                           return next->insert(space, k, v);
                         });
  }
  /// Inserts items; the value of a present key becomes the given one. See table::insert_or_assign().
  insert_report insert_or_assign(Space& space, keys_in keys, values_in values)
    requires(base::combines && !is_set)
  {
    return this->change(space, verb::assign, keys, values, base::often::sends_one,
                        [&](Table& t, keys_in k, const value_element* v) {
                          return t.insert_or_assign(space, k, values_in(v, k.size()));
                        });
  }
  /// Inserts items; the value of a present key becomes op(stored, given). See table::insert_or_apply(). An
  /// associative op combines frequent keys before they are sent.
  template <combines<value_element> Op>
  insert_report insert_or_apply(Space& space, keys_in keys, values_in values, Op op)
    requires(base::combines && !is_set && !lifts<Op, value_element>)
  {
    return this->change(space, verb::apply, keys, values, associative<Op>,
                        [&](Table& t, keys_in k, const value_element* v) {
                          return t.insert_or_apply(space, k, values_in(v, k.size()), op);
                        });
  }
  /// As insert_or_apply(), for an op whose arguments are not values, as op::mean.
  template <lifts<value_element> Op>
  insert_report insert_or_apply(Space& space, keys_in keys,
                                std::span<const given_to<Op, value_element>> given, Op op)
    requires(base::combines && !is_set)
  {
    return lifted(space, keys, given.data(), given.size(), op);
  }
  /// As insert_or_apply(), for an op that takes keys alone: op::count.
  template <lifts<value_element> Op>
    requires std::same_as<given_to<Op, value_element>, nothing>
  insert_report insert_or_apply(Space& space, keys_in keys, Op op)
    requires(base::combines && !is_set)
  {
    const nothing* const none = nullptr;
    return lifted(space, keys, none, keys.size(), op);
  }
  /// Erases keys. See table::erase().
  ///
  /// \return how many items were erased on all ranks.
  u64 erase(Space& space, keys_in keys)
    requires requires(Table t) { t.erase(space, keys); }
  {
    auto& traffic = this->traffic_;
    auto& words = traffic.words();
    words.begin(verb::erase, base::shape);
    words.attempt([&] { space.check_pointer(keys, "erase: the keys"); });
    traffic.takes_values(false);
    const auto in = traffic.template send<key_type, value_element>(space, keys, nullptr);
    words.attempt([&] { words.mine(traffic.extra(base::items)) = local().erase(space, in.keys); });
    traffic.agree();
    return words.sum(traffic.extra(base::items));
  }

  /// Finds the values of keys. See table::find().
  void find(Space& space, keys_in keys, std::span<value_element> out, flags found = {})
    requires(!is_set)
  {
    this->ask(
        space, verb::find, keys,
        [&] {
          detail::require(out.size() == keys.size() && (found.empty() || found.size() == keys.size()),
                          "find: keys, values and flags differ in length");
          space.check_pointer(out, "find: the results");
        },
        [&](keys_in arrived, value_element* values, u8* present) {
          local().find(space, arrived, {values, arrived.size()}, flags(present, arrived.size()));
        },
        [&] { return out.data(); }, [&] { return found.data(); });
  }
  /// Finds the values of keys, with a value of the caller's choice for absent keys. Sends no flags, so it is
  /// faster than find(). See table::find_or().
  void find_or(Space& space, keys_in keys, std::span<value_element> out, value_element missing)
    requires(!is_set)
  {
    this->ask(
        space, verb::find, keys,
        [&] {
          detail::require(out.size() == keys.size(), "find_or: keys and values differ in length");
          space.check_pointer(out, "find_or: the results");
        },
        [&](keys_in arrived, value_element* values) {
          local().find_or(space, arrived, {values, arrived.size()}, missing);
        },
        [&] { return out.data(); });
  }
  /// Tests which keys are present. See table::contains().
  void contains(Space& space, keys_in keys, flags out) {
    this->ask(
        space, verb::contains, keys,
        [&] { detail::require(out.size() == keys.size(), "contains: keys and flags differ in length"); },
        [&](keys_in arrived, u8* present) {
          local().contains(space, arrived, flags(present, arrived.size()));
        },
        [&] { return out.data(); });
  }
  /// Counts the items of keys. See table::count().
  void count(Space& space, keys_in keys, std::span<u32> out) {
    this->ask(
        space, verb::count, keys,
        [&] { detail::require(out.size() == keys.size(), "count: keys and counts differ in length"); },
        [&](keys_in arrived, u32* counts) {
          local().count(space, arrived, {counts, arrived.size()});
        },
        [&] { return out.data(); });
  }
  /// Finds all values of keys, in a multimap. See verbs::of_multi::retrieve(). The values of keys[i] are
  /// values[offsets[i]] ... values[offsets[i + 1] - 1].
  [[nodiscard]] auto retrieve(Space& space, keys_in keys)
    requires requires(const Table t) { t.retrieve(space, keys); }
  {
    return detail::retrieve_from_owners(space, this->traffic_, local(), keys, base::shape);
  }

  /// Saves all items to a folder that all ranks can reach. Any number of ranks can load them. The folder has one save:
  /// if a call throws, the earlier save is unchanged.
  ///
  /// \param space of this rank.
  /// \param folder of this table alone; it is made if it does not exist.
  /// \throws error where the system cannot write; out_of_memory (strong).
  /// \complexity O(capacity of the rank's table).
  /// \memory a copy of the rank's items in memory of the space, and two in host memory.
  void save(Space& space, const std::string& folder) {
    detail::save_table(space, this->traffic_, local(), base::shape, folder);
  }
  /// Replaces the contents by saved items. Each rank reads the items of its shards.
  ///
  /// \param space of this rank.
  /// \param folder of save(), from this number of ranks or another one.
  /// \throws error where the system cannot read or a file is damaged; invalid_argument for items of other sizes;
  /// out_of_memory (strong).
  /// \complexity O(items of the rank).
  /// \memory two copies of the rank's items in host memory and one in memory of the space, and the new table.
  insert_report load(Space& space, const std::string& folder) {
    auto& words = this->traffic_.words();
    words.begin(verb::load, base::shape);
    buffer<key_type, Space> keys;
    insert_report report;
    std::optional<Table> next;
    words.attempt([&] {
      const detail::loaded_items<key_type, value_element> items(folder, base::shape, this->traffic_.rank(),
                                                                this->traffic_.ranks(), is_set);
      keys = buffer<key_type, Space>(space, std::span<const key_type>(items.keys));
      next.emplace(space, 0, local().options());
      if constexpr (is_set) {
        report = next->build(space, keys.span());
      } else {
        const values_in host(reinterpret_cast<const value_element*>(items.values.data()),
                             items.values.size());
        const buffer<value_element, Space> values(space, host);
        report = next->build(space, keys.span(), values.span());
      }
    });
    return this->sum(space, report, keys.span(), false, [&] { this->table_ = std::move(next); });
  }

 private:
  template <class Op>
  static constexpr auto associative =
      requires { requires Op::is_associative; } ? base::often::combines : base::often::sends_all;

  insert_report rebuilt(Space& space, keys_in keys, values_in values) {
    return this->replace(space, verb::build, keys, values,
                         [&](keys_in k, values_in v, std::optional<Table>& next) {
                           next.emplace(space, 0, local().options());
                           if constexpr (is_set)
                             return next->build(space, k);
                           else
                             return next->build(space, k, v);
                         });
  }
  template <class Given, class Op>
  insert_report lifted(Space& space, keys_in keys, const Given* given, u64 n, const Op& op) {
    buffer<value_element, Space> values;
    std::exception_ptr failure;
    try {
      detail::require(n == keys.size(), "insert_or_apply: keys and values differ in length");
      values = detail::lift<value_element, Op>(space, given, n);
    } catch (...) {
      failure = std::current_exception();
    }
    const detail::lifted_op<Op> combine{op};
    return this->change(
        space, verb::apply, keys, values.span(), associative<Op>,
        [&](Table& t, keys_in k, const value_element* v) {
          return t.insert_or_apply(space, k, values_in(v, k.size()), combine);
        },
        failure);
  }
};

}  // namespace several
TILEHASH_END_ABI_NAMESPACE
TILEHASH_PUBLIC_NAMESPACE(several);
}  // namespace tilehash

// SPDX-License-Identifier: Apache-2.0
// The verbs that change values, erase keys, or do both in one call.
#pragma once

#include <span>
#include <utility>

#include <tilehash/core/op.hpp>
#include <tilehash/kernel/entries.hpp>
#include <tilehash/kernel/lift.hpp>
#include <tilehash/kernel/mixed.hpp>
#include <tilehash/table/inserts.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace verbs {

/// insert_or_assign, insert_or_apply, erase, apply.
template <class Design, class Space>
class updates : public inserts<Design, Space> {
  using base = inserts<Design, Space>;
  using misuse = detail::misuse<Design, Space>;

 public:
  using base::insert, base::is_set;
  using misuse::erase, misuse::insert_or_apply, misuse::insert_or_assign;
  using typename base::engine_type, typename base::keys_in, typename base::value_element,
      typename base::values_in;

  /// Inserts items; the value of a present key becomes the given one. Any one of equal keys in a call wins.
  ///
  /// \param space of the table's device.
  /// \param keys n keys.
  /// \param values n values.
  /// \param outcomes n results, one for each item, or none; as of insert().
  /// \return how many items were inserted, present and refused; all but one of equal keys are present.
  /// \throws as insert() (strong).
  /// \complexity O(n) expected.
  /// \memory as insert_or_apply().
  /// \synchronizes yes.
  /// \concurrency exclusive.
  insert_report insert_or_assign(Space& space, keys_in keys, values_in values,
                                 std::span<outcome> outcomes = {})
    requires(insertable<Design> && !is_set)
  {
    return insert_or_apply(space, keys, values, op::assign{}, outcomes);
  }
  /// Inserts items; the value of a present key becomes op(stored, given).
  ///
  /// Every item that is not refused counts exactly once, in no given order.
  /// \param space of the table's device.
  /// \param keys n keys.
  /// \param values n values.
  /// \param op one of `op::` (core/op.hpp) or a callable; on a GPU a `__device__` functor.
  /// \param outcomes n results, one for each item, or none; as of insert().
  /// \return how many items were inserted, present and refused; all but one of equal keys are present.
  /// \throws as insert() (strong). On a CPU, also what op throws (basic): all keys stay, each item counts
  /// once or not at all, and `outcomes` has no results.
  /// \complexity O(n) expected.
  /// \memory as insert(). An associative op of many items combines equal keys first, on a CPU any op does. This
  /// takes 2.6 times the items' bytes, on a CPU at most 3 times, if those are free. On a GPU, items of many keys take
  /// 1.2 times their bytes in an empty map of 4 + 4 bytes.
  /// On a GPU, another op of 2^14 items or more takes the items' bytes, if some keys are frequent and those bytes
  /// are free. `indexed` on a GPU: 4 bytes an item, and 20 more for each whose record other items change at once.
  /// \synchronizes yes.
  /// \concurrency exclusive.
  template <combines<value_element> Op>
  insert_report insert_or_apply(Space& space, keys_in keys, values_in values, Op op,
                                std::span<outcome> outcomes = {})
    requires(insertable<Design> && !is_set && !lifts<Op, value_element>)
  {
    check_items(space, keys, values, "insert_or_apply: keys and values differ in length");
    return combine(space, keys, values.data(), outcomes, op);
  }
  /// As insert_or_apply(), for an op whose arguments are not values: op::mean takes numbers, in a table of
  /// mean_of<T>.
  ///
  /// \param given n elements.
  /// \memory in addition n values; on a CPU, none if equal keys are combined first.
  template <lifts<value_element> Op>
  insert_report insert_or_apply(Space& space, keys_in keys,
                                std::span<const given_to<Op, value_element>> given, Op op,
                                std::span<outcome> outcomes = {})
    requires(insertable<Design> && !is_set)
  {
    detail::require(keys.size() == given.size(), "insert_or_apply: keys and values differ in length");
    check(space, given, "insert_or_apply: the values");
    return combine_lifted(space, keys, given.data(), outcomes, op);
  }
  /// As insert_or_apply(), for an op that takes keys alone: op::count.
  ///
  /// \memory in addition n values; on a CPU, none if equal keys are combined first.
  template <lifts<value_element> Op>
    requires std::same_as<given_to<Op, value_element>, nothing>
  /// \overload
  insert_report insert_or_apply(Space& space, keys_in keys, Op op, std::span<outcome> outcomes = {})
    requires(insertable<Design> && !is_set)
  {
    const nothing* const none = nullptr;
    return combine_lifted(space, keys, none, outcomes, op);
  }
  /// As insert_or_assign(), but does not synchronize; see insert_async().
  ///
  /// \memory on a GPU, for an eighth of the capacity or more: the items' bytes.
  void insert_or_assign_async(Space& space, keys_in keys, values_in values, insert_report* report)
    requires(misuse::never_rebuilds && !is_set)
  {
    insert_or_apply_async(space, keys, values, op::assign{}, report);
  }
  /// As insert_or_apply(), but does not synchronize; see insert_async().
  ///
  /// \memory on a GPU, for an associative op and millions of items, or 8 items a slot: the items' bytes, where
  /// those are free. Equal keys are then combined first, if a sample has many.
  /// \throws on a CPU, what op throws (basic); *report is then not written.
  template <combines<value_element> Op>
  void insert_or_apply_async(Space& space, keys_in keys, values_in values, Op op, insert_report* report)
    requires(misuse::never_rebuilds && !is_set && !lifts<Op, value_element>)
  {
    check_items(space, keys, values, "insert_or_apply_async: keys and values differ in length");
    insert_checked_async(space, keys, values.data(), report, detail::apply<Op>{op});
  }

  /// Erases keys.
  ///
  /// \param space of the table's device.
  /// \param keys n keys.
  /// \return how many items were erased; of equal keys in one call one counts.
  /// \throws invalid_argument, out_of_memory (strong).
  /// \complexity O(n) expected, over many calls. Erases leave marks that make later lookups longer. After many
  /// erases the next verb that changes the table first removes them, in O(capacity()) and without memory.
  /// \memory none. `indexed`: up to 12 bytes a key. `dynamic_hash_graph`, which erases all items of a key: a
  /// bit for each entry and row. `horton`, of many keys: up to 1/4 of the table's bytes, if those are free.
  /// \synchronizes once; `horton`, of many keys, once for each part of them.
  /// \concurrency exclusive.
  u64 erase(Space& space, keys_in keys)
    requires erasable<Design>
  {
    check(space, keys, "erase: the keys");
    [[maybe_unused]] const auto call = changing(space, "erase");
    return awake(space).erase(home(space), keys.data(), keys.size());
  }
  /// As erase(), but does not synchronize.
  ///
  /// The table, the keys and the space must stay until the work is done.
  /// \param erased one element in the memory of the space, which is written when the work is done.
  void erase_async(Space& space, keys_in keys, u64* erased)
    requires erases_in_place<Design>
  {
    check(space, keys, "erase_async: the keys");
    check(space, std::span(erased, 1), "erase_async: the result");
    detail::require_apart(std::span(erased, 1), keys, "erase_async", "the result", "the keys");
    [[maybe_unused]] const auto call = changing(space, "erase_async");
    with_memory(space).erase_async(home(space), keys.data(), keys.size(), erased);
  }

  /// Runs ops[i] on keys[i]: finds, erases, inserts and insert_or_assigns in one call.
  ///
  /// Operations on different keys are independent. The order of those on one key is finds, erases, inserts,
  /// insert_or_assigns, independent of their positions in the arrays. Any one of several inserts wins, and any
  /// one of several insert_or_assigns. An invalid operation is ignored.
  /// \param space of the table's device.
  /// \param ops n operations.
  /// \param keys n keys.
  /// \param values n values for inserts and insert_or_assigns; none if there are only other operations.
  /// \param out n values; those of finds are written (Value{} where the key is absent), and no others. None
  /// if there are no finds.
  /// \param found as many flags as `out`, written as `out` is. `out` and `found` may overlap operations, keys
  /// and values, which are copied first; they must not overlap each other.
  /// \return the numbers of results of each kind of operation.
  /// \throws invalid_argument, and out_of_memory while the table has not changed (strong). Later, items that
  /// need more memory are refused.
  /// \complexity O(n) expected.
  /// \memory 8 bytes an operation and a copy of its key and value, in addition to that of each verb.
  /// \synchronizes yes.
  /// \concurrency exclusive.
  apply_report apply(Space& space, std::span<const operation> ops, keys_in keys, values_in values,
                     std::span<value_element> out, std::span<bool> found)
    requires(insertable<Design> && erasable<Design> && !is_set)
  {
    detail::require(ops.size() == keys.size() && (values.empty() || values.size() == ops.size()) &&
                        (out.empty() || out.size() == ops.size()) && out.size() == found.size(),
                    "apply: operations, keys, values and results differ in length");
    check(space, ops, "apply: the operations");
    check_items(space, values.empty() ? keys_in{} : keys, values, "apply: keys and values differ in length");
    check(space, keys, "apply: the keys");
    check(space, out, "apply: the results");
    check(space, found, "apply: the flags");
    detail::require_apart(found, out, "apply", "the flags", "the results");
    const detail::sorted_operations<Space> parts(space, ops.data(), ops.size());
    const auto look_up_all = [&](keys_in wanted, detail::missing_sink sink) { look_up(space, wanted, sink); };
    return detail::mixed_call(*this, space, parts, keys, values, look_up_all).run(out, found);
  }

 protected:
  /// \cond
  explicit updates(engine_type&& engine) : base(std::move(engine)) {}
  using base::awake, base::changing, base::check, base::check_items, base::home, base::insert_checked,
      base::insert_checked_async, base::items, base::look_up, base::with_memory;

 private:
  // The caller has checked the keys and values.
  template <class Op>
  insert_report combine(Space& space, keys_in keys, const value_element* values, std::span<outcome> outcomes,
                        const Op& op) {
    return detail::unmark_user_exceptions([&] {
      if constexpr (changed_in_place<Design>) {
        if (outcomes.empty()) {
          [[maybe_unused]] const auto call = changing(space, "insert_or_apply");
          return awake(space).insert_combined(home(space), items(keys, values), keys.size(), op);
        }
      }
      return insert_checked(space, keys, values, outcomes, detail::apply<Op>{op});
    });
  }
  // If threads combine equal keys first, they lift each argument when they read it.
  template <class Given, class Op>
  insert_report combine_lifted(Space& space, keys_in keys, const Given* given, std::span<outcome> outcomes,
                               const Op& op) {
    check(space, keys, "insert: the keys");
    if constexpr (requires(engine_type e) { e.insert_lifted(space, keys.data(), given, u64(0), op); }) {
      if (outcomes.empty()) {
        [[maybe_unused]] const auto call = changing(space, "insert_or_apply");
        const auto report = detail::unmark_user_exceptions(
            [&] { return awake(space).insert_lifted(home(space), keys.data(), given, keys.size(), op); });
        if (report) return *report;
      }
    }
    return combine(space, keys, detail::lift<value_element, Op>(space, given, keys.size()).data(), outcomes,
                   op);
  }
  /// \endcond
};

}  // namespace verbs
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash

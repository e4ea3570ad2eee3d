// SPDX-License-Identifier: Apache-2.0
// engine::insertion: tables that are changed in place, and may grow.
//
//   insert, build      engine/window_call.hpp: its windows and their phases
//   equal keys         engine/equal_keys.hpp: combined before the insert, or the first one kept
//   other memory       here: all items move to a new table, with another hash function; or, where the table's
//                      memory can be resized, the table has more or fewer regions in it
//                      (engine/region_slots.hpp)
//
// Temporary memory: an eighth of a byte an item. engine/region_fill.hpp documents the memory by regions, and
// algorithm/aggregate.hpp that of combined items. Growth takes the new table in addition to the old, and an
// eighth of a byte a slot. In the table's own memory it takes 1/32 of the old table.
#pragma once

#include <algorithm>
#include <optional>
#include <utility>

#include <tilehash/core/error.hpp>
#include <tilehash/engine/assigned_regions.hpp>
#include <tilehash/engine/equal_keys.hpp>
#include <tilehash/engine/region_fill.hpp>
#include <tilehash/engine/region_slots.hpp>
#include <tilehash/engine/thread_combined.hpp>
#include <tilehash/engine/unwaited_call.hpp>
#include <tilehash/engine/window_call.hpp>
#include <tilehash/engine/window_fill.hpp>
#include <tilehash/kernel/pending.hpp>
#include <tilehash/kernel/unshared.hpp>
#include <tilehash/kernel/upsert.hpp>
#include <tilehash/space/tuning.hpp>

#include <tilehash/core/prologue.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace engine {

template <class Design, class Space>
class insertion : public region_slots<Design, Space> {
  using base = region_slots<Design, Space>;
  using base::memory_, base::view_, base::size_, base::options_, base::resize_in_place;

 public:
  using typename base::key_type;
  using typename base::slot_type;
  using typename base::view_type;
  using mapped_type = typename Design::mapped_type;
  using base::base, base::size, base::capacity;

  insertion clone(Space& space) const { return insertion(*this, space); }

  // Inserts the n items of a source; `outcomes` may be null. Throws out_of_memory before anything
  // has changed; later, items without a slot are refused.
  template <class Source, class Update>
  insert_report insert(Space& space, const Source& source, u64 n, outcome* outcomes, const Update& update);
  // The same for more items of a call that has changed the table: without memory, it refuses items.
  template <class Source, class Update>
  insert_report insert_more(Space& space, const Source& source, u64 n, const Update& update) {
    if (n == 0) return {};
    return call(*this, space, insert_role::goes_on).run(source, update, n);
  }
  // The same for items with different keys: the table grows at once for those that are not present.
  template <class Source, class Update>
  insert_report insert_different(Space& space, const Source& source, u64 n, const Update& update) {
    if (n == 0) return {};
    this->sweep_if_due(space);
    return call(*this, space, insert_role::in_use, true).run(source, update, n);
  }
  // ... for a table that does not grow; does not synchronize. The report is in the memory of the space.
  template <class Source, class Update>
  void insert_async(Space& space, const Source& source, u64 n, insert_report* report, const Update& update);
  // Combines the values of n items with those of their keys; combines items of equal keys first, where that
  // pays.
  template <class Op>
  insert_report insert_combined(Space& space, const detail::array_source<slot_type>& items, u64 n,
                                const Op& op);
  // ... of an op whose arguments are not values; otherwise returns nothing.
  template <class Given, class Op>
    requires(!Space::has_lanes)
  auto insert_lifted(Space& space, const key_type* keys, const Given* given, u64 n, const Op& op) {
    return detail::insert_lifted(*this, space, keys, given, n, op);
  }
  // Inserts n items if it pays to combine those of equal keys first; otherwise returns nothing.
  std::optional<insert_report> insert_repeated(Space& space, const detail::array_source<slot_type>& items,
                                               u64 n);

  // Can the table, as it is, take one more item? Not without memory, nor while settle() has work to do.
  bool takes_one() const
    requires(!Space::has_lanes && view_changeable<Design>)
  {
    return size_ < this->fixed_limit_ && this->is_settled();
  }
  // Inserts one item into such a table, on the caller's own thread. `value` may be null in a set.
  outcome take_one(const key_type& key, const mapped_type* value) {
    const detail::array_source<slot_type> one{&key, value};
    const outcome became = detail::unshared_insert<Design>(view_.design, view_.sentinels)(one(0));
    size_ += became == outcome::inserted;
    return became;
  }
  // Inserts one item into any table.
  outcome insert_one(Space& space, const key_type& key, const mapped_type* value)
    requires(!Space::has_lanes)
  {
    if constexpr (view_changeable<Design>) {
      if (takes_one()) {
        const outcome became = take_one(key, value);
        if (became != outcome::refused) return became;
      }
    }
    return add_capacity_for_one(space, {&key, value});
  }

  // Inserts the first of equal keys among the n items.
  insert_report insert_first(Space& space, const detail::array_source<slot_type>& items, u64 n)
    requires(detail::can_combine<slot_type>())
  {
    return detail::insert_first(*this, space, items, n);
  }

  // Replaces the contents by n items, in memory sized for them.
  template <class Source>
  insert_report build(Space& space, const Source& source, u64 n);
  // ... and keeps the first of equal keys.
  insert_report build_first(Space& space, const detail::array_source<slot_type>& items, u64 n)
    requires(detail::can_combine<slot_type>())
  {
    insertion fresh = empty_for<detail::array_source<slot_type>>(space, n, options_, 0, n);
    const insert_report report = detail::build_first(fresh, space, items, n);
    *this = std::move(fresh);
    return report;
  }
  // Inserts items into a table that no caller has seen. Throws out_of_memory; the table is then discarded.
  template <class Source>
  insert_report fill(Space& space, const Source& source, u64 n) {
    return call(*this, space, insert_role::fresh).run(source, detail::keep_stored{}, n);
  }
  // The same for items in bins, one for each region of a table for `items` (algorithm/partition.hpp).
  template <class Source, class Bins>
  insert_report build_from_bins(Space& space, const Source& source, const Bins& bins, u64 n, u64 items)
    requires partition_built<Design>
  {
    insertion fresh(space, items, options_, 0, true);
    detail::region_fill<Design, Space> fill(space, fresh.view_.design, n, false);
    fill.fill_from(bins);
    const insert_report report = call(fresh, space, insert_role::fresh)
                                     .run(source, detail::keep_stored{}, n, nullptr, n, fill.result());
    *this = std::move(fresh);
    return report;
  }

  // Completes an insert after regions have taken all items or some.
  template <class Source>
  insert_report insert_filled(Space& space, const Source& source, u64 n,
                              const detail::region_filled<Design, Space>& filled) {
    return call(*this, space).run(source, detail::keep_stored{}, n, nullptr, n, filled);
  }

  // Gives an empty table capacity for so many items, and slots with any content: the caller must write all of them,
  // or clear the table. Throws out_of_memory; the table is then unchanged.
  void renew_unwiped(Space& space, u64 items) {
    if (!base::renew_in_place(space, items, true)) *this = insertion(space, items, options_, 0, true);
  }

  // Makes capacity for so many items in all; never shrinks.
  u64 reserve(Space& space, u64 items) {
    if (this->capacity_for(items) <= capacity() || resize_in_place(space, items)) return 0;
    return rehash(space, items);
  }
  // Leaves no more capacity than the items need. If the memory can be resized in place, saving a ninth is not
  // worth a second table.
  u64 shrink_to_fit(Space& space) {
    const u64 needed = this->capacity_for(size()), most = capacity();
    if (needed >= most || resize_in_place(space, size())) return 0;
    if (base::resizes_regions && needed > most - most / 9 && memory_.resizes(base::bytes_for(needed)))
      return 0;
    return rebuild(space, size(), 0, nullptr, 0, most).value_or(0);
  }
  u64 erase(Space& space, const key_type* keys, u64 n)
    requires erasable<Design>
  {
    const u64 gone = base::erase(space, keys, n);
    if (options_.shrink_below > 0) shrink_if_asked(space);
    return gone;
  }
  // Moves all items to memory for max(items, size()), with another hash function. Returns the restarts.
  u64 rehash(Space& space, u64 items);

 private:
  using unplaced_entry = typename detail::unplaced_items<slot_type>::entry;

  // A call's policy for this table (engine/window_call.hpp).
  struct call_policy : base::template in_call<insertion> {
    using in_call = typename base::template in_call<insertion>;
    using in_call::table, in_call::size, in_call::capacity, in_call::limit, in_call::design;

    call_policy(insertion& of) : in_call(of, of.options_.grow) {}
    // As many as fit below the limit, or half of the free slots. A small table grows before a window that does
    // not fit. (Other tables do not: the pending items may be copies of one key.)
    u64 free_slots(u64 /*wanted*/) const {
      constexpr u64 small_table = 2 * detail::window_step;
      if (size() >= limit() || limit() < small_table) return 0;
      return std::max(limit() - size(), (capacity() - size()) / 2);
    }
    std::optional<u64> add_capacity(Space& space, growth how, u64 items,
                                    const unplaced_entry* unplaced = nullptr, u64 unplaced_size = 0) {
      if (how == growth::restart) return table.rebuild(space, items, capacity(), unplaced, unplaced_size);
      items = std::max(items, 2 * std::max(size(), limit()));
      if (how == growth::enlarge && table.resize_in_place(space, items)) return 0;
      return table.rebuild(space, items, capacity());
    }
    // Gives an empty table capacity for `items`, or throws. Returns whether regions will wipe its slots.
    template <class Windows>
    TILEHASH_COLD bool renew(Space& space, const Windows& w, u64 items) const {
      using Source = typename Windows::source_type;
      const bool unwiped =
          fills<Source, typename Windows::update_type> && detail::may_claim_slots<Design, Space>(w) &&
          detail::fills_all_slots<Source, Design>(space, table.capacity_for(items),
                                                  table.options_.load_factor, std::min(w.n, items));
      if (!table.renew_in_place(space, items, unwiped))
        table = insertion(space, items, table.options_, 0, unwiped);
      return unwiped;
    }

    template <class Source, class Update>
    static constexpr bool fills = detail::filled_by_regions<Design, Source, Update>;
    template <class Windows>
    [[gnu::always_inline]] auto fill(Space& space, const Windows& w, u64 end, bool unwiped) const {
      return detail::fill_window(space, design(), w, end, size(), unwiped, this->calls());
    }
    void wipe(Space& space) const { table.wipe_slots(space); }
  };
  using call = window_call<call_policy>;

  // A table for so many items; `n` of them will be inserted at once.
  template <class Source>
  static insertion empty_for(Space& space, u64 items, const table_options& options, u64 least, u64 n) {
    const double load = base::permitted(options).load_factor;
    const u64 slots = std::max(least, Design::capacity_for(items, load));
    return insertion(space, items, options, least,
                     detail::fills_all_slots<Source, Design>(space, slots, load, n));
  }

  // insert_one() of an item without a slot, or into a full table.
  __attribute__((noinline)) outcome add_capacity_for_one(Space& space, detail::array_source<slot_type> one) {
    outcome became = outcome::refused;
    [[maybe_unused]] const insert_report report = insert(space, one, 1, &became, detail::keep_stored{});
    return became;
  }

  // Moves all items to a new table, and the `unplaced` ones, which are part of the size; retries with a
  // larger table while they do not fit. Returns the number of retries; or nothing, and the table is
  // unchanged, if they never fit in less than `capacity_limit`.
  TILEHASH_COLD std::optional<u64> rebuild(Space& space, u64 items, u64 least_capacity,
                                           const unplaced_entry* unplaced = nullptr, u64 unplaced_size = 0,
                                           u64 capacity_limit = ~u64(0));
  // Leaves capacity for half as many items again, so that a few more do not make the table grow at once.
  void shrink_if_asked(Space& space);

  template <class Source>
  insert_report move_in(Space& space, const Source& source, u64 n) {
    return call(*this, space, insert_role::all_or_none).run(source, detail::keep_stored{}, n);
  }
  // Does one thread move the items of so many slots alone? Regions do not pay for few on a CPU.
  static bool moves_alone(const Space& space, u64 slots) {
    if constexpr (!Space::has_lanes && view_changeable<Design>)
      return slots < (space.threads() == 1 ? detail::tuning::cpu::moved_by_one_thread
                                           : detail::tuning::cpu::moved_alone);
    else
      return false;
  }
  // Moves all items in another table's slots here. Returns 0 if all items fit; otherwise some are unplaced, and
  // others may be missing.
  u64 move_from(Space& space, const Design& other) {
    if constexpr (!Space::has_lanes && view_changeable<Design>) {
      if (moves_alone(space, other.capacity())) return detail::move_unshared(other, view_.design);
    }
    const detail::slots_source<Design> items{other};
    if constexpr (call_policy::template fills<detail::slots_source<Design>, detail::keep_stored>)
      return move_in(space, items, other.capacity()).refused;
    else  // one by one
      return move_in(space, detail::few_of<Design, Space>(items), other.capacity()).refused;
  }
};

// ---- where a call begins --------------------------------------------------------------------------------
// Defined outside of the class, so not inline: a unit with an extern template declaration
// (tilehash/instances.hpp) then compiles nothing of the code above.

template <class Design, class Space>
template <class Source, class Update>
insert_report insertion<Design, Space>::insert(Space& space, const Source& source, u64 n, outcome* outcomes,
                                               const Update& update) {
  if (n == 0) return {};
  this->sweep_if_due(space);
  if constexpr (std::same_as<Source, detail::array_source<slot_type>> &&
                detail::combines_repeated<Design, Space, Update>()) {
    if (outcomes == nullptr) {
      call until_few(*this, space, insert_role::in_use, false, true);
      const insert_report report = until_few.run(source, update, n);
      if (!until_few.has_stopped()) return report;
      if (const auto combined = detail::insert_few_keys(*this, space, source, n, update)) return *combined;
    }
  }
  return call(*this, space).run(source, update, n, outcomes);
}
template <class Design, class Space>
std::optional<insert_report> insertion<Design, Space>::insert_repeated(
    Space& space, const detail::array_source<slot_type>& items, u64 n) {
  return detail::insert_repeated(*this, space, items, n);
}
template <class Design, class Space>
template <class Source, class Update>
void insertion<Design, Space>::insert_async(Space& space, const Source& source, u64 n, insert_report* report,
                                            const Update& update) {
  detail::require(!options_.grow,
                  "an asynchronous insert needs a table that does not grow: set grow = false");
  static_assert(!replacing<Design>,
                "tilehash: inserts of this design may need a new table, so they synchronize: use insert()");
  this->sweep_if_due(space);
  unwaited_call<call_policy>(*this, space).start(source, update, n, report);
}
template <class Design, class Space>
template <class Source>
insert_report insertion<Design, Space>::build(Space& space, const Source& source, u64 n) {
  insertion fresh = empty_for<Source>(space, n, options_, 0, n);
  const insert_report report = fresh.fill(space, source, n);
  *this = std::move(fresh);
  return report;
}
template <class Design, class Space>
template <class Op>
insert_report insertion<Design, Space>::insert_combined(Space& space,
                                                        const detail::array_source<slot_type>& items, u64 n,
                                                        const Op& op) {
  return detail::insert_combined(*this, space, items, n, op);
}

// ---- other memory ---------------------------------------------------------------------------------------

template <class Design, class Space>
std::optional<u64> insertion<Design, Space>::rebuild(Space& space, u64 items, u64 least_capacity,
                                                     const unplaced_entry* unplaced, u64 unplaced_size,
                                                     u64 capacity_limit) {
  const u64 n = size(), most = std::max(items, slots_without_growth * n);
  const bool alone = moves_alone(space, capacity());
  table_options options = options_;
  for (u64 tries = 0; tries < max_rebuilds && this->capacity_for(items) < capacity_limit; ++tries) {
    options.seed = detail::seed_of(options) + 1;
    insertion fresh = empty_for<detail::slots_source<Design>>(space, items, options, least_capacity,
                                                              alone ? 0 : capacity());
    u64 refused = fresh.move_from(space, view_.design);
    if constexpr (replacing<Design>) {
      const detail::unplaced_source<slot_type, unplaced_entry> rest{unplaced};
      if (refused == 0)
        refused = fresh.move_in(space, detail::few_of<Design, Space>(rest), unplaced_size).refused;
    }
    if (refused == 0) {
      if constexpr (slot_type::reserves_keys)
        space.copy(fresh.view_.sentinels.cells, view_.sentinels.cells, view_type::sentinels_type::bytes);
      space.copy(fresh.calls_.few_bits(), this->calls_.few_bits(),
                 detail::call_memory::few_items / 8);  // a call may be in the middle of them
      fresh.size_ = n;
      *this = std::move(fresh);
      return tries;
    }
    // A table that may not grow keeps its capacity for half of the tries: its items fitted under another hash
    // function. Then it grows all the same, or the keys that lost their slots would be lost.
    const bool may_grow = options_.grow || unplaced == nullptr || tries >= max_rebuilds / 2;
    if (may_grow) items = std::min(items + items / 8 + 1, most);
  }
  return std::nullopt;
}
template <class Design, class Space>
void insertion<Design, Space>::shrink_if_asked(Space& space) {
  if (static_cast<double>(size()) >= options_.shrink_below * static_cast<double>(capacity())) return;
  const u64 items = size() + size() / 2;
  if (this->capacity_for(items) >= capacity()) return;
  try {
    if (!resize_in_place(space, items)) rebuild(space, items, 0, nullptr, 0, capacity());
  } catch (const out_of_memory&) {  // then it stays as large as it is
  }
}
template <class Design, class Space>
u64 insertion<Design, Space>::rehash(Space& space, u64 items) {
  const auto restarts = rebuild(space, std::max(items, size()), 0);
  if (!restarts) base::refuse_items(max_rebuilds);
  return *restarts;
}

}  // namespace engine
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash

#include <tilehash/core/epilogue.hpp>

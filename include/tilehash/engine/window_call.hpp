// SPDX-License-Identifier: Apache-2.0
// One insert into a table that is changed in place: windows of its items, the phases of each
// (engine/insert_phases.hpp), the counts of inserted and refused items, and the decision to grow.
//
//   window    all pending items if they fit, as in most calls; else
//     |         lookup, once: completes items with present keys; then
//     |         as many pending items as there are free slots for, or grow (a small table does so at once)
//     |
//   phases    region by region where that pays; items that regions leave over get windows of their own
//     |         place, displace, update
//     |
//   grow      if items are still pending: another hash function, or more capacity; then the window again
//
// The host synchronizes once a window. (Other calls: engine/unwaited_call.hpp.)
// The table's policy derives from its storage's in_call (engine/counted_storage.hpp), and decides how the table
// gets more capacity (docs/adr/0028-one-insert-call.md):
//   free_slots(wanted)        how many of `wanted` pending items the next window takes; 0: grow first
//   add_capacity(space, growth, items)   as requested, for `items` or more. Returns the restarts, or nothing if
//                             no hash function worked. Throws out_of_memory
//   renew(space, w, items)    the same for an empty table. Returns whether its slots are left to wipe
//   wipe(space)               empties the slots
//   fills, fill(space, w, end, unwiped)  inserts a window by regions, if that pays
//   end(space, enlarge)       completes the call (optional)
#pragma once

#include <algorithm>
#include <optional>
#include <type_traits>
#include <utility>

#include <tilehash/core/error.hpp>
#include <tilehash/core/result.hpp>
#include <tilehash/designs/concepts.hpp>
#include <tilehash/engine/assigned_regions.hpp>
#include <tilehash/engine/growth.hpp>
#include <tilehash/engine/insert_phases.hpp>
#include <tilehash/engine/item_windows.hpp>
#include <tilehash/engine/slot_outcomes.hpp>
#include <tilehash/kernel/pending.hpp>

#include <tilehash/core/prologue.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace engine {

template <class Policy>
class window_call {
  using Design = typename Policy::design_type;
  using Space = typename Policy::space_type;
  template <class Source, class Update>
  using windows_of = item_windows<Design, Space, Source, Update>;
  static constexpr bool displaces = displacing<Design>;
  static constexpr u32 passes = detail::passes_of<Design>;
  static constexpr u32 restarts_before_growth = 4;
  // Keys that are updated are usually present. For so few, asking whether any is pending takes less time than phases.
  static constexpr u64 few_updates = detail::call_memory::few_items;
  struct no_regions {};

 public:
  // `distinct`: all items have different keys. `stops`: run() may end, before any change, where keys are few.
  window_call(const Policy& table, Space& s, insert_role role = insert_role::in_use, bool distinct = false,
              bool stops = false)
      : table_(table),
        space_(s),
        grows_(table.grows() && role != insert_role::all_or_none),
        distinct_(distinct),
        stops_(stops),
        table_is_(role) {}
  bool has_stopped() const { return stopped_; }

  // Inserts n items, at most `valid` of them valid; `outcomes` may be null. `filled`: the items that regions
  // have taken.
  template <class Source, class Update, class Filled = no_regions>
  insert_report run(const Source& source, const Update& update, u64 n, outcome* outcomes = nullptr,
                    u64 valid = ~u64(0), const Filled& filled = {}) {
    windows_of<Source, Update> w{
        {space_, source, n, outcomes, update, table_.calls()}, n, std::min(valid, n)};
    try {
      if constexpr (!std::same_as<Filled, no_regions>) {
        if (take_over(filled, update)) w.done = n;
      }
      run_windows(w);
      if (stopped_) return {};
      const auto enlarge = [&] { return grows_ && add_capacity(growth::enlarge, 0); };
      if constexpr (requires { table_.end(space_, enlarge); }) table_.end(space_, enlarge);
      detail::write_outcomes(space_, table_.design(), w, report_.inserted);
    } catch (const out_of_memory&) {
      throw;
    } catch (...) {
      recover();
      throw;
    }
    report_.present = n - report_.inserted - report_.refused;
    return report_;
  }

 private:
  // After an exception, of a user's op or another. (A GPU's kernels throw none.)
  void recover() {
    if constexpr (!Space::has_lanes) {
      wipe_if_due();
      if (keeps_table(table_is_)) table_.recount(space_);
    }
  }

  template <class Windows>
  void run_windows(Windows& w) {
    try {
      while (w.done < w.n && !stopped_) run_window(w);
    } catch (const out_of_memory&) {  // for the bits of the items; no remaining item has been visited then
      if (!keeps_table(table_is_)) throw;
      if (replacing<Design> && !changed_ && table_is_ == insert_role::in_use) throw;
      while (w.done < w.n) run_few(w);
    }
  }
  template <class Windows>
  void run_window(Windows& w) {
    w.phases.moved_to(table_.calls());  // the last window may have made the table grow
    u64 end = w.n, wanted = w.pending();
    if (grows_ && table_.size() + wanted > table_.limit()) {
      if (!w.looked_up && table_.size() != 0) {
        if (!assign_regions(w)) look_up(w);
        return;
      }
      if (grow_by_estimate(w, wanted)) return;
      const u64 most = table_.free_slots(wanted);
      if (most == 0) {
        grow(w, wanted);
        return;
      }
      end = w.window_end(std::max(most, w.window_of_few), wanted);
    }
    const u64 before = table_.size();
    const u64 left = fill_regions(w, end) ? 0 : run_phases(w, end), fresh = table_.size() - before;
    w.mostly_new = fresh >= wanted - wanted / 16;
    if (fresh < wanted / 2) w.looked_up = false;  // copies: their keys may be present now
    if (left != 0 && grows_ && grow(w, left, true)) return;
    finish_window(w, end, left);
  }
  // Inserts as many items as the table's own memory has bits for. An insert that may take other keys out also
  // needs a list of these; without it, new keys are refused, and only present keys are updated.
  template <class Windows>
  TILEHASH_COLD void run_few(Windows& w) {
    const u64 end = std::min(w.n, w.done + detail::call_memory::few_items);
    w.phases.moved_to(table_.calls());
    w.phases.use_few_bits(w.done);
    if (grows_ && table_.size() >= table_.limit()) add_capacity(growth::enlarge, 0);
    u64 left = 0;
    do {
      w.phases.moved_to(table_.calls());
      if constexpr (replacing<Design>) {
        w.phases.look_up(table_.design(), w.done, end, table_.sentinels());
        collect(w);
        grows_ = false;
        left = w.phases.left();
      } else {
        left = run_phases(w, end);
      }
    } while (left != 0 && grows_ && grow(w, left, true));
    finish_window(w, end, left);
  }
  // Refuses the items with absent keys. (One of two equal keys may have found no slot, and the other one.)
  template <class Windows>
  void finish_window(Windows& w, u64 end, u64 left) {
    if ((displaces || self_inserting<Design>)&&left != 0 && table_is_ != insert_role::all_or_none)
      left = left_now(w, end);
    report_.refused += left;
    w.done = end;
  }
  template <class Windows>
  TILEHASH_COLD u64 left_now(Windows& w, u64 end) {
    w.phases.look_up(table_.design(), w.done, end, table_.sentinels());
    collect(w);
    return w.phases.left();
  }
  template <class Windows>
  void look_up(Windows& w) {
    w.phases.make_bits(grows_);
    const detail::call_end last = table_.calls().waited(space_, w.n, 0);
    const bool ends = w.n - w.done <= detail::tuning::gpu::ended_items;
    w.phases.look_up(table_.design(), w.done, w.n, table_.sentinels(), ends ? &last : nullptr);
    collect(w);
    w.looked_up = true;
    if (w.phases.left() == 0) w.done = w.n;
    if (w.done != w.n) w.pending_counts = w.phases.pending_counts();
  }
  template <class Windows>
  void collect(Windows& w) {
    const auto counts = w.phases.collect();
    const u64 inserted = counts[detail::counter::inserted];
    changed_ = changed_ || Windows::phases_type::updates || inserted != 0;
    table_.add(inserted);
    report_.inserted += inserted;
    report_.refused += counts[detail::counter::illegal];
  }

  // Runs the phases of the window up to `end`. Returns how many of its items are still pending.
  template <class Windows>
  u64 run_phases(Windows& w, u64 end) {
    wipe_if_due();
    w.phases.make_bits(grows_);
    // Another pass serves items that found locked buckets, which are few. If many items found no slot, it
    // would find none either. In a new table they may, up to the number that the old one was made for.
    const u64 few = detail::few_to_retry(end - w.done), limit = table_.limit();
    u32 pass = 0, rebuilds = 0;
    for (bool again = true; again; ++pass) {
      const detail::call_end last = table_.calls().waited(space_, w.n, 0);
      const bool first_ends =
          !displaces || (Windows::phases_type::may_end_first && end - w.done <= few_updates);
      if (pass == 0 || !displaces)
        w.phases.place(table_.placing(), w.done, end, table_.sentinels(), first_ends ? &last : nullptr);
      if constexpr (displaces) {
        if (first_ends && pass == 0) {
          collect(w);
          if (w.phases.left() == 0) return 0;
        }
        try {
          w.phases.displace(table_.design(), w.done, end, table_.sentinels(), &last);
        } catch (const out_of_memory&) {  // pending items stay pending
          if (!keeps_table(table_is_)) throw;
          if (pass != 0) break;  // nothing ran that could count the pending items
        }
      }
      collect(w);
      auto others = unplaced::none;
      if constexpr (replacing<Design>) {
        others = take_in_unplaced(w, end);
        if (others == unplaced::put_back) break;
        if (Windows::phases_type::updates && w.phases.left() != 0) {
          w.phases.update(table_.design(), w.done, end, table_.sentinels());
          collect(w);
        }
      }
      again = w.phases.left() != 0 &&
              (others == unplaced::moved ? (grows_ || table_.size() < limit) && ++rebuilds < max_rebuilds
                                         : pass + 1 < passes && w.phases.left() <= few);
    }
    return w.phases.left();
  }
  // Assigns values by regions, where nearly all keys are present. False: it does not pay, or no memory.
  template <class Windows>
  bool assign_regions(Windows& w) {
    if constexpr (detail::assigned_by_regions<Design, Space, Windows>) {
      if (w.done != 0 || w.phases.bits_known() != 0 || w.phases.outcomes() != nullptr) return false;
      std::optional<detail::region_filled<Design, Space>> filled;
      try {
        filled = detail::assign_present(space_, table_.design(), table_.sentinels(), table_.calls(),
                                        w.phases.source(), w.n);
      } catch (const out_of_memory&) {
      }
      if (!filled || !take_over_window(*filled, w, w.n)) return false;
      w.done = w.n;
      return true;
    } else {
      return false;
    }
  }
  template <class Windows>
  bool fill_regions(Windows& w, u64 end) {
    if constexpr (Policy::template fills<typename Windows::source_type, typename Windows::update_type>) {
      if (w.phases.bits_known() > w.done) return false;
      decltype(table_.fill(space_, w, end, unwiped_)) filled;
      try {
        if (!detail::prepare_outcomes(space_, table_.design(), w, end, table_.size())) return false;
        filled = table_.fill(space_, w, end, unwiped_ || table_is_ != insert_role::in_use);
      } catch (const out_of_memory&) {
        unwiped_ = table_.size() == 0;  // its slots may hold bins
      }
      if (filled) unwiped_ = false;
      return filled && take_over_window(*filled, w, end);
    } else {
      return false;
    }
  }
  void wipe_if_due() {
    if (std::exchange(unwiped_, false)) table_.wipe(space_);
  }
  // The same for a window. An item represents all items of its key: if one is refused, all are looked up.
  template <class Filled, class Windows>
  bool take_over_window(const Filled& filled, Windows& w, u64 end) {
    const u64 before = report_.refused;
    if (!take_over(filled, w.phases.how())) return false;
    if (report_.refused != before + filled.illegal && table_is_ != insert_role::all_or_none)
      report_.refused = before + count_refused(table_, w, end);
    return true;
  }
  // Counts the items that regions took, and inserts the items left over one by one; of these, too, some may
  // have present keys. If they are not known, returns false and inserts nothing.
  template <class Filled, class Update>
  bool take_over(const Filled& filled, const Update& update) {
    changed_ = true;
    table_.add(filled.inserted);
    report_.inserted += filled.inserted;
    if (!filled.lists_left) return false;
    report_.refused += filled.illegal;
    if (filled.left == 0) return true;
    const auto rest = filled.rest();  // must outlive `few`
    const auto few = detail::few_of<Design, Space>(rest);
    windows_of<std::remove_const_t<decltype(few)>, Update> w{
        {space_, few, filled.left, nullptr, update, table_.calls()}, filled.left, filled.left};
    run_windows(w);
    return true;
  }
  // Moves all keys to a new table, and the keys that lost their slots to others. Where there is no memory for
  // it, or no hash function works, puts these back and refuses new keys instead.
  enum class unplaced { none, moved, put_back };
  template <class Windows>
  TILEHASH_COLD unplaced take_in_unplaced(Windows& w, u64 end) {
    const u64 n = w.phases.take_unplaced();
    if (n == 0) return unplaced::none;
    if (table_is_ == insert_role::all_or_none) {
      report_.refused += n;
      return unplaced::none;
    }
    try {
      const std::optional<u64> restarts =
          table_.add_capacity(space_, growth::restart, table_.size(), w.phases.unplaced(), n);
      if (restarts) {
        w.phases.moved_to(table_.calls());
        report_.restarts += *restarts + 1;
        return unplaced::moved;
      }
    } catch (const out_of_memory&) {
      if (!keeps_table(table_is_)) throw;
    }
    const u64 taken = w.phases.put_back(table_.design(), w.done, end, n, table_.sentinels());
    table_.add(u64(0) - taken);
    report_.inserted -= taken;
    collect(w);
    grows_ = false;
    return unplaced::put_back;
  }

  // ---- growth ----
  // A table grows if there are no free slots for the next window, or items of a window were `left`. Below the
  // limit the hash function is to blame for the latter: another may work. Returns false if nothing helps.
  template <class Windows>
  TILEHASH_COLD bool grow(const Windows& w, u64 wanted, bool left = false) {
    const u64 size = table_.size(), limit = table_.limit();
    if (left && size < limit) {
      if (restarts_++ < restarts_before_growth) return add_capacity(growth::restart, size);
      if (size < table_.capacity() / slots_without_growth) return false;
      return add_capacity(growth::both, 0);
    }
    if (size < limit)  // a small table
      return add_capacity(growth::enlarge, size + std::min(wanted, least_capacity(table_)));
    // If nearly all items were new so far, the rest probably is, too.
    const u64 all = size + wanted + wanted / 64;
    return add_capacity(growth::enlarge, w.mostly_new ? detail::capacity_to_grow_to(size, all) : 0);
  }
  // Before the first growth of a call: at once for as many keys as are estimated to be new. Returns false, and
  // changes nothing, if that is not known, not more than fit, or without memory; growth is then step by step.
  template <class Windows>
  TILEHASH_COLD bool grow_by_estimate(Windows& w, u64 wanted) {
    const u64 items = items_to_grow_to(space_, table_, w, wanted, distinct_);
    stopped_ = stops_ && w.few_keys && !changed_;
    if (items == 0 || stopped_) return stopped_;
    try {
      std::optional<u64> restarts = 0;
      if (table_.size() == 0)
        unwiped_ = table_.renew(space_, w, items);
      else
        restarts = table_.add_capacity(space_, growth::enlarge, items);
      if (restarts) report_.restarts += *restarts + 1;
      changed_ = changed_ || restarts;
      return restarts.has_value();
    } catch (const out_of_memory&) {
      return false;
    }
  }
  // If there is no memory, or no hash function works, the table stays as it is for the rest of the call.
  TILEHASH_COLD bool add_capacity(growth how, u64 items) {
    try {
      const std::optional<u64> restarts = table_.add_capacity(space_, how, items);
      grows_ = restarts.has_value();
      if (grows_) report_.restarts += *restarts + 1;
    } catch (const out_of_memory&) {
      if (!keeps_table(table_is_)) throw;
      grows_ = false;
    }
    changed_ = changed_ || grows_;
    return grows_;
  }

  Policy table_;
  Space& space_;
  bool grows_, distinct_, stops_, stopped_ = false;
  insert_role table_is_;
  bool changed_ = false;  // then nothing may throw any more
  bool unwiped_ = false;  // the slots of an empty table may have any content
  u32 restarts_ = 0;
  insert_report report_;
};

}  // namespace engine
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash

#include <tilehash/core/epilogue.hpp>

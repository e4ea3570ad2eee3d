// One insert into a table that is changed in place: the phases (engine/insert_phases.hpp), window by window.
//
//   window -- fewer pending items than there is room for? all of them, in most calls
//     |         else look, once: keys that are there are done; then as many as there is room for; or grow,
//     |         as a small table does at once
//     |
//     put ---- region by region where that pays, or place and move
//     |
//     room --- some are still pending: another hash function, or more memory; then the window again
//
// The host waits once a window. In a call that cannot grow there is one window: none of it waits before the
// end, and start() does not wait at all.
// length: the steps of one call, which share its state.
// length: one call, with its windows, its phases and what it does where memory ends.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include <tilehash/core/error.hpp>
#include <tilehash/core/op.hpp>
#include <tilehash/designs/concepts.hpp>
#include <tilehash/engine/insert_phases.hpp>
#include <tilehash/engine/region_fill.hpp>
#include <tilehash/engine/take_over.hpp>

#include <tilehash/core/prologue.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace engine {

using detail::insert_role;

template <class Design, class Space, class Source, class Update>
class insert_call {
  using table_type = insertion<Design, Space>;
  using phases_type = detail::insert_phases<Design, Space, Source, Update>;
  static constexpr bool updates = phases_type::updates;
  static constexpr bool moves = displacing<Design>;
  // When many keys move at once, one may meet the locks of others until its tries are spent, most of all
  // where the system halts a thread that holds some. So there are some passes.
  static constexpr u32 passes = moves || self_inserting<Design> ? 3 : 1;
  static constexpr u32 max_rebuilds = table_type::max_rebuilds;
  static constexpr u32 restarts_before_growth = 4;
  // Smaller ones are made larger before a window that they have no room for, as least_room says. (Not the
  // others: what is pending may be copies of one key.)
  static constexpr u64 small_table = 2 * detail::window_step;

 public:
  insert_call(table_type& table, Space& space, const Source& source, u64 n, outcome* outcomes,
              const Update& update, insert_role table_is = insert_role::in_use)
      : table_(table),
        space_(space),
        source_(source),
        n_(n),
        outcomes_(outcomes),
        grows_(table.options_.grow),
        table_is_(table_is),
        phases_(space, source, n, outcomes, update, table.calls()) {}

  insert_report run() {
    try {
      if (!put_windows()) put_pieces();
    } catch (const out_of_memory&) {
      throw;
    } catch (...) {
      recover();
      throw;
    }
    return report();
  }
  // Of items that stand in bins, one for each region.
  template <class Bins>
  insert_report run_from(const Bins& bins) {
    detail::region_fill<Design, Space> fill(space_, table_.view_.design, n_, false);
    fill.fill_from(bins);
    return run_filled(fill.result());
  }
  // Of items that regions have taken, all or some.
  template <class Filled>
  insert_report run_filled(const Filled& filled) {
    return take_over(filled) ? report() : run();
  }
  // Without waiting.
  void start(insert_report* report) {
    if (n_ == 0)
      return detail::finish_call(space_, unwaited(report));  // no phase has a kernel that could end it
    phases_.make_bits();
    try {
      run_phases(report);
    } catch (...) {
      recover();
      throw;
    }
  }

 private:
  detail::call_end unwaited(insert_report* report) {
    detail::call_end end = table_.unwaited(n_, phases_.phase());
    end.report = report;
    return end;
  }
  void run_phases(insert_report* report) {
    phases_.place(design(), 0, n_, cells());
    for (u32 pass = 1; !moves && pass < passes; ++pass) {
      phases_.next_phase();
      phases_.place(design(), 0, n_, cells());
    }
    if (moves) move(n_, unwaited(report));
    if (!phases_type::can_end) detail::finish_call(space_, unwaited(report));
  }
  // A user's op threw, or what else ends a call in the middle. (A GPU's kernels throw nothing, and after an
  // error of its own there is nothing to count.)
  void recover() {
    if constexpr (!Space::has_lanes) {
      if (!detail::keeps_table(table_is_)) return;
      table_.recount(space_);
    }
  }

  const Design& design() const { return table_.view_.design; }
  const auto& cells() const { return table_.view_.sentinels; }
  insert_report report() const {
    insert_report r = report_;
    r.present = n_ - r.inserted - r.refused;
    return r;
  }

  // ---- window ----
  // False where there is no memory for the bits of the items; none of the rest has been looked at then.
  bool put_windows() {
    try {
      while (done_ < n_) put_next_window();
      return true;
    } catch (const out_of_memory&) {
      if (!detail::keeps_table(table_is_)) throw;
      if (replacing<Design> && !changed_ && table_is_ == insert_role::in_use) throw;
      return false;
    }
  }
  void put_pieces() {
    in_pieces_ = true;
    while (done_ < n_) put_next_piece();
  }
  void put_next_window() {
    phases_.moved_to(table_.calls());  // what the last window left over may have made the table grow
    u64 end = n_, wanted = looked_ ? pending_from(done_) : n_ - done_;
    if (grows_ && table_.size() + wanted > table_.limit()) {
      if (!looked_ && table_.size() != 0) return look();
      if (table_.size() >= table_.limit()) return grow_for(wanted);
      if (table_.limit() < small_table && grow(items_to_begin_with(wanted))) return;
      end = window_end(wanted);
    }
    const u64 before = table_.size(), left = put(end), fresh = table_.size() - before;
    mostly_new_ = fresh >= wanted - wanted / 16;
    if (fresh < wanted / 2) looked_ = false;  // copies: their keys may be there now
    if (left != 0 && grows_ && make_room()) return;
    report_.refused += left == 0 ? 0 : absent_until(end);
    done_ = end;
  }
  // How many of the window's pending items have keys that are absent. Of equal keys one may have met locks
  // until its tries were spent, and another found a place.
  u64 absent_until(u64 end) {
    if constexpr (moves || self_inserting<Design>) {
      if (table_is_ != insert_role::all_or_none) {
        phases_.look_until(design(), done_, end, cells());
        collect();
      }
    }
    return phases_.left();
  }
  // As many items as the table's own memory has bits for. An insert that may take other keys out needs a list
  // of these besides; without it, new keys are refused, and only those that are there are seen to.
  void put_next_piece() {
    const u64 end = std::min(n_, done_ + detail::call_memory::few_items);
    phases_.moved_to(table_.calls());
    phases_.use_few_bits(done_);
    if (grows_ && table_.size() >= table_.limit()) grow(room_for_twice());
    u64 left = 0;
    do {
      phases_.moved_to(table_.calls());
      if constexpr (replacing<Design>) {
        phases_.look_until(design(), done_, end, cells());
        collect();
        grows_ = false;
        left = phases_.left();
      } else {
        left = put(end);
      }
    } while (left != 0 && grows_ && make_room());
    report_.refused += left == 0 ? 0 : absent_until(end);
    done_ = end;
  }
  u64 pending_from(u64 first) const {
    u64 sum = 0;
    for (u64 group = first / detail::window_step; group < pending_counts_.size(); ++group)
      sum += pending_counts_[group];
    return sum;
  }
  // The end of the next window: of pending items as many as there is room for, or as half of the free slots
  // could take. `wanted` becomes their number.
  u64 window_end(u64& wanted) const {
    const u64 room = std::max(table_.limit() - table_.size(), (table_.capacity() - table_.size()) / 2);
    u64 end = done_;
    for (wanted = 0; end < n_ && wanted < room; end += detail::window_step)
      wanted += looked_ ? pending_counts_[end / detail::window_step] : detail::window_step;
    return std::min(end, n_);
  }
  // Finds the keys that are there.
  void look() {
    phases_.make_bits(grows_);
    phases_.look(design(), done_, cells());
    collect();
    looked_ = true;
    if (phases_.left() == 0)
      done_ = n_;
    else
      pending_counts_ = phases_.pending_counts();
  }

  // ---- put ----
  // The window up to `end`; gives how many of its items are pending still.
  u64 put(u64 end) {
    if (!in_pieces_ && phases_.bits_known() <= done_ && put_by_regions(end)) return 0;
    phases_.make_bits(grows_);
    // Again for what met locks, which are few; where many found no way, no more will. But in a new table they
    // may, as many as the old one was made for.
    const u64 few = (end - done_) / 64 + 64, limit = table_.limit();
    u32 rebuilds = 0;
    bool again = true;
    for (u32 pass = 0; again; ++pass) {
      if (pass == 0 || !moves) phases_.place(design(), done_, end, cells());
      if (moves && !move(end, table_.calls().waited(n_, 0)) && pass != 0)
        break;  // nothing ran that could count what is left
      collect();
      auto others = unplaced::none;
      if constexpr (replacing<Design>) {
        others = take_in_homeless(end);
        if (others == unplaced::put_back) break;
        if (updates && phases_.left() != 0) {
          phases_.change_values(design(), done_, end, cells());
          collect();
        }
      }
      again = phases_.left() != 0 &&
              (others == unplaced::moved ? (grows_ || table_.size() < limit) && ++rebuilds < max_rebuilds
                                         : pass + 1 < passes && phases_.left() <= few);
    }
    return phases_.left();
  }
  // False if there was no memory for it: what waits goes on waiting.
  bool move(u64 end, const detail::call_end& ends) {
    if constexpr (moves) {
      try {
        phases_.move_last(design(), done_, end, ends, cells());
      } catch (const out_of_memory&) {
        if (!detail::keeps_table(table_is_)) throw;
        return false;
      }
    }
    return true;
  }
  // False if it does not pay, or there is no memory for it.
  bool put_by_regions(u64 end) {
    constexpr bool assigns = std::same_as<Update, detail::apply<op::assign>>;
    constexpr bool are_few = std::same_as<Source, detail::called_source<typename Design::slot_type>>;
    if constexpr (partition_built<Design> && (!updates || assigns) && !are_few) {
      const bool empty =
          table_.size() == 0;  // where to assign and to keep are the same: any of equal keys wins
      const u64 n = end - done_;
      if (outcomes_ != nullptr || (assigns && !empty)) return false;
      const auto items = detail::shifted(source_, done_);
      try {
        if constexpr (detail::builds_from_items<Source, Space, Design>) {
          if (empty && detail::one_region_pays<Source>(space_, design(), n))
            return take_over(detail::fill_region(space_, design(), items, n));
        }
        return detail::regions_pay(space_, design(), n, table_.size()) &&
               take_over(detail::fill_regions(space_, design(), items, n, !empty));
      } catch (const out_of_memory&) {
        if (!detail::keeps_table(table_is_)) throw;
        if (empty) table_.wipe_slots(space_);  // they may hold bins
        return false;
      }
    } else {
      return false;
    }
  }
  // What regions took; what they left is put in one by one. False if that is not known.
  template <class Filled>
  bool take_over(const Filled& filled) {
    changed_ = true;
    table_.size_ += filled.inserted;
    const insert_role role = detail::keeps_table(table_is_) ? insert_role::goes_on : table_is_;
    return detail::take_over(report_, filled, [&](const auto& rest) {
      const auto few = table_type::few_of(rest);
      return insert_call<Design, Space, std::remove_const_t<decltype(few)>, detail::keep_stored>(
                 table_, space_, few, filled.left, nullptr, {}, role)
          .run();
    });
  }
  void collect() {
    const auto counts = phases_.collect();
    changed_ = changed_ || updates || counts[detail::counter::inserted] != 0;
    table_.size_ += counts[detail::counter::inserted];
    report_.inserted += counts[detail::counter::inserted];
    report_.refused += counts[detail::counter::illegal];
  }
  // Keys that lost their places to others move to a new table, with all. Where there is no memory for
  // it, or no hash function, they are put back, and new keys are refused instead.
  enum class unplaced { none, moved, put_back };
  unplaced take_in_homeless(u64 end) {
    const u64 n = phases_.take_homeless();
    if (n == 0) return unplaced::none;
    if (table_is_ == insert_role::all_or_none) {
      report_.refused += n;
      return unplaced::none;
    }
    try {
      const auto restarts = table_.rebuild(space_, table_.size(), table_.capacity(), phases_.homeless(), n);
      if (restarts) {
        phases_.moved_to(table_.calls());
        report_.restarts += *restarts + 1;
        return unplaced::moved;
      }
    } catch (const out_of_memory&) {
      if (!detail::keeps_table(table_is_)) throw;
    }
    const u64 taken = phases_.put_back(design(), done_, end, n, cells());
    table_.size_ -= taken;
    report_.inserted -= taken;
    collect();
    grows_ = false;
    return unplaced::put_back;
  }

  // ---- room ----
  // The window's items found no place. Below the load asked for that is the hash function's fault: another
  // may do in a table of the same size. False if nothing helps.
  bool make_room() {
    const bool full = table_.size() >= table_.limit();
    if (!full && restarts_++ < restarts_before_growth) return rebuild(table_.size());
    if (!full && table_.size() < table_.capacity() / table_type::slots_without_growth) return false;
    return full ? grow(room_for_twice()) : rebuild(room_for_twice());
  }
  // There is no room for what is pending. Where nearly all of it was new so far, so will the rest be.
  void grow_for(u64 wanted) {
    const u64 all = table_.size() + wanted + wanted / 64;
    const u64 items = mostly_new_ ? detail::room_to_grow_to(table_.size(), all) : 0;
    grow(std::max(items, room_for_twice()));
  }
  u64 items_to_begin_with(u64 wanted) const {
    return std::max(table_.size() + std::min(wanted, detail::least_room), room_for_twice());
  }
  u64 room_for_twice() const { return 2 * std::max(table_.size(), table_.limit()); }
  // Where there is no memory for that, or no hash function, the rest of the call makes do with the table as
  // it is.
  bool grow(u64 items) {
    return in_other_memory([&] {
      return table_.resize_in_place(space_, items) ? std::optional<u64>(0)
                                                   : table_.rebuild(space_, items, table_.capacity());
    });
  }
  bool rebuild(u64 items) {
    return in_other_memory([&] { return table_.rebuild(space_, items, table_.capacity()); });
  }
  template <class Move>
  bool in_other_memory(const Move& move) {
    try {
      const std::optional<u64> restarts = move();
      grows_ = restarts.has_value();
      if (grows_) report_.restarts += *restarts + 1;
    } catch (const out_of_memory&) {
      if (!detail::keeps_table(table_is_)) throw;
      grows_ = false;
    }
    if (!grows_) return false;
    changed_ = true;
    return true;
  }

  table_type& table_;
  Space& space_;
  Source source_;
  u64 n_;
  outcome* outcomes_;
  bool grows_;
  insert_role table_is_;
  phases_type phases_;

  u64 done_ = 0;                     // items before are in the table, or refused
  bool changed_ = false;             // so that nothing may throw any more
  bool in_pieces_ = false;           // there is no memory for the bits of all items
  bool looked_ = false;              // all bits are known, and ...
  std::vector<u32> pending_counts_;  // ... so many of each 256 items were pending when it looked
  bool mostly_new_ = false;          // nearly all pending items of the last window were new keys
  u32 restarts_ = 0;
  insert_report report_;
};

}  // namespace engine
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash

#include <tilehash/core/epilogue.hpp>

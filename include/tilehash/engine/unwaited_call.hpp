// SPDX-License-Identifier: Apache-2.0
// One insert that does not synchronize with the host: one window of all items, into a table that does not
// grow.
//
//   few items, and a table that is      one kernel (engine/at_once.hpp)
//   known to stay rather empty
//   a table that is known to be empty,  region by region, where that pays; then the items left over, whose
//   or values that are assigned         number only the GPU knows (engine/unwaited_fill.hpp)
//   any other                           the phases of engine/insert_phases.hpp: place, displace, and update or
//                                       a lookup of the items that are pending then
//
// The last kernel ends the call: it writes the report, and the change of the size to the memory of the table.
//
// The policy is that of engine/window_call.hpp.
#pragma once

#include <concepts>

#include <tilehash/core/error.hpp>
#include <tilehash/core/op.hpp>
#include <tilehash/core/result.hpp>
#include <tilehash/designs/concepts.hpp>
#include <tilehash/engine/at_once.hpp>
#include <tilehash/engine/insert_phases.hpp>
#include <tilehash/engine/thread_combined.hpp>
#include <tilehash/engine/unwaited_fill.hpp>
#include <tilehash/kernel/block_combine.hpp>
#include <tilehash/kernel/count_refused.hpp>

#include <tilehash/core/prologue.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace engine {

template <class Policy>
class unwaited_call {
  using Design = typename Policy::design_type;
  using Space = typename Policy::space_type;
  static constexpr bool displaces = displacing<Design>;

 public:
  unwaited_call(const Policy& table, Space& space) : table_(table), space_(space) {}

  // `report` is in the memory of the space; it may be null.
  template <class Source, class Update>
  void start(const Source& source, const Update& update, u64 n, insert_report* report) {
    if (n == 0) return detail::finish_call(space_, end_of(0, report));  // no phase has a kernel
    if constexpr (detail::inserts_at_once<Design, Space, Source, Update>) {
      if (detail::at_once_pays<Source>(space_, table_.design(), table_.most_items(), n, false)) {
        detail::call_end end = end_of(n, report);
        end.packed = table_.calls().packed();
        return detail::start_insert_at_once(space_, table_.design(), detail::shifted(source, 0), end);
      }
    }
    if constexpr (Policy::template fills<Source, Update> && detail::fills_unwaited<Design, Space>()) {
      const bool empty = table_.is_known_empty();  // before this call makes it uncertain
      if (detail::start_fill(space_, table_.design(), source, update, n, empty, table_.calls(),
                             end_of(n, report)))
        return;
    }
    if constexpr (combines<Source, Update>) {
      if (combining_pays<Update>(n)) {
        const auto memory =
            detail::start_combining(space_, source, n, detail::op_of_list(update), table_.calls().counters());
        if (memory) return run(combined_items{source, memory->list(), is_crowd(n)}, update, n, report);
      }
    }
    run(source, update, n, report);
  }

 private:
  using combined_items = detail::combined_items<typename Design::slot_type>;
  // If there are many more items than slots, nearly all are copies. Otherwise updates of many items pay for a
  // sample; inserts and assignments do not, as copies of a key cost them little while there are slots.
  template <class Update>
  bool combining_pays(u64 n) const {
    constexpr bool combines_values =
        !std::same_as<Update, detail::keep_stored> && !std::same_as<Update, detail::apply<op::assign>>;
    if (combines_values && n >= detail::least_to_sample(space_)) return true;
    return n >= detail::least_to_combine(space_) && is_crowd(n);
  }
  bool is_crowd(u64 n) const {
    return n / detail::tuning::of<Space>::crowd_copies >= table_.design().capacity();
  }
  // Are items of equal keys combined first, where a sample says so?
  template <class Source, class Update>
  static constexpr bool combines =
      Space::has_lanes && !values_apart<Design> && !replacing<Design> && detail::combines_given<Update> &&
      !Design::slot_type::is_set && std::same_as<Source, detail::array_source<typename Design::slot_type>> &&
      detail::can_combine<typename Design::slot_type>();

  template <class Source, class Update>
  void run(const Source& source, const Update& update, u64 n, insert_report* report) {
    detail::insert_phases<Design, Space, Source, Update> phases{space_,  source, n,
                                                                nullptr, update, table_.calls()};
    phases.make_bits();
    try {
      run_phases(phases, n, report);
    } catch (...) {
      recover();
      throw;
    }
  }
  detail::call_end end_of(u64 n, insert_report* report) {
    detail::call_end end = table_.unwaited(n, 0);
    end.report = report;
    return end;
  }
  template <class Phases>
  void run_phases(Phases& phases, u64 n, insert_report* report) {
    // On a GPU only the last kernel knows how many items are left. Updates end with a lookup anyway.
    constexpr u32 passes = displaces && Space::has_lanes ? 1 : detail::passes_of<Design>;
    constexpr bool meets_locks = !Phases::updates && (displaces || self_inserting<Design>);
    constexpr bool counts_refused = std::same_as<typename Phases::source_type, combined_items>;
    constexpr bool looks_again = meets_locks && !counts_refused;
    const auto& placing = table_.placing();  // for the table as it is before this call
    detail::call_end last = end_of(n, report);
    for (u32 pass = 1; pass <= passes; ++pass) {
      const bool ends = !looks_again && !counts_refused && pass == passes;
      if (pass == 1 || !displaces) {
        if (pass != 1) phases.next_phase();
        phases.place(placing, 0, n, table_.sentinels(), ends && !displaces ? &last : nullptr);
      }
      if constexpr (displaces) {
        try {
          phases.displace(table_.design(), 0, n, table_.sentinels(), ends ? &last : nullptr);
        } catch (const out_of_memory&) {  // pending items are refused
          break;
        }
      }
      if constexpr (!Space::has_lanes) {
        const u64 left = phases.pending_now();
        if (left == 0 || left > detail::few_to_retry(n)) break;
      }
    }
    if constexpr (looks_again) phases.look_up_pending(table_.design(), table_.sentinels(), last);
    last.last_phase = phases.phase();
    if constexpr (counts_refused) {
      last.blocks_done = table_.calls().blocks_done();
      return detail::count_refused_and_end(space_, table_.design(), table_.sentinels(), phases.source(), n,
                                           meets_locks, last);
    }
    if (!phases.has_ended()) detail::finish_call(space_, last);
  }
  // After a user's op threw, or another exception interrupted the call. (A GPU's kernels throw nothing, and
  // after an error of the GPU there is nothing to count.)
  void recover() {
    if constexpr (!Space::has_lanes) table_.recount(space_);
  }

  Policy table_;
  Space& space_;
};

}  // namespace engine
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash

#include <tilehash/core/epilogue.hpp>

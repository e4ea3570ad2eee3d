// SPDX-License-Identifier: Apache-2.0
// engine::counted_storage: storage of a table whose size asynchronous calls and views may change in the
// memory of the space.
//
// Invariant: the number of items is the host's size() plus that change. A verb that changes the table begins
// with settle(), so size() is the number of all items until the verb ends; const verbs use live_size().
#pragma once

#include <algorithm>

#include <tilehash/engine/call_memory.hpp>
#include <tilehash/engine/storage.hpp>
#include <tilehash/kernel/call.hpp>
#include <tilehash/kernel/entries.hpp>
#include <tilehash/kernel/pending.hpp>
#include <tilehash/kernel/sweep.hpp>

#include <tilehash/core/prologue.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace engine {

template <class Design, class Space>
class counted_storage : public storage<Design, Space> {
  using base = storage<Design, Space>;

 public:
  using base::home;

  // The number of all items. Writes nothing. Synchronizes if there were asynchronous calls, or a view exists.
  u64 live_size() const { return unsettled_ != 0 || is_viewed() ? size_ + change().items : u64(size_); }
  // Makes size() the number of all items, and sweeps the table if that is due; for verbs that change the
  // table. Synchronizes as live_size().
  void settle(Space& space) {
    if (!is_settled()) settle_now(space);
  }
  bool is_settled() const { return (unsettled_ | attention_) == 0; }

 protected:
  using base::base, base::size_;

  // A table in an insert call (engine/window_call.hpp): all that the call reads and changes of its storage. The
  // engine's policy derives from it, and adds how the table gets more capacity.
  template <class Table>
  class in_call {
   public:
    using design_type = Design;
    using space_type = Space;
    static constexpr u64 first_capacity = detail::least_capacity;  // items that an empty table grows for

    in_call(Table& of, bool may_grow) : table(of), storage_(of), grows_(may_grow) {}

    const Design& design() const { return storage_.view_.design; }
    // The design for the place phase.
    decltype(auto) placing() const {
      if constexpr (requires(Design d) { d.begin_empty(true); }) {
        Design d = design();
        d.begin_empty(is_known_empty());
        return d;
      } else {
        return design();
      }
    }
    decltype(auto) sentinels() const {
      if constexpr (requires { storage_.view_.sentinels; })
        return (storage_.view_.sentinels);
      else
        return detail::sentinel_cells<typename Design::slot_type>();
    }
    u64 size() const { return storage_.size_; }
    void add(u64 change) { storage_.size_ += change; }
    u64 capacity() const { return storage_.capacity(); }
    bool grows() const { return grows_; }
    u64 limit() const { return table.limit(); }  // the number of items at which it grows
    u64 seed() const { return detail::seed_of(storage_.options_); }
    bool is_known_empty() const { return storage_.is_known_empty(); }
    u64 most_items() const { return storage_.most_items(); }
    detail::call_memory calls() const { return storage_.calls_; }
    detail::call_end unwaited(u64 n, u32 last_phase) { return storage_.unwaited(n, last_phase); }
    void recount(Space& space) { storage_.recount(space); }

   protected:
    Table& table;

   private:
    counted_storage& storage_;
    bool grows_;
  };

  // Changes that are not settled are copied with the memory. The copy has no view yet.
  counted_storage(const counted_storage& other, Space& space) : base(other, space) {
    unsettled_ = other.is_viewed() ? other.capacity() : u64(other.unsettled_);
    attention_ = other.attention_ & sweep_is_due;
    erased_ = u64(other.erased_);
  }

  // The end of an asynchronous call: its change of the size stays in the memory of the space. A call that is
  // captured runs again whenever its graph is launched, so the size may change at any time, as by a view.
  detail::call_end unwaited(u64 n, u32 last_phase) {
    unsettled_ += n;
    if (is_captured()) note_view();
    return calls_.unwaited(n, last_phase);
  }
  // False while asynchronous calls or views may have inserted items, or may do so before a captured call runs.
  bool is_known_empty() const { return size_ == 0 && unsettled_ == 0 && !is_viewed() && !is_captured(); }
  // The number of items is at most this. It costs no synchronization.
  u64 most_items() const { return is_viewed() || is_captured() ? this->capacity() : size_ + unsettled_; }
  // After an interrupted call (a user's op threw): counts the items of the table for its size. On a CPU.
  void recount(Space& space) {
    calls_.clear(space);
    size_ = detail::count_entries(space, this->view_);
    unsettled_ = 0;
  }

  // After erases: the next verb that changes the table sweeps it, if that is due. So a table that only loses
  // items pays nothing, and erased slots are swept before other keys take them.
  void count_erased(u64 erased) {
    if constexpr (detail::sweepable<Design>) {
      const auto& design = this->view_.design;
      u64 items = size_;
      if (unsettled_ != 0)  // asynchronous calls may have inserted any number of items
        items = std::max(
            items, static_cast<u64>(this->options_.load_factor * static_cast<double>(design.capacity())));
      erased_ += erased;
      if (design.sweeps_after(erased_, items)) attention_ = attention_ | sweep_is_due;
    }
  }
  // Needs no memory, and does not synchronize.
  void sweep_if_due(Space& space) {
    if constexpr (detail::sweepable<Design>) {
      if ((attention_ & sweep_is_due) != 0) sweep(space);
    }
  }
  // A table without marks.
  void start_erased() {
    erased_ = 0;
    attention_ = attention_ & viewed;
  }
  void note_view() { attention_ = attention_ | viewed; }

  detail::call_memory calls_;            // in the memory of the table
  detail::zero_when_moved<> unsettled_;  // items of asynchronous calls, which may have changed the size
  detail::zero_when_moved<> erased_;     // keys, since the table was tidied or swept

 private:
  // Reasons for settle() to act, in one word, because each insert of a single key tests it.
  static constexpr u32 viewed = 1;  // a mutable view or a graph exists, and may change the size at any time
  static constexpr u32 sweep_is_due = 2;
  bool is_viewed() const { return (attention_ & viewed) != 0; }
  bool is_captured() const {
    if constexpr (requires { home()->is_capturing(); })
      return home() != nullptr && home()->is_capturing();
    else
      return false;
  }

  detail::table_change change() const { return calls_.change(*home()); }
  __attribute__((noinline)) void settle_now(Space& space) {
    if (unsettled_ != 0 || is_viewed()) fetch_size(space);
    sweep_if_due(space);
  }
  void fetch_size(Space& space) {
    const detail::table_change all = calls_.change(space);
    unsettled_ = 0;
    if (all.items == 0 && all.erased == 0) return;
    size_ += all.items;
    count_erased(all.erased);
    calls_.start_size(space);
  }
  __attribute__((noinline)) void sweep(Space& space) {
    detail::sweep(space, this->view_.design);
    start_erased();
  }

  detail::zero_when_moved<u32> attention_;
};

}  // namespace engine
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash

#include <tilehash/core/epilogue.hpp>

// SPDX-License-Identifier: Apache-2.0
// engine::slots: the memory of a table that stores items in the slots of buckets, and all verbs but inserts.
//
//   | slots | data of the design | sentinel cells | running calls |
//
// The last part (engine/call_memory.hpp) has a call's counters, their sums and the change of the size. So
// asynchronous calls and views can leave these in the memory of the space (engine/counted_storage.hpp).
#pragma once

#include <cmath>

#include <tilehash/core/capacity.hpp>
#include <tilehash/core/options.hpp>
#include <tilehash/engine/counted_storage.hpp>
#include <tilehash/engine/region_erase.hpp>
#include <tilehash/kernel/erase.hpp>
#include <tilehash/kernel/tidy.hpp>
#include <tilehash/space/buffer.hpp>
#include <tilehash/table_view.hpp>

#include <tilehash/core/prologue.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace engine {

template <class Design, class Space>
class slots : public counted_storage<Design, Space> {
  using base = counted_storage<Design, Space>;

 public:
  using base::home, base::has_memory, base::capacity;
  using typename base::key_type;
  using typename base::view_type;
  using slot_type = typename Design::slot_type;
  // Can a table have more or fewer regions in its own memory (engine/region_slots.hpp)?
  static constexpr bool resizes_regions = requires(Design d, void* memory) { d.reshape(memory, u64(1)); };

  // Makes capacity for `items`, and at least `least` slots. `unwiped`: the caller will write all slots.
  TILEHASH_COLD slots(Space& space, u64 items, const table_options& options, u64 least = 0,
                      bool unwiped = false)
      : base(permitted(options)) {
    const u64 asked = capacity_for(items), new_capacity = asked < least ? at_least(least) : asked;
    this->require_shrink_below();
    if constexpr (resizes_regions)
      memory_ = buffer<char, Space>::resizable(space, bytes_for(new_capacity));
    else
      memory_ = buffer<char, Space>(space, bytes_for(new_capacity));
    set_view(view_type(memory_.data(), new_capacity, detail::seed_of(options_), options_.load_factor));
    if (!unwiped) wipe_slots(space);
    wipe_rest(space);
  }

  // The same table in memory of `space`.
  slots(const slots& other, Space& space) : base(other, space) { set_view(copied_view(other)); }

  // The number of items at the load factor of the options.
  u64 limit() const { return limit_; }
  // Threads with this view change the size in the memory of the space, as asynchronous calls do. They may do
  // so while the table has this memory.
  auto mutable_view()
    requires view_changeable<Design>
  {
    base::note_view();
    return mutable_table_view<Design>(view_, calls_.live_size());
  }

  // Returns how many of these keys were present. O(n).
  u64 erase(Space& space, const key_type* keys, u64 n)
    requires erasable<Design>
  {
    base::sweep_if_due(space);
    bool by_regions = false;
    if constexpr (requires { requires Design::is_region_erased; })
      by_regions = detail::erase_by_regions(space, view_.design, keys, n, calls_.counters());
    const detail::call_end end = calls_.waited(space, n, 0);
    auto ended = detail::call_ended::in_sums;
    if (by_regions)
      detail::finish_call(space, end);
    else
      ended = detail::erase(space, view_.design, view_.sentinels, keys, n, end, calls_.blocks_done());
    const u64 gone = calls_.counted(space, ended == detail::call_ended::packed)[detail::counter::gone];
    size_ -= gone;
    tidy_after(space, gone);
    return gone;
  }
  void erase_async(Space& space, const key_type* keys, u64 n, u64* erased)
    requires erasable<Design>
  {
    base::sweep_if_due(space);
    detail::call_end end = unwaited(n, 0);
    end.erased = erased;
    end.packed = calls_.packed();
    detail::erase(space, view_.design, view_.sentinels, keys, n, end, calls_.blocks_done());
    tidy_after(space, n);
  }
  void clear(Space& space) {
    wipe_slots(space);
    wipe_rest(space);
    size_ = 0;
    unsettled_ = 0;
    base::start_erased();
  }

 protected:
  using base::calls_, base::erased_, base::memory_, base::options_, base::size_, base::unsettled_,
      base::view_;
  using base::unwaited;

  void set_view(const view_type& view) {
    view_ = view;
    calls_ = detail::call_memory(memory_.data() + calls_at(view.design.capacity()));
    u64 usable = view.design.capacity();
    if constexpr (requires { Design::stash_slots; }) usable -= Design::stash_slots;
    limit_ = static_cast<u64>(std::ceil(options_.load_factor * static_cast<double>(usable)));
    fixed_limit_ = options_.grow ? u64(limit_) : ~u64(0);
  }
  // If the number of regions has changed, the capacity does not determine their size.
  view_type copied_view(const slots& other) const {
    if constexpr (resizes_regions) {
      Design design = other.view_.design;
      design.reshape(memory_.data(), design.regions());
      return view_type(design, memory_.data());
    } else {
      return view_type(memory_.data(), other.capacity(), detail::seed_of(options_), options_.load_factor);
    }
  }
  static table_options permitted(table_options options) {
    constexpr double highest = detail::highest_load_factor<Design>();
    const bool legal = options.load_factor <= detail::max_load_factor;
    if (options.grow && legal && options.load_factor > highest) {
      options.shrink_below *= highest / options.load_factor;  // the same share of it
      options.load_factor = highest;
    }
    return options;
  }
  u64 capacity_for(u64 items) const { return Design::capacity_for(items, options_.load_factor); }
  // The capacity of a table with regions of another size may not be a legal one for a new table.
  u64 at_least(u64 least) const {
    if constexpr (resizes_regions)
      return Design::whole_capacity(least, options_.load_factor);
    else
      return least;
  }

  void wipe_slots(Space& space) { space.fill(view_.design.slots(), capacity(), slot_type::empty_word); }
  // After at most so many keys were erased.
  void tidy_after(Space& space, u64 erased) {
    if constexpr (tidying<Design>) {
      erased_ += erased;
      if (erased_ == 0 || !view_.design.tidies_after(erased_)) return;
      detail::tidy(space, view_.design);
      erased_ = 0;
    } else {
      base::count_erased(erased);
    }
  }

  // Zeroes the memory behind the slots.
  void wipe_rest(Space& space) {
    const u64 slot_bytes = capacity() * sizeof(typename Design::word);
    space.fill(memory_.data() + slot_bytes, memory_.bytes() - slot_bytes, char(0));
  }

  static u64 calls_at(u64 capacity) {
    return view_type::sentinels_at(capacity) + view_type::sentinels_type::bytes;
  }
  static u64 bytes_for(u64 capacity) { return calls_at(capacity) + detail::call_memory::bytes; }

  detail::zero_when_moved<> limit_;  // of the view: set_view()
  // With this many items a table grows before it takes one more; one that does not grow tries to place it.
  detail::zero_when_moved<> fixed_limit_;
};

}  // namespace engine
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash

#include <tilehash/core/epilogue.hpp>

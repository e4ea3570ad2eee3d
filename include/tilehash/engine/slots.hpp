// engine::slots: the memory of a table that stores items in the slots of buckets, and all verbs but inserts.
//
//   | slots | data of the design | sentinel cells | running calls |
//
// The last part (engine/call_memory.hpp) has a call's counters, their sums and the change of the size. So
// asynchronous calls and views can leave these in the memory of the space. Invariant: the number of items is
// the host's size() plus that change. A verb that changes the table begins with settle(), so size() is the
// number of all items until the verb ends; const verbs use live_size().
#pragma once

#include <cmath>
#include <type_traits>
#include <utility>

#include <tilehash/core/capacity.hpp>
#include <tilehash/core/options.hpp>
#include <tilehash/engine/call_memory.hpp>
#include <tilehash/engine/region_erase.hpp>
#include <tilehash/kernel/call.hpp>
#include <tilehash/kernel/entries.hpp>
#include <tilehash/kernel/erase.hpp>
#include <tilehash/kernel/lookup.hpp>
#include <tilehash/kernel/tidy.hpp>
#include <tilehash/space/buffer.hpp>
#include <tilehash/table_view.hpp>

#include <tilehash/core/prologue.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace engine {

template <class Design, class Space>
class slots {
 public:
  using key_type = typename Design::key_type;
  using view_type = table_view<Design>;
  using slot_type = typename Design::slot_type;

  // Makes capacity for `items`, and at least `least` slots. `unwiped`: the caller will write all slots.
  slots(Space& space, u64 items, const table_options& options, u64 least = 0, bool unwiped = false)
      : options_(permitted(options)) {
    if (!options_.seed) options_.seed = detail::drawn_seed();
    const u64 asked = capacity_for(items), capacity = asked < least ? at_least(least) : asked;
    detail::require(options_.shrink_below >= 0 && options_.shrink_below <= options_.load_factor / 2,
                    "shrink_below must be at least 0 and at most half of the load factor");
    if constexpr (region_resized<Design>)
      memory_ = buffer<char, Space>::resizable(space, bytes_for(capacity));
    else
      memory_ = buffer<char, Space>(space, bytes_for(capacity));
    set_view(view_type(memory_.data(), capacity, detail::seed_of(options_), options_.load_factor));
    if (!unwiped) wipe_slots(space);
    wipe_rest(space);
  }

  // The same table in memory of `space`.
  slots(const slots& other, Space& space)
      : options_(other.options_),
        memory_(detail::copy_of(other.memory_, space)),
        view_(copy_of(other.view_, memory_.data(), other.capacity(), options_)),
        limit_(other.limit_),
        size_(other.size_),
        erased_(other.erased_),
        // Changes that are not settled are copied with the memory. The copy has no view yet.
        unsettled_(other.unsettled_ || other.viewed_) {}

  // A moved-from table has no memory, and behaves as an empty table.
  slots(slots&& other) noexcept : options_(other.options_) { swap(other); }
  slots& operator=(slots&& other) noexcept {
    slots(std::move(other)).swap(*this);
    return *this;
  }
  void swap(slots& other) noexcept {
    std::swap(options_, other.options_);
    memory_.swap(other.memory_);
    std::swap(view_, other.view_);
    std::swap(limit_, other.limit_);
    std::swap(size_, other.size_);
    std::swap(erased_, other.erased_);
    std::swap(unsettled_, other.unsettled_);
    std::swap(viewed_, other.viewed_);
  }
  bool has_memory() const { return memory_.data() != nullptr; }
  Space* home() const { return memory_.space(); }

  // Without the changes that are not settled.
  u64 size() const { return size_; }
  // The number of all items. Writes nothing. Synchronizes if there were asynchronous calls, or a view exists.
  u64 live_size() const { return unsettled_ || viewed_ ? size_ + calls().size_change(*home()) : size_; }
  // Makes size() the number of all items; for verbs that change the table. Synchronizes as live_size().
  void settle(Space& space) {
    if (unsettled_ || viewed_) fetch_size(space);
  }
  u64 capacity() const { return has_memory() ? view_.design.capacity() : 0; }
  // The number of items at the load factor of the options.
  u64 limit() const { return limit_; }
  u64 bytes() const { return memory_.bytes(); }
  const view_type& view() const { return view_; }
  // Threads with this view change the size in the memory of the space, as asynchronous calls do. They may do
  // so while the table has this memory.
  auto mutable_view()
    requires view_changeable<Design>
  {
    viewed_ = true;
    return mutable_table_view<Design>(view_, calls().live_size());
  }
  const table_options& options() const { return options_; }

  template <class Keys, class Sink>
  void look_up(Space& space, Keys keys, u64 n, Sink sink) const {
    if (has_memory())
      detail::look_up(space, view_.design, view_.sentinels, keys, n, sink);
    else
      detail::look_up_nothing<typename view_type::hit>(space, n, sink);
  }

  // Returns how many of these keys were present. O(n).
  u64 erase(Space& space, const key_type* keys, u64 n)
    requires erasable<Design>
  {
    bool by_regions = false;
    if constexpr (region_erased<Design>)
      by_regions = detail::erase_by_regions(space, view_.design, keys, n, calls().counters());
    if (!by_regions) detail::erase(space, view_.design, view_.sentinels, keys, n, calls().counters());
    detail::finish_call(space, calls().waited(n, 0));
    const u64 gone = calls().counted(space)[detail::counter::gone];
    size_ -= gone;
    tidy_after(space, gone);
    return gone;
  }
  void erase_async(Space& space, const key_type* keys, u64 n, u64* erased)
    requires erasable<Design>
  {
    detail::erase(space, view_.design, view_.sentinels, keys, n, calls().counters());
    detail::call_end end = unwaited(n, 0);
    end.erased = erased;
    detail::finish_call(space, end);
    tidy_after(space, n);
  }
  void clear(Space& space) {
    wipe_slots(space);
    wipe_rest(space);
    size_ = erased_ = 0;
    unsettled_ = false;
  }

 protected:
  void set_view(const view_type& view) {
    view_ = view;
    u64 room = view.design.capacity();
    if constexpr (stashing<Design>) room -= Design::stash_slots;
    limit_ = static_cast<u64>(std::ceil(options_.load_factor * static_cast<double>(room)));
  }
  // The same table in other memory. If the number of its regions has changed, its capacity does not determine
  // their size.
  static view_type copy_of(const view_type& other, char* memory, u64 capacity, const table_options& options) {
    if constexpr (region_resized<Design>) {
      Design design = other.design;
      design.reshape(memory, memory == nullptr ? 1 : design.regions());
      return view_type(design, memory);
    } else {
      return view_type(memory, capacity, detail::seed_of(options), options.load_factor);
    }
  }
  static table_options permitted(table_options options) {
    if constexpr (load_limited<Design>) {
      constexpr double highest = Design::max_load_factor;
      const bool legal = options.load_factor <= detail::max_load_factor;
      if (options.grow && legal && options.load_factor > highest) {
        options.shrink_below *= highest / options.load_factor;  // the same share of it
        options.load_factor = highest;
      }
    }
    return options;
  }
  u64 capacity_for(u64 items) const { return Design::capacity_for(items, options_.load_factor); }
  // The capacity of a table with regions of another size may not be a legal one for a new table.
  u64 at_least(u64 least) const {
    if constexpr (region_resized<Design>)
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
    }
  }

  // Zeroes the memory behind the slots.
  void wipe_rest(Space& space) {
    const u64 slot_bytes = capacity() * sizeof(typename Design::word);
    space.fill(memory_.data() + slot_bytes, memory_.bytes() - slot_bytes, char(0));
  }

  // After an interrupted call: counts the items of the table for its size. On a CPU.
  void recount(Space& space) {
    calls().clear(space);
    size_ = detail::count_entries(space, view_);
    unsettled_ = false;
  }

  // ---- running calls ----
  static u64 calls_at(u64 capacity) {
    return view_type::sentinels_at(capacity) + view_type::sentinels_type::bytes;
  }
  static u64 bytes_for(u64 capacity) { return calls_at(capacity) + detail::call_memory::bytes; }
  detail::call_memory calls() const { return detail::call_memory(memory_.data() + calls_at(capacity())); }

  // The end of an asynchronous call: its change of the size stays in the memory of the space.
  detail::call_end unwaited(u64 n, u32 last_phase) {
    unsettled_ = true;
    return calls().unwaited(n, last_phase);
  }
  __attribute__((noinline)) void fetch_size(Space& space) {
    const u64 change = calls().size_change(space);
    unsettled_ = false;
    if (change == 0) return;
    size_ += change;
    calls().start_size(space);
  }

  table_options options_;
  buffer<char, Space> memory_;
  view_type view_;  // set_view()
  u64 limit_ = 0;   // of it
  u64 size_ = 0;
  u64 erased_ = 0;          // keys, since buckets were tidied
  bool unsettled_ = false;  // asynchronous calls may have changed the size
  bool viewed_ = false;     // a mutable view of this memory exists: its users may change the size at any time
};

}  // namespace engine
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash

#include <tilehash/core/epilogue.hpp>

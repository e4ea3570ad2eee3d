// SPDX-License-Identifier: Apache-2.0
// engine::region_slots: slots in memory that can be resized, if their design has regions.
#pragma once

#include <string>

#include <tilehash/core/error.hpp>
#include <tilehash/engine/region_fill.hpp>
#include <tilehash/engine/region_resize.hpp>
#include <tilehash/engine/slots.hpp>
#include <tilehash/kernel/exact_placement.hpp>
#include <tilehash/space/buffer.hpp>

#include <tilehash/core/prologue.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace engine {

template <class Design, class Space>
class region_slots : public slots<Design, Space> {
  using base = slots<Design, Space>;

 public:
  using base::base, base::size;
  using typename base::slot_type;
  using typename base::view_type;

  // The design of a table made for so many items, without its memory: it computes where a key would go.
  Design layout_for(u64 items) const {
    return Design(nullptr, this->capacity_for(items), detail::seed_of(options_), options_.load_factor);
  }

 protected:
  using base::memory_, base::options_, base::view_, base::size_;

  // Gives the table capacity for so many items in its own memory: more regions or fewer, with the same hash.
  // Returns false, and changes nothing, if that is not possible.
  TILEHASH_COLD bool resize_in_place(Space& space, u64 items);

  // The same for an empty table, whose design need not have regions. `unwiped`: the caller will write all
  // slots.
  TILEHASH_COLD bool renew_in_place(Space& space, u64 items, bool unwiped) {
    const u64 capacity = this->capacity_for(items), bytes = base::bytes_for(capacity);
    if (!memory_.resizes(bytes)) return false;
    memory_.resize(bytes);
    this->set_view(view_type(memory_.data(), capacity, detail::seed_of(options_), options_.load_factor));
    if (!unwiped) this->wipe_slots(space);
    this->wipe_rest(space);
    this->start_erased();
    return true;
  }

 private:
  void place_left(Space& space, const detail::region_filled<Design, Space>& filled);
};

template <class Design, class Space>
bool region_slots<Design, Space>::resize_in_place(Space& space, u64 items) {
  if constexpr (base::resizes_regions) {
    using work_type = detail::region_resize<Design, Space>;
    const Design before = view_.design;
    u64 regions = detail::divide_up(this->capacity_for(items), before.region_slots());
    const bool grows = regions > before.regions();
    if (grows) regions = work_type::grown(before, regions);
    if (!work_type::suits(space, before, regions)) return false;
    // A partition to so many small regions takes two steps.
    if (detail::partitions_in_steps<Space> && regions > detail::best_regions<Space> &&
        2 * layout_for(items).regions() <= regions)
      return false;
    const u64 bytes = base::bytes_for(regions * before.region_slots());
    if (!memory_.resizes(bytes)) return false;
    work_type work(space, before, regions);
    if (!work.prepare()) return false;
    // The memory behind the slots moves with their end.
    static_assert(!slot_type::reserves_keys && !tidying<Design>, "only bits of a call are kept");
    buffer<char, Space> bits(space,
                             detail::call_memory::few_items / 8);  // of a call that may be running
    space.copy(bits.data(), this->calls_.few_bits(), bits.size());
    if (grows) memory_.resize(bytes);
    const u64 n = size();
    const auto filled = work.run(memory_.data());
    if (!grows) {
      try {
        memory_.resize(bytes);
      } catch (const out_of_memory&) {  // a resource may fail to shrink it: the memory keeps its size
      }
    }
    view_type view(filled.design, memory_.data());
    view.design.reshape(memory_.data(), regions);
    this->set_view(view);
    this->wipe_rest(space);
    size_ = n - filled.left;
    if (filled.left != 0) place_left(space, filled);
    space.copy(this->calls_.few_bits(), bits.data(), bits.size());
    return true;
  } else {
    return false;
  }
}
// Places the keys left over. Each has a slot in its region (engine/region_resize.hpp). Allocates nothing.
template <class Design, class Space>
void region_slots<Design, Space>::place_left(Space& space,
                                             const detail::region_filled<Design, Space>& filled) {
  using source_type = decltype(filled.rest());
  u64* const without = this->calls_.sums();
  space.for_each(
      1, detail::place_in_regions<Design, source_type>{view_.design, filled.rest(), filled.left, without});
  const u64 lost = read_one(space, without);
  size_ += filled.left - lost;
  if (lost != 0)
    throw error("tilehash: " + std::to_string(lost) +
                " keys have no place in regions in which a trial placed all: this is a fault of tilehash");
}

}  // namespace engine
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash

#include <tilehash/core/epilogue.hpp>

// engine::insertion: tables that are changed in place, and may grow.
//
//   insert, build      engine/insert_call.hpp: window, put, room; its phases are in engine/insert_phases.hpp
//   of equal keys      engine/equal_keys.hpp: combined before, or the first one kept
//   other memory       here: all items go to a new table, with another hash function; or, where the table's
//                      memory can be made larger or smaller, it has more or fewer regions there
//                      (engine/region_resize.hpp)
//
// Memory while it runs: an eighth of a byte an item. By regions what engine/region_fill.hpp says; where
// items are combined first what algorithm/aggregate.hpp says. Growth takes the new table beside the old, and
// an eighth of a byte a slot; in the table's own memory a 32nd of the old one.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include <tilehash/core/error.hpp>
#include <tilehash/engine/equal_keys.hpp>
#include <tilehash/engine/insert_call.hpp>
#include <tilehash/engine/region_fill.hpp>
#include <tilehash/engine/region_resize.hpp>
#include <tilehash/engine/slots.hpp>
#include <tilehash/kernel/exact_placement.hpp>
#include <tilehash/kernel/pending.hpp>
#include <tilehash/kernel/unshared.hpp>
#include <tilehash/kernel/upsert.hpp>

#include <tilehash/core/prologue.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace engine {

template <class Design, class Space>
class insertion : public slots<Design, Space> {
  using base = slots<Design, Space>;
  using base::memory_, base::view_, base::size_, base::options_;

 public:
  using typename base::key_type;
  using typename base::slot_type;
  using typename base::view_type;
  using mapped_type = typename Design::mapped_type;
  using base::base, base::size, base::capacity;

  insertion clone(Space& space) const { return insertion(*this, space); }

  // Puts the n items of a source in; `outcomes` may be null. Throws what `look` and `place` throw before
  // anything has changed; later, items without room are refused.
  template <class Source, class Update>
  insert_report insert(Space& space, const Source& source, u64 n, outcome* outcomes, const Update& update);
  // The same for more items of a call that has changed the table: where memory ends, those that need some are
  // refused.
  template <class Source, class Update>
  insert_report insert_more(Space& space, const Source& source, u64 n, const Update& update) {
    if (n == 0) return {};
    return call<Source, Update>(*this, space, source, n, nullptr, update, insert_role::goes_on).run();
  }
  // ... of a table that does not grow, without waiting. The report lies in the memory of the space.
  template <class Source, class Update>
  void insert_async(Space& space, const Source& source, u64 n, insert_report* report, const Update& update);
  // The values of n items are combined with those of their keys; items of equal keys first, where that pays.
  template <class Op>
  insert_report insert_combined(Space& space, const detail::array_source<slot_type>& items, u64 n,
                                const Op& op);

  // Puts one item in by the caller's own thread, where that needs no memory. `value` may be null in a set.
  outcome insert_one(Space& space, const key_type& key, const mapped_type* value)
    requires(!Space::has_lanes)
  {
    const detail::array_source<slot_type> one{&key, value};
    if constexpr (view_changeable<Design>) {
      if (takes_one()) {
        const auto x = one(0);
        const outcome became = detail::unshared_insert<Design>(view_.design, view_.sentinels)(x);
        size_ += became == outcome::inserted;
        if (became != outcome::refused || !x.key.legal) return became;
      }
    }
    return make_room_for_one(space, one);
  }

  // Of equal keys among the n items the first is the one that is put in.
  insert_report insert_first(Space& space, const detail::array_source<slot_type>& items, u64 n)
    requires(detail::can_combine<slot_type>());

  // Replaces the contents by n items, in memory sized for them.
  template <class Source>
  insert_report build(Space& space, const Source& source, u64 n);
  // ... and keeps the first of equal keys.
  insert_report build_first(Space& space, const detail::array_source<slot_type>& items, u64 n)
    requires(detail::can_combine<slot_type>())
  {
    insertion fresh = empty_for<detail::array_source<slot_type>>(space, n, options_, 0, n);
    std::optional<insert_report> report = detail::fill_first(fresh, space, items, n);
    if (!report) {
      fresh.clear(space);  // it may not have been wiped yet
      report = detail::combine_first(fresh, space, items, n);
    }
    *this = std::move(fresh);
    return *report;
  }
  // Puts items into a table that nobody has seen: where memory ends it throws, and the table is given up.
  template <class Source>
  insert_report fill(Space& space, const Source& source, u64 n) {
    return call<Source>(*this, space, source, n, nullptr, {}, insert_role::fresh).run();
  }
  // The same where the items stand in bins, one for each region of a table made for `room` items
  // (algorithm/partition.hpp).
  template <class Source, class Bins>
  insert_report build_from_bins(Space& space, const Source& source, const Bins& bins, u64 n, u64 room)
    requires partition_built<Design>
  {
    insertion fresh(space, room, options_, 0, true);
    insert_report report =
        call<Source>(fresh, space, source, n, nullptr, {}, insert_role::fresh).run_from(bins);
    *this = std::move(fresh);
    return report;
  }

  // Room for so many items in all; never shrinks.
  u64 reserve(Space& space, u64 items) {
    if (this->capacity_for(items) <= capacity() || resize_in_place(space, items)) return 0;
    return rehash(space, items);
  }
  // No more room than its items need. In its own memory a ninth is not worth a second table.
  u64 shrink_to_fit(Space& space) {
    const u64 needed = this->capacity_for(size()), most = capacity();
    if (needed >= most || resize_in_place(space, size())) return 0;
    if (region_resized<Design> && needed > most - most / 9 && memory_.resizes(base::bytes_for(needed)))
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
  // Moves all to memory sized for max(items, size()), with another hash function. Gives how often it started
  // anew.
  u64 rehash(Space& space, u64 items);

  // The design of a table made for so many items, without its memory: it knows where a key would go.
  Design layout_for(u64 items) const {
    return Design(nullptr, this->capacity_for(items), detail::seed_of(options_), options_.load_factor);
  }

 private:
  static constexpr u32 max_rebuilds = 64;
  // More room helps keys that crowd by chance. With so many slots to an item it does not: those keys have one
  // hash whatever the seed (a user's hasher that gives a constant), and a table would grow for them until
  // memory ends.
  static constexpr u64 slots_without_growth = 64;
  using homeless_entry = typename detail::homeless_items<slot_type>::entry;

  template <class, class, class, class>
  friend class insert_call;
  template <class Source, class Update = detail::keep_stored>
  using call = insert_call<Design, Space, Source, Update>;

  // A table for so many items, of which `n` are to come at once.
  template <class Source>
  static insertion empty_for(Space& space, u64 items, const table_options& options, u64 least, u64 n) {
    if constexpr (partition_built<Design>) {
      const Design layout(nullptr,
                          std::max(least, Design::capacity_for(items, base::permitted(options).load_factor)),
                          0, base::permitted(options).load_factor);
      return insertion(
          space, items, options, least,
          detail::regions_pay(space, layout, n, 0) || detail::one_region_pays<Source>(space, layout, n));
    } else {
      return insertion(space, items, options, least);
    }
  }

  // A source of few items, which are put in one by one: on the host by one code for all such sources.
  template <class Source>
  static auto few_of(const Source& source) {
    if constexpr (Space::has_lanes)
      return source;
    else
      return detail::called_source<slot_type>(source);
  }

  // Without growing?
  bool takes_one() const { return !options_.grow || size_ < this->limit(); }
  // insert_one() of an item that found no place, or the table full.
  __attribute__((noinline)) outcome make_room_for_one(Space& space, detail::array_source<slot_type> one) {
    outcome became = outcome::refused;
    [[maybe_unused]] const insert_report report = insert(space, one, 1, &became, detail::keep_stored{});
    return became;
  }

  // Moves all items to a new table, and with them those of the size that have lost their places; again,
  // larger, while they do not fit. Gives how often they did not; nothing, and all is as it was, where they
  // never did in less than `capacity_limit`.
  std::optional<u64> rebuild(Space& space, u64 items, u64 least_capacity,
                             const homeless_entry* homeless = nullptr, u64 homeless_size = 0,
                             u64 capacity_limit = ~u64(0));
  // Gives the table so many items' room in its own memory, which can be that large: more regions or fewer, by
  // the same hash. False, and nothing has happened, where that is not possible.
  bool resize_in_place(Space& space, u64 items);
  void place_left(Space& space, const detail::region_filled<Design, Space>& filled);
  // Half as many items again find room afterwards, so that few more do not make it grow at once.
  void shrink_if_asked(Space& space);

  template <class Source>
  insert_report move_in(Space& space, const Source& source, u64 n) {
    return call<Source>(*this, space, source, n, nullptr, {}, insert_role::all_or_none).run();
  }
  // All that stands in another table's slots; of few, for which regions do not pay, a CPU's thread makes
  // shorter work alone. Unless it gives 0 some found no place, and the rest need not be here.
  u64 move_from(Space& space, const Design& other) {
    if constexpr (!Space::has_lanes && view_changeable<Design>) {
      const u64 few = space.threads() == 1 ? detail::least_to_partition : u64(1) << 14;
      if (other.capacity() < few) return detail::move_unshared(other, view_.design);
    }
    return move_in(space, detail::slots_source<Design>{other}, other.capacity()).refused;
  }
};

// ---- where a call begins --------------------------------------------------------------------------------
// Not in the class, where they would be inline: a unit that is told of a copy elsewhere
// (tilehash/instances.hpp) then compiles nothing of what stands above.

template <class Design, class Space>
template <class Source, class Update>
insert_report insertion<Design, Space>::insert(Space& space, const Source& source, u64 n, outcome* outcomes,
                                               const Update& update) {
  if (n == 0) return {};
  return call<Source, Update>(*this, space, source, n, outcomes, update).run();
}
template <class Design, class Space>
template <class Source, class Update>
void insertion<Design, Space>::insert_async(Space& space, const Source& source, u64 n, insert_report* report,
                                            const Update& update) {
  detail::require(!options_.grow,
                  "only tables that do not grow (grow = false) have inserts that do not wait");
  static_assert(!replacing<Design>,
                "tilehash: inserts of this design may need a new table, so the host must wait for them");
  call<Source, Update>(*this, space, source, n, nullptr, update).start(report);
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
template <class Design, class Space>
insert_report insertion<Design, Space>::insert_first(Space& space,
                                                     const detail::array_source<slot_type>& items, u64 n)
  requires(detail::can_combine<slot_type>())
{
  if (size() == 0) {
    if (const auto report = detail::fill_first(*this, space, items, n)) return *report;
  }
  return detail::combine_first(*this, space, items, n);
}

// ---- other memory ---------------------------------------------------------------------------------------

template <class Design, class Space>
std::optional<u64> insertion<Design, Space>::rebuild(Space& space, u64 items, u64 least_capacity,
                                                     const homeless_entry* homeless, u64 homeless_size,
                                                     u64 capacity_limit) {
  const u64 n = size(), most = std::max(items, slots_without_growth * n);
  table_options fixed = options_;
  fixed.grow = false;
  for (u64 tries = 0; tries < max_rebuilds && this->capacity_for(items) < capacity_limit; ++tries) {
    fixed.seed = detail::seed_of(fixed) + 1;
    insertion fresh =
        empty_for<detail::slots_source<Design>>(space, items, fixed, least_capacity, capacity());
    u64 refused = fresh.move_from(space, view_.design);
    if constexpr (replacing<Design>) {
      const detail::homeless_source<slot_type, homeless_entry> rest{homeless};
      if (refused == 0) refused = fresh.move_in(space, few_of(rest), homeless_size).refused;
    }
    if (refused == 0) {
      if constexpr (slot_type::reserves_keys)
        space.copy(fresh.view_.sentinels.cells, view_.sentinels.cells, view_type::sentinels_type::bytes);
      space.copy(fresh.calls().few_bits(), this->calls().few_bits(),
                 detail::call_memory::few_items / 8);  // a call may be in the middle of them
      fresh.size_ = n;
      fresh.options_.grow = options_.grow;
      *this = std::move(fresh);
      return tries;
    }
    // A table that may not grow keeps its capacity while other hash functions may do: its items fitted
    // before. Half of the tries are for that. Then it grows, as the keys that lost their places would be
    // lost.
    const bool may_grow = options_.grow || homeless == nullptr || tries >= max_rebuilds / 2;
    if (may_grow) items = std::min(items + items / 8 + 1, most);
  }
  return std::nullopt;
}
template <class Design, class Space>
bool insertion<Design, Space>::resize_in_place(Space& space, u64 items) {
  if constexpr (region_resized<Design>) {
    using work_type = detail::region_resize<Design, Space>;
    const Design before = view_.design;
    u64 regions = detail::divide_up(this->capacity_for(items), before.region_slots());
    const bool grows = regions > before.regions();
    if (grows) regions = work_type::grown(before, regions);
    if (!work_type::suits(space, before, regions)) return false;
    const u64 bytes = base::bytes_for(regions * before.region_slots());
    if (!memory_.resizes(bytes)) return false;
    work_type work(space, before, regions);
    if (!work.prepare()) return false;
    // What stands behind the slots moves with their end.
    static_assert(!slot_type::reserves_keys && !tidying<Design>, "only bits of a call are kept");
    buffer<char, Space> bits(space,
                             detail::call_memory::few_items / 8);  // of one that we may be in the middle of
    space.copy(bits.data(), this->calls().few_bits(), bits.size());
    if (grows) memory_.resize(bytes);
    const u64 n = size();
    const auto filled = work.run(memory_.data());
    if (!grows) {
      try {
        memory_.resize(bytes);
      } catch (const out_of_memory&) {  // of a resource that cannot even make it smaller: it stays as it is
      }
    }
    view_type view(filled.design, memory_.data());
    view.design.reshape(memory_.data(), regions);
    this->set_view(view);
    this->wipe_rest(space);
    size_ = n - filled.left;
    if (filled.left != 0) place_left(space, filled);
    space.copy(this->calls().few_bits(), bits.data(), bits.size());
    return true;
  } else {
    return false;
  }
}
// Keys that found no place in their regions, where there is one for each (engine/region_resize.hpp). It takes
// no memory.
template <class Design, class Space>
void insertion<Design, Space>::place_left(Space& space, const detail::region_filled<Design, Space>& filled) {
  using source_type = decltype(filled.rest());
  u64* const without = this->calls().sums();
  space.for_each(
      1, detail::place_in_regions<Design, source_type>{view_.design, filled.rest(), filled.left, without});
  const u64 lost = read_one(space, without);
  size_ += filled.left - lost;
  if (lost != 0)
    throw error("tilehash: " + std::to_string(lost) +
                " keys have no place in regions in which a trial placed all: this is a fault of tilehash");
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
  if (!restarts)
    throw error("tilehash: the items could not be placed with " + std::to_string(max_rebuilds) +
                " hash functions; ask for a lower load factor, or take another hash");
  return *restarts;
}

}  // namespace engine
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash

#include <tilehash/core/epilogue.hpp>

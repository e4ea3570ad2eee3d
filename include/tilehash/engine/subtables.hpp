// SPDX-License-Identifier: Apache-2.0
// engine::subtables: tables in several subtables. One subtable is doubled or halved at a time.
//
//   insert   by engine/window_call.hpp; if items would fill more than beta of the slots, doubles the smallest
//            subtable
//            many items into an empty table with capacity for them are inserted region by region, if the keys
//            have four bytes (the design's fill_regions()); items left over are inserted as above
//   erase    while less than alpha of the slots is filled, halves the largest subtable; if less than a
//            quarter of alpha is filled, moves all items to a new table at once
//
// A resize allocates the subtable's new memory first, fills it from the old memory, and then replaces that.
// If there is no memory, or the other subtables have no slots for the items left over by halving, the table
// is unchanged. So peak memory is the table and one new subtable: with d subtables at most (d + 2) / (d + 1)
// of the larger of the sizes before and after.
//
// If a call's items need more than twice the slots, it makes a new table of that size and moves all pairs
// there at once, as rehash() does. The old table is less than half of it.
//
// Temporary memory: an eighth of a byte an item. By regions: the items' bytes and 1/32 (without memory for
// that, and on a CPU, 1/4 and 1/32). While a subtable is halved: an eighth of a byte for each of its slots.
#pragma once

#include <algorithm>
#include <optional>
#include <utility>

#include <tilehash/core/capacity.hpp>
#include <tilehash/core/error.hpp>
#include <tilehash/core/options.hpp>
#include <tilehash/engine/insert_phases.hpp>
#include <tilehash/engine/subtable_slots.hpp>
#include <tilehash/engine/subtables_verbs.hpp>
#include <tilehash/engine/unwaited_call.hpp>
#include <tilehash/engine/window_call.hpp>
#include <tilehash/kernel/entries.hpp>
#include <tilehash/kernel/erase.hpp>
#include <tilehash/kernel/subtables.hpp>
#include <tilehash/space/buffer.hpp>
#include <tilehash/space/tuning.hpp>
#include <tilehash/table_view.hpp>

#include <tilehash/core/prologue.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace engine {

template <class Design, class Space>
class subtables : public subtable_slots<Design, Space> {
  using base = subtable_slots<Design, Space>;
  using base::adopt, base::memory_for, base::weigh, base::weigh_evenly, base::wipe_slots;
  using base::parts, base::options_, base::shape_, base::view_, base::calls_, base::reserved_, base::size_,
      base::weights_, base::weighed_, base::doubles_;
  using typename base::part;
  using typename base::slot_type;

 public:
  using base::base, base::size, base::capacity, base::limit, base::double_one, base::require_no_doubling;
  using typename base::key_type;
  template <class Base>
  using verbs = tilehash::verbs::of_subtables<Base>;

  subtables clone(Space& space) const {
    require_no_doubling();
    return subtables(*this, space);
  }
  // ---- insert ----
  template <class Source, class Update>
  insert_report insert(Space& space, const Source& source, u64 n, outcome* outcomes, const Update& update) {
    if (n == 0) return {};
    if (!std::same_as<Update, detail::keep_stored>)
      require_no_doubling();  // values of the frozen subtable would be lost
    return call(*this, space).run(source, update, n, outcomes);
  }
  // The same for items with different keys: the table grows at once for those that are not present.
  template <class Source, class Update>
  insert_report insert_different(Space& space, const Source& source, u64 n, const Update& update) {
    if (n == 0) return {};
    if (!std::same_as<Update, detail::keep_stored>) require_no_doubling();
    return call(*this, space, insert_role::in_use, true).run(source, update, n);
  }
  template <class Op>
  insert_report insert_combined(Space& space, const detail::array_source<slot_type>& items, u64 n,
                                const Op& op) {
    return insert(space, items, n, nullptr, detail::apply<Op>{op});
  }
  template <class Source, class Update>
  void insert_async(Space& space, const Source& source, u64 n, insert_report* report, const Update& update) {
    detail::require(!options_.grow,
                    "an asynchronous insert needs a table that does not grow: set grow = false");
    if (!std::same_as<Update, detail::keep_stored>) require_no_doubling();
    unwaited_call<call_policy>(*this, space).start(source, update, n, report);
  }
  template <class Source>
  insert_report build(Space& space, const Source& source, u64 n) {
    subtables fresh(space, n, options_, true);
    fresh.template wipe_unless_filled<Source>(space, n);
    fresh.reserved_ = 0;
    const insert_report report = fresh.fill(space, source, n);
    *this = std::move(fresh);
    return report;
  }
  // Inserts items into a table that no caller has seen. Throws out_of_memory; the table is then discarded.
  template <class Source>
  insert_report fill(Space& space, const Source& source, u64 n) {
    return call(*this, space, insert_role::fresh).run(source, detail::keep_stored{}, n);
  }

  // ---- erase ----
  u64 erase(Space& space, const key_type* keys, u64 n) {
    require_no_doubling();
    const auto ended =
        detail::erase(space, view_.design, {}, keys, n, calls_.waited(space, n, 0), calls_.blocks_done());
    const u64 gone = calls_.counted(space, ended == detail::call_ended::packed)[detail::counter::gone];
    size_ -= gone;
    if (options_.grow && gone != 0) shrink(space);
    weigh(space);
    return gone;
  }
  void erase_async(Space& space, const key_type* keys, u64 n, u64* erased) {
    require_no_doubling();
    detail::call_end end = base::unwaited(n, 0);
    end.erased = erased;
    detail::erase(space, view_.design, {}, keys, n, end, calls_.blocks_done());
  }
  // ---- memory ----
  // Makes capacity for so many items in all, which halving keeps; never shrinks.
  u64 reserve(Space& space, u64 items) {
    require_no_doubling();
    reserved_ = std::max<u64>(reserved_, items);
    if (Design::capacity_for(items, options_.load_factor) <= capacity()) return 0;
    return rehash(space, items);
  }
  // Moves all items to memory sized for max(items, size()), with another hash function. Returns the number of
  // restarts.
  u64 rehash(Space& space, u64 items) {
    require_no_doubling();
    const auto restarts = rebuild(space, std::max(items, size()), 0);
    if (!restarts) base::refuse_items(max_rebuilds);
    reserved_ = items;
    return *restarts;
  }
  // Moves all items to memory sized for size(), if that is less. Returns the number of restarts.
  u64 shrink_to_fit(Space& space) {
    require_no_doubling();
    const u64 restarts = rebuild(space, size(), 0, capacity()).value_or(0);
    reserved_ = 0;
    return restarts;
  }
  // Halves the largest subtable. Returns false, and changes nothing, if there is no memory, or no free slots
  // for the items left over. O(its slots).
  bool halve_one(Space& space) {
    require_no_doubling();
    if (!shape_.can_shrink()) return false;
    try {
      return halve(space, emptiest_of_the_largest());
    } catch (const out_of_memory&) {
      return false;
    }
  }

 private:
  // A call's policy for this table (engine/window_call.hpp).
  struct call_policy : base::template in_call<subtables> {
    using in_call = typename base::template in_call<subtables>;
    using in_call::table, in_call::size, in_call::capacity, in_call::limit, in_call::design;
    // An empty table has nothing to move. Later it grows 64 times at once (capacity_to_grow_to()).
    static constexpr u64 first_capacity = detail::tuning::table::first_subtables;

    call_policy(subtables& of) : in_call(of, of.options_.grow && !of.doubles_) {}
    u64 free_slots(u64 wanted) const {
      const bool is_small = limit() < least_capacity(*this) && limit() < wanted;
      return is_small || size() >= limit() ? 0 : limit() - size();
    }
    // Doubles one subtable after the other, or moves all items to a new table more than twice as large.
    std::optional<u64> add_capacity(Space& space, growth how, u64 items) {
      if (how == growth::restart) return table.rebuild(space, items, capacity());
      if (items > 2 * limit()) return table.rebuild(space, items + size() / 64, capacity());
      table.double_one(space);
      u64 more = 0;
      try {
        for (; limit() < items; ++more) table.double_one(space);
      } catch (const out_of_memory&) {  // the call requests more if that was too little
      }
      return more;
    }

    // Gives an empty table capacity for `items`. Returns whether regions will write all its slots, which then
    // have any content. Throws out_of_memory; the table is then unchanged.
    template <class Windows>
    TILEHASH_COLD bool renew(Space& space, const Windows& w, u64 items) const {
      subtables fresh(space, items, table.options_, true);
      fresh.reserved_ = u64(table.reserved_);
      table = std::move(fresh);
      if constexpr (fills<typename Windows::source_type, typename Windows::update_type>) {
        if (w.n <= limit())
          return table.template wipe_unless_filled<typename Windows::source_type>(space, w.valid);
      }
      wipe(space);
      return false;
    }

    void wipe(Space& space) const { table.wipe_slots(space); }
    // After a call the table is below its limit, if there is memory, and its draw has weights.
    template <class Enlarge>
    void end(Space& space, const Enlarge& enlarge) const {
      while (size() > limit() && enlarge()) {
      }
      table.weigh(space);
    }
    template <class Source, class Update>
    static constexpr bool fills =
        std::same_as<Update, detail::keep_stored> && Design::template fills_from<Source> &&
        !std::same_as<Source, detail::called_source<slot_type>>;
    // Inserts all items of a call into an empty table with capacity for them. Returns nothing if it does not
    // pay.
    template <class Windows>
    auto fill(Space& space, const Windows& w, u64 end, bool /*unwiped*/) const {
      using filled = decltype(design().fill_regions(space, w.phases.source(), w.n, w.valid));
      const bool all = w.done == 0 && end == w.n && size() == 0 && w.valid <= limit();
      if (!all || table.doubles_ || !design().regions_pay(space, w.valid)) return std::optional<filled>();
      table.weigh_evenly();  // the subtables then fill alike, so end() need not sample them
      std::optional<filled> done(design().fill_regions(space, w.phases.source(), w.n, w.valid));
      table.weighed_ = done->inserted;
      return done;
    }
  };
  using call = window_call<call_policy>;

  // For an empty table with unwiped slots. Returns whether an insert of n such items will write all of them.
  template <class Source>
  bool wipe_unless_filled(Space& space, u64 n) const {
    if constexpr (call_policy::template fills<Source, detail::keep_stored>) {
      if (n <= limit() && view_.design.regions_pay(space, n)) return true;
    }
    wipe_slots(space);
    return false;
  }

  // ---- halving ----
  void shrink(Space& space) {
    const u64 least = Design::capacity_for(reserved_, options_.load_factor);
    shrink_at_once(space);
    while (static_cast<double>(size_) < options_.alpha * static_cast<double>(capacity()) &&
           shape_.can_shrink()) {
      const u64 then = capacity() - shape_.buckets_of(shape_.largest()) / 2 * Design::bucket_slots;
      if (then < least || !halve_one(space)) return;
    }
  }
  // If each subtable would be halved twice, moves the items to a new table instead, with a load half-way
  // between alpha and beta. The new table is not smaller than halving would leave it.
  void shrink_at_once(Space& space) {
    if (4 * static_cast<double>(size_) >= options_.alpha * static_cast<double>(capacity())) return;
    const double middle = (options_.alpha + options_.beta) / 2;
    const u64 least = u64(parts) * shape_.base * Design::bucket_slots;
    const u64 items = std::max<u64>(
        {reserved_, static_cast<u64>(static_cast<double>(size_) * options_.load_factor / middle),
         static_cast<u64>(static_cast<double>(least) * options_.load_factor)});
    if (2 * Design::capacity_for(items, options_.load_factor) > capacity()) return;
    try {
      rebuild(space, items, 0, capacity());
    } catch (const out_of_memory&) {  // then subtable by subtable, which takes less
    }
  }
  // The weights keep small subtables full and large ones empty. So a large subtable that was small until
  // recently may have more items than half of it can store. A larger weight means fewer items.
  u32 emptiest_of_the_largest() const {
    u32 least = shape_.largest();
    for (u32 t = 0; t < parts; ++t) {
      if (shape_.level[t] == shape_.level[least] && weights_[t] > weights_[least]) least = t;
    }
    return least;
  }
  TILEHASH_COLD bool halve(Space& space, u32 t) {
    const u64 buckets = shape_.buckets_of(t) / 2, slots = buckets * Design::bucket_slots;
    auto memory = memory_for(space, buckets);
    if (size() == 0) {
      const part half(memory.data(), buckets, shape_.base);
      space.fill(half.keys, half.slots(), slot_type::empty_word);
      base::wipe_locks(space, half);
      end_halving(t, std::move(memory));
      return true;
    }
    const u64 words = detail::divide_up(slots, detail::window_step) * detail::count_pending::words_each;
    const buffer<u32, Space> left_over(space, words);
    const part from = view_.design.at(t), to(memory.data(), buckets, shape_.base);
    const detail::left_over_source<Design> source{from, left_over.data()};
    detail::insert_phases<Design, Space, detail::left_over_source<Design>, detail::keep_stored> phases(
        space, source, slots, nullptr, {}, calls_);
    space.fill(left_over.data(), words, 0U);
    base::wipe_locks(space, to);
    constexpr u32 each = Space::has_lanes ? 1 : Design::bucket_slots;
    space.for_each(slots / each, detail::halve_subtable<Design, each>{from, to, left_over.data()});
    phases.begin_with(left_over.data());
    Design others = view_.design;
    others.close(t);
    const auto take_back = [&] {
      space.for_each(slots, detail::erase_source<Design, detail::left_over_source<Design>>{others, source});
    };
    phases.place(others, 0, slots);
    phases.collect();
    try {
      for (u32 pass = 0; phases.left() != 0 && pass < 3; ++pass) {
        phases.displace(others, 0, slots);
        phases.collect();
      }
    } catch (const out_of_memory&) {  // of a CPU's scratch
    }
    if (phases.left() != 0) {
      take_back();
      return false;
    }
    end_halving(t, std::move(memory));
    return true;
  }
  void end_halving(u32 t, buffer<char, Space>&& memory) {
    --shape_.level[t];
    adopt(t, std::move(memory));
    weights_[t] /= 2;  // nearly, as some of its items are in the others now
    view_.design.weigh(base::scaled(weights_).of);
  }

  // ---- a new table ----
  // Moves all items to a table with another hash function; retries with a larger one while they do not fit.
  // Returns the number of retries; or nothing, and the table is unchanged, if they never fit in less than
  // `capacity_limit`.
  TILEHASH_COLD std::optional<u64> rebuild(Space& space, u64 items, u64 least_capacity,
                                           u64 capacity_limit = ~u64(0)) {
    const u64 n = size(), most = std::max(items, slots_without_growth * n);
    table_options options = options_;
    for (u64 tries = 0; tries < max_rebuilds; ++tries) {
      options.seed = detail::seed_of(options) + 1;
      while (Design::capacity_for(items, options.load_factor) < least_capacity) items += items / 64 + 1;
      if (Design::capacity_for(items, options.load_factor) >= capacity_limit) return std::nullopt;
      subtables fresh(space, items, options, true);
      using source = detail::entries_source<Design>;
      fresh.template wipe_unless_filled<source>(space, n);
      const auto report =
          call(fresh, space, insert_role::all_or_none)
              .run(source{view_.design}, detail::keep_stored{}, view_.design.entries(), nullptr, n);
      if (report.refused == 0) {
        space.copy(fresh.calls_.few_bits(), calls_.few_bits(), detail::call_memory::few_items / 8);
        fresh.reserved_ = u64(reserved_);
        *this = std::move(fresh);
        return tries;
      }
      items = std::min(items + items / 8 + 1, most);
    }
    return std::nullopt;
  }
};

}  // namespace engine
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash

#include <tilehash/core/epilogue.hpp>

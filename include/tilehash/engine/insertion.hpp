// engine::insertion: tables that are changed in place. An insert is a sequence of phases over windows of its
// items:
//
//   look      where the items may not all fit: which keys are there? They are done (their values changed)
//   window    as many of the pending items as there is room for; all of them, in most calls
//   place     each key into the first free slot on its way, region by region where that pays
//   displace  what found none: room is made by moving other keys
//   update    keys met while others moved: their values change when no key moves
//   seal      a pass over all buckets, where lookups need one
//   take in   keys that lost their places to others: all go to a new table
//   grow      what is still pending gets another hash function, or more memory; then the window again. Where
//             the table's memory can be made larger, it has more regions there (engine/region_resize.hpp)
//
// A phase says of each item, in a bit, whether it is pending (kernel/recorder.hpp), so that no list is made,
// and the host waits once a window. In a call that cannot grow there is one window: none of it waits before
// the end, and the verbs that end in _async do not wait at all.
//
// Memory while it runs: an eighth of a byte an item. By regions what engine/region_fill.hpp says; where
// items are combined first what algorithm/aggregate.hpp says. Growth takes the new table beside the old, and
// an eighth of a byte a slot; in the table's own memory a 32nd of the old one.
//
// length: the phases of one call share its state, and growth is a call of its own.
#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <tilehash/algorithm/aggregate.hpp>
#include <tilehash/algorithm/first.hpp>
#include <tilehash/algorithm/sample.hpp>
#include <tilehash/engine/region_fill.hpp>
#include <tilehash/engine/region_resize.hpp>
#include <tilehash/engine/slots.hpp>
#include <tilehash/kernel/displace.hpp>
#include <tilehash/kernel/entries.hpp>
#include <tilehash/kernel/pending.hpp>
#include <tilehash/kernel/upsert.hpp>

namespace tilehash::inline TILEHASH_ABI::engine {

template <class Design, class Space>
class insertion : public slots<Design, Space> {
  using base = slots<Design, Space>;
  using base::memory_, base::view_, base::size_, base::options_;
  using slot_type = typename Design::slot_type;
  using word = typename Design::word;

 public:
  using typename base::key_type;
  using typename base::view_type;
  using mapped_type = typename Design::mapped_type;
  using base::base, base::size, base::capacity;

  insertion clone(Space& space) const { return insertion(*this, space); }

  // Puts the n items of a source in; `outcomes` may be null. Throws what `look` and `place` throw before
  // anything has changed; later, items without room are refused.
  template <class Source, class Update>
  insert_report insert(Space& space, const Source& source, u64 n, outcome* outcomes, const Update& update);
  // ... of a table that does not grow, without waiting. The report lies in the memory of the space.
  template <class Source, class Update>
  void insert_async(Space& space, const Source& source, u64 n, insert_report* report, const Update& update);
  // The values of n items are combined with those of their keys; items of equal keys first, where there are
  // so many that it pays.
  template <class Op>
  insert_report insert_combined(Space& space, const detail::array_source<slot_type>& items, u64 n,
                                const Op& op);

  // Puts one item in by the caller's own thread, where that needs no memory. `value` may be null in a set.
  // What few items need stays out of it: with that inline, the others' words go through memory and back.
  outcome insert_one(Space& space, const key_type& key, const mapped_type* value)
    requires(!Space::has_lanes)
  {
    if constexpr (view_changeable<Design>) {
      if (takes_one()) {
        const auto x = detail::array_source<slot_type>{&key, value}(0);
        const outcome became =
            detail::upsert_one<detail::no_others>(view_.design, view_.sentinels, x, detail::keep{});
        size_ += became == outcome::inserted;
        if (became != outcome::refused || !x.key.legal) return became;
      }
    }
    return make_room_for_one(space, key, value);
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
    std::optional<insert_report> report = fresh.fill_first(space, items, n);
    if (!report) {
      fresh.clear(space);  // it may not have been wiped yet
      report = fresh.combine_first(space, items, n);
    }
    *this = std::move(fresh);
    return *report;
  }
  // Puts items into a table that nobody has seen: where memory ends it throws, and the table is given up.
  template <class Source>
  insert_report fill(Space& space, const Source& source, u64 n) {
    return call<Source, detail::keep>(*this, space, source, n, nullptr, {}, role::fresh).run();
  }
  // The same where the items stand in bins, one for each region of a table made for `room` items
  // (algorithm/partition.hpp).
  template <class Source, class Bins>
  insert_report build_from_bins(Space& space, const Source& source, const Bins& bins, u64 n, u64 room)
    requires partition_built<Design>
  {
    insertion fresh(space, room, options_, 0, true);
    insert_report report = call<Source, detail::keep>(fresh, space, source, n, nullptr, {}).run_from(bins);
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
    return rehash(space, size());
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
  static constexpr u32 restarts_before_growth = 4;
  // More room helps keys that crowd by chance. With so many slots to an item it does not: those keys have one
  // hash whatever the seed (a user's hasher that gives a constant), and a table would grow for them until
  // memory ends.
  static constexpr u64 slots_without_growth = 64;
  using homeless_list = detail::homeless_items<slot_type>;
  using homeless_entry = typename homeless_list::entry;

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
  bool takes_one() const {
    this->refresh();
    return !options_.grow || size_ < this->limit();
  }
  // insert_one() of an item that found its buckets full, or the table.
  __attribute__((noinline)) outcome make_room_for_one(Space& space, const key_type& key,
                                                      const mapped_type* value) {
    const detail::array_source<slot_type> one{&key, value};
    outcome became = outcome::refused;
    if constexpr (view_changeable<Design> && displacing<Design>) {
      const auto x = one(0);  // of buckets of four slots, many a one in a hundred is full
      if (takes_one() && x.key.regular())
        became = view_.design.displacement_of(x.key.bits, slot_type::pack(x.key.bits, x.value))
                     .run(solo_tile{}, true);
      size_ += became == outcome::inserted;
      if (became != outcome::refused) return became;
    }
    [[maybe_unused]] const insert_report report = insert(space, one, 1, &became, detail::keep{});
    return became;
  }

  // insert_first() by regions into an empty table, which need not have been wiped. Nothing where that does
  // not pay, or did not work and it was emptied again.
  std::optional<insert_report> fill_first(Space& space, const detail::array_source<slot_type>& items, u64 n);
  // ... into any table, by combining the items of equal keys before.
  insert_report combine_first(Space& space, const detail::array_source<slot_type>& items, u64 n);

  // Moves all items to a new table, and with them those of the size that have lost their places; again,
  // larger, while they do not fit. Gives how often they did not; nothing, and all is as it was, where they
  // never did.
  std::optional<u64> rebuild(Space& space, u64 items, u64 least_capacity,
                             const homeless_entry* homeless = nullptr, u64 homeless_size = 0) {
    const u64 n = size(), most = std::max(items, slots_without_growth * n);
    table_options fixed = options_;
    fixed.grow = false;
    for (u64 tries = 0; tries < max_rebuilds; ++tries) {
      fixed.seed = detail::seed_of(fixed) + 1;
      insertion fresh =
          empty_for<detail::slots_source<Design>>(space, items, fixed, least_capacity, capacity());
      u64 refused = fresh.move_in(space, detail::slots_source<Design>{view_.design}, capacity()).refused;
      if constexpr (replacing<Design>) {
        const detail::homeless_source<slot_type, homeless_entry> rest{homeless};
        if (refused == 0) refused = fresh.move_in(space, few_of(rest), homeless_size).refused;
      }
      if (refused == 0) {
        if constexpr (slot_type::reserves_keys)
          space.copy(fresh.view_.sentinels.cells, view_.sentinels.cells, view_type::sentinels_type::bytes);
        space.copy(fresh.few_bits(), this->few_bits(),
                   base::few_items / 8);  // a call may be in the middle of them
        fresh.size_ = n;
        fresh.options_.grow = options_.grow;
        *this = std::move(fresh);
        return tries;
      }
      items = std::min(items + items / 8 + 1, most);
    }
    return std::nullopt;
  }

  // Gives the table so many items' room in its own memory, which can be that large: more regions or fewer, by
  // the same hash. False, and nothing has happened, where that is not possible.
  bool resize_in_place(Space& space, u64 items);
  void place_left(Space& space, const detail::region_filled<Design, Space>& filled);
  // Half as many items again find room afterwards, so that few more do not make it grow at once.
  void shrink_if_asked(Space& space);

  // Without memory a call refuses what waits for it; into a table that nobody has seen, it throws. One that
  // is given up unless all find a place takes no pains over the last of them.
  enum class role { in_use, fresh, all_or_none };
  template <class Source, class Update>
  class call;
  template <class Source>
  insert_report move_in(Space& space, const Source& source, u64 n) {
    return call<Source, detail::keep>(*this, space, source, n, nullptr, {}, role::all_or_none).run();
  }
  static bool partition_pays(const Space& space, const Design& design, u64 n, u64 held) {
    if constexpr (partition_built<Design>)
      return detail::regions_pay(space, design, n, held);
    else
      return false;
  }
};

// One insert.
template <class Design, class Space>
template <class Source, class Update>
class insertion<Design, Space>::call {
  static constexpr bool updates = !std::same_as<Update, detail::keep>;
  static constexpr bool moves = displacing<Design>;
  // When many keys move at once, one may meet the locks of others until its tries are spent, most of all
  // where the system halts a thread that holds some. So there are some passes.
  static constexpr u32 passes = moves || self_inserting<Design> ? 3 : 1;
  static_assert(!sealing<Design> || !partition_built<Design>, "regions are not sealed");
  // The last kernel of a window ends it, which saves starting another.
  static constexpr bool ends_itself = Space::has_lanes && moves && !updates && !sealing<Design>;
  using work = detail::upsert_items<Design, Source, Update, Design::preferred_width>;

 public:
  call(insertion& table, Space& space, const Source& source, u64 n, outcome* outcomes, const Update& update,
       role table_is = role::in_use)
      : table_(table),
        space_(space),
        source_(source),
        n_(n),
        outcomes_(outcomes),
        update_(update),
        grows_(table.options_.grow),
        table_is_(table_is) {}

  insert_report run() {
    try {
      while (settled_ < n_) put_next_window();
    } catch (const out_of_memory&) {
      if (!changed_ || table_is_ != role::in_use) throw;
      refuse_from(settled_);
    }
    return report();
  }
  template <class Bins>
  insert_report run_from(const Bins& bins) {
    detail::region_fill<Design, Space> fill(space_, table_.view_.design, n_, false);
    fill.fill_from(bins);
    return run_filled(fill.result());
  }
  template <class Filled>
  insert_report run_filled(const Filled& filled) {
    return take_over(filled) ? report() : run();
  }
  void start(insert_report* report) {
    make_bits();
    place(0, n_, true);
    const auto ended = [&](u32 phase) {
      detail::call_end end = table_.unwaited(space_, n_, phase);
      end.report = report;
      return end;
    };
    for (u32 pass = 1; !moves && pass < passes; ++pass) {
      ++phase_;
      place(0, n_, true);
    }
    move(0, n_, ended);
    seal();
    if (!ends_itself) detail::finish_call(space_, ended(phase_));
  }

 private:
  insert_report report() const {
    insert_report r = report_;
    r.present = n_ - r.inserted - r.refused;
    return r;
  }
  void refuse_from(u64 first) {
    if (outcomes_ != nullptr) space_.fill(outcomes_ + first, n_ - first, outcome::refused);
    report_.refused += n_ - first;
  }

  void put_next_window() {
    u64 end = n_, wanted = looked_ ? pending_from(settled_) : n_ - settled_;
    if (grows_ && table_.size() + wanted > table_.limit()) {
      if (!looked_ && table_.size() != 0) return look();
      if (table_.size() >= table_.limit()) return grow_for(wanted);
      end = window_end(wanted);
    }
    const u64 before = table_.size(), left = put(end), fresh = table_.size() - before;
    mostly_new_ = fresh >= wanted - wanted / 16;
    if (fresh < wanted / 2) looked_ = false;  // copies: their keys may be there now
    if (left != 0 && grows_ && make_room()) return;
    report_.refused += left;
    settled_ = end;
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
    u64 end = settled_;
    for (wanted = 0; end < n_ && wanted < room; end += detail::window_step)
      wanted += looked_ ? pending_counts_[end / detail::window_step] : detail::window_step;
    return std::min(end, n_);
  }

  // ---- the phases ----
  // Finds the keys that are there.
  void look() {
    make_bits();
    place(settled_, n_, false);
    const u64 left = collect(false);
    looked_ = true;
    if (left == 0) {
      settled_ = n_;
      return;
    }
    u32* const counts = bits_.size() != 0 ? bits_.data() + words() : table_.few_counts();
    pending_counts_.resize(groups());
    space_.for_each(groups(), detail::count_pending{pending_, words(), counts});
    space_.copy_to_host(pending_counts_.data(), counts, groups() * sizeof(u32));
  }

  // Puts the window up to `end` in; gives how many of its items are pending still.
  u64 put(u64 end) {
    if (bits_known_ <= settled_ && put_by_regions(end)) return 0;
    make_bits();
    // Again for what met locks, which are few; where many found no way, no more will. But in a new table they
    // may, as many as the old one was made for.
    const u64 few = (end - settled_) / 64 + 64, limit = table_.limit();
    u64 left = 0;
    u32 rebuilds = 0;
    bool again = true;
    for (u32 pass = 0; again; ++pass) {
      if (pass == 0 || !moves) place(settled_, end, true);
      const bool moved = move(settled_, end, [&](u32 phase) { return table_.waited(n_, phase); });
      if (!moved && pass != 0) break;  // nothing ran that could count what is left
      left = collect(ends_itself);
      phase_ = 0;
      seal();
      bool rebuilt = false;
      if constexpr (replacing<Design>) rebuilt = take_in_homeless();
      again = left != 0 && (rebuilt ? (grows_ || table_.size() < limit) && ++rebuilds < max_rebuilds
                                    : pass + 1 < passes && left <= few);
    }
    return left;
  }
  bool put_by_regions(u64 end) {
    constexpr bool assigns = std::same_as<Update, detail::apply<op::assign>>;
    constexpr bool are_few = std::same_as<Source, detail::called_source<slot_type>>;
    if constexpr (partition_built<Design> && (!updates || assigns) && !are_few) {
      const bool empty =
          table_.size() == 0;  // where to assign and to keep are the same: any of equal keys wins
      const u64 n = end - settled_;
      if (outcomes_ != nullptr || (assigns && !empty)) return false;
      const Design& design = table_.view_.design;
      const auto items = detail::shifted(source_, settled_);
      try {
        if constexpr (detail::builds_from_items<Source, Space, Design>) {
          if (empty && detail::one_region_pays<Source>(space_, design, n))
            return take_over(detail::fill_region(space_, design, items, n));
        }
        return partition_pays(space_, design, n, table_.size()) &&
               take_over(detail::fill_regions(space_, design, items, n, !empty));
      } catch (const out_of_memory&) {
        if (!changed_ && empty) table_.wipe_slots(space_);  // they may hold bins
        throw;
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
    report_.inserted += filled.inserted;
    if (!filled.lists_left) return false;
    report_.refused += filled.illegal;
    if (filled.left == 0) return true;
    const auto rest = filled.rest();
    const auto few = insertion::few_of(rest);
    try {
      add(insertion::call<std::remove_const_t<decltype(few)>, detail::keep>(table_, space_, few, filled.left,
                                                                            nullptr, {})
              .run());
    } catch (const out_of_memory&) {
      report_.refused += filled.left;
    }
    return true;
  }
  void add(const insert_report& r) {
    report_.inserted += r.inserted;
    report_.refused += r.refused;
    report_.restarts += r.restarts;
  }

  // Items that were looked at before, as far as they are pending; and all others. Where inserts may move
  // keys, those that it met have their values changed afterwards.
  void place(u64 first, u64 end, bool inserts) {
    const u64 known = std::min(bits_known_, end);
    if (first < known) visit(first, known, true, inserts);
    if (known < end) visit(std::max(first, known), end, false, inserts);
    bits_known_ = std::max(bits_known_, end);
    if constexpr (updates && !steady<Design>) {
      if (inserts) update(first, end);
    }
  }
  void update(u64 first, u64 end) {
    seal();
    ++phase_;
    visit(first, end, true, false);
  }
  void visit(u64 first, u64 end, bool pending_only, bool inserts) {
    if constexpr (Space::has_lanes && !updates) {  // a lookup needs fewer registers
      if (!inserts && !pending_only) {
        using keys = detail::keys_of_items<detail::shifted_source<Source>>;
        return detail::look_up(space_, table_.view_.design, table_.view_.sentinels, keys{{source_, first}},
                               end - first, detail::pending_sink{recorder(), first});
      }
    }
    detail::upsert<Design>(space_, work{table_.view_.design, table_.view_.sentinels, source_, first, end,
                                        pending_only, inserts, update_, recorder(), homeless()});
  }
  // Displaces; and where values change, those of the keys that it met. False if there was no memory for it.
  template <class End>
  bool move(u64 first, u64 end, const End& end_of_call) {
    if constexpr (moves) {
      ++phase_;
      detail::call_end ends;
      if constexpr (ends_itself) {
        ends = end_of_call(phase_);
        ends.blocks_done = table_.blocks_done();
      }
      try {
        detail::displace(space_, table_.view_.design, source_, first, end, updates, recorder(),
                         table_.given_up(), ends);
      } catch (const out_of_memory&) {  // of a CPU's scratch: what waits goes on waiting
        if (table_is_ != role::in_use) throw;
        --phase_;
        return false;
      }
      if constexpr (updates) update(first, end);
    }
    return true;
  }
  void seal() {
    if constexpr (sealing<Design>)
      space_.for_each(table_.capacity() / Design::bucket_slots,
                      detail::seal_bucket<Design>{table_.view_.design});
  }
  // Waits. Gives how many items were pending after the last phase.
  u64 collect(bool ended) {
    const auto counts = ended ? table_.counted(space_) : table_.finish(space_, table_.waited(n_, phase_));
    changed_ = changed_ || updates || counts[detail::counter::inserted] != 0;
    table_.size_ += counts[detail::counter::inserted];
    report_.inserted += counts[detail::counter::inserted];
    report_.refused += counts[detail::counter::illegal];
    return counts.left(phase_);
  }

  // ---- growth ----
  // The window's items found no place. Below the load asked for that is the hash function's fault: another
  // may do in a table of the same size. False if nothing helps.
  bool make_room() {
    const bool full = table_.size() >= table_.limit();
    if (!full && restarts_++ < restarts_before_growth) return rebuild(table_.size());
    if (!full && table_.size() < table_.capacity() / slots_without_growth) return false;
    return full ? grow(room_for_twice()) : rebuild(room_for_twice());
  }
  // There is no room for what is pending. Where nearly all of it was new so far, so will the rest be.
  void grow_for(u64 wanted) {
    const u64 all = table_.size() + wanted + wanted / 64;
    const u64 items = mostly_new_ ? std::min(all, 64 * table_.size()) : 0;
    grow(std::max(items, room_for_twice()));
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
      if (table_is_ != role::in_use) throw;
      grows_ = false;
    }
    if (!grows_) return false;
    changed_ = true;
    if (bits_.size() == 0 && pending_ != nullptr) pending_ = table_.few_bits();
    return true;
  }

  // ---- keys that lost their places to others: they are not refused, whatever that costs ----
  bool take_in_homeless() {
    const u64 n = read_one(space_, homeless_length_.data());
    if (n == 0) return false;
    space_.fill(homeless_length_.data(), 1, u64(0));
    if (table_is_ == role::all_or_none) {
      report_.refused += n;
      return false;
    }
    try {
      const auto restarts = table_.rebuild(space_, table_.size(), table_.capacity(), homeless_.data(), n);
      if (restarts) {
        report_.restarts += *restarts + 1;
        return true;
      }
    } catch (const out_of_memory&) {
      if (table_is_ != role::in_use) throw;
    }
    table_.size_ -= n;
    throw error("tilehash: no memory, or no hash function, for a new table, which " + std::to_string(n) +
                " keys needed that lost their places to others: they are not in the table any more");
  }

  // ---- memory ----
  u64 groups() const { return detail::divide_up(n_, detail::window_step); }
  u64 words() const { return groups() * detail::count_pending::words_each; }
  void make_bits() {
    if (pending_ != nullptr) return;
    if (!replacing<Design> && n_ <= insertion::few_items) {
      pending_ = table_.few_bits();
      return;
    }
    bits_ = buffer<u32, Space>(space_, words() + (grows_ ? groups() : 0));
    pending_ = bits_.data();
    if constexpr (replacing<Design>) {
      const u64 under_way = std::min(n_, Space::has_lanes ? u64(1) << 19 : u64(1024));
      homeless_ = buffer<homeless_entry, Space>(space_, homeless_room() + under_way);
      homeless_length_ = buffer<u64, Space>(space_, 1);
      space_.fill(homeless_length_.data(), 1, u64(0));
    }
  }
  u64 homeless_room() const { return n_ / 32 + 1024; }
  homeless_list homeless() const { return {homeless_.data(), homeless_room(), homeless_length_.data()}; }
  detail::outcome_recorder recorder() const { return {table_.counters(), pending_, outcomes_, phase_}; }

  insertion& table_;
  Space& space_;
  Source source_;
  u64 n_;
  outcome* outcomes_;
  Update update_;
  bool grows_;
  role table_is_;

  u64 settled_ = 0;                  // items before are in the table, or refused
  bool changed_ = false;             // so that nothing may throw any more
  u32 phase_ = 0;                    // of the kernels since the last wait
  u32* pending_ = nullptr;           // a bit an item: it has no place yet
  buffer<u32, Space> bits_;          // ... where they are not in the table's own memory; counts of them
  u64 bits_known_ = 0;               // bits of items before mean something
  bool looked_ = false;              // all bits do, and ...
  std::vector<u32> pending_counts_;  // ... so many of each 256 items were pending when it looked
  bool mostly_new_ = false;          // nearly all pending items of the last window were new keys
  u32 restarts_ = 0;
  buffer<homeless_entry, Space> homeless_;
  buffer<u64, Space> homeless_length_;
  insert_report report_;
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
    buffer<char, Space> bits(space, base::few_items / 8);  // of one that we may be in the middle of
    space.copy(bits.data(), this->few_bits(), bits.size());
    if (grows) memory_.resize(bytes);
    const u64 n = size();
    const auto filled = work.run(memory_.data());
    if (!grows) {
      try {
        memory_.resize(bytes);
      } catch (const out_of_memory&) {  // of a resource that cannot even make it smaller: it stays as it is
      }
    }
    view_ = view_type(filled.design, memory_.data());
    view_.design.reshape(memory_.data(), regions);
    this->wipe_rest(space);
    size_ = n - filled.left;
    if (filled.left != 0) place_left(space, filled);
    space.copy(this->few_bits(), bits.data(), bits.size());
    return true;
  } else {
    return false;
  }
}
// Keys that found no place in their regions: by displacement, or in a table that is made anew.
template <class Design, class Space>
void insertion<Design, Space>::place_left(Space& space, const detail::region_filled<Design, Space>& filled) {
  const auto rest = filled.rest();
  const auto few = few_of(rest);
  const bool grows = std::exchange(options_.grow, true);
  u64 refused = filled.left;
  try {
    refused =
        call<std::remove_const_t<decltype(few)>, detail::keep>(*this, space, few, filled.left, nullptr, {})
            .run()
            .refused;
  } catch (const out_of_memory&) {
  }
  options_.grow = grows;
  if (refused == 0) return;
  throw error(
      "tilehash: no memory for " + std::to_string(refused) +
      " keys that found no place when the table was given another size: they are not in the table any "
      "more");
}
template <class Design, class Space>
void insertion<Design, Space>::shrink_if_asked(Space& space) {
  if (static_cast<double>(size()) >= options_.shrink_below * static_cast<double>(capacity())) return;
  const u64 items = size() + size() / 2;
  if (this->capacity_for(items) >= capacity()) return;
  try {
    if (!resize_in_place(space, items)) rebuild(space, items, 0);
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

// ---- items of equal keys combined first -----------------------------------------------------------------

// The table then meets each key once. What is refused stands for all items of its key, so these are counted
// afterwards.
template <class Design, class Space>
template <class Op>
insert_report insertion<Design, Space>::insert_combined(Space& space,
                                                        const detail::array_source<slot_type>& items, u64 n,
                                                        const Op& op) {
  const detail::apply<Op> update{op};
  const auto one_by_one = [&] { return insert(space, items, n, nullptr, update); };
  if constexpr (!detail::can_combine<slot_type>()) {
    return one_by_one();
  } else {
    // From so many items on it is worth it: a block each has something to do, and where keys do not repeat
    // after all, it costs a quarter of what the insert takes.
    if (n < detail::blocks_at_once(space) * 1024 || n < capacity() / 2) return one_by_one();
    detail::combined<slot_type, Space> list;
    buffer<u64, Space> missing;
    try {
      missing = buffer<u64, Space>(space, 1);
      list = detail::combine<slot_type>(space, items, n, op);
    } catch (const out_of_memory&) {
      list.complete = false;
    }
    // In a table that may not grow, a key that comes to it twice could be refused once and taken once.
    const bool each_once = list.left == 0 && list.unique;
    if (!list.complete || (!options_.grow && !each_once)) return one_by_one();
    // So that the rest, whose keys may be in the table by then, finds memory.
    buffer<u32, Space> held(space, list.left / detail::bits_a_word + detail::window_step);
    insert_report report = size() == 0 && list.unique
                               ? insert(space, list.source(), list.size, nullptr, detail::keep{})
                               : insert(space, list.source(), list.size, nullptr, update);
    held = {};
    insert_report rest;
    try {
      rest = insert(space, list.rest(), list.left, nullptr, update);
    } catch (const out_of_memory&) {
      rest.refused = list.left;
    }
    report.inserted += rest.inserted;
    report.restarts += rest.restarts;
    if (report.refused + rest.refused == 0) {
      report.refused = list.illegal;
    } else {
      space.fill(missing.data(), 1, u64(0));
      this->look_up(space, items.keys, n, detail::missing_sink{missing.data()});
      report.refused = read_one(space, missing.data());
    }
    report.present = n - report.inserted - report.refused;
    return report;
  }
}

// ---- the first of equal keys ----------------------------------------------------------------------------

// Each region's build keeps the first of its bin's equal keys. Of those of which it left an item over all
// items are found again (algorithm/contested.hpp) and asked which came first. Where many keys repeat it pays
// to combine them before.
template <class Design, class Space>
std::optional<insert_report> insertion<Design, Space>::fill_first(
    Space& space, const detail::array_source<slot_type>& items, u64 n) {
  if constexpr (detail::builds_firsts<Design>()) {
    constexpr double few_copies = 3;
    constexpr u64 least = u64(1) << (Space::has_lanes ? 20 : 15);  // the host waits for a sample
    const Design layout = view_.design;
    if (n < least || n > this->limit() || n >= ~u32(0) ||
        layout.region_slots() > detail::most_numbered_slots || !partition_pays(space, layout, n, 0))
      return std::nullopt;
    if (detail::sample_keys(space, items.keys, n, 2).more_uneven_than(few_copies)) return std::nullopt;
    try {
      const auto filled = detail::fill_regions<true>(space, layout, items, n, false);
      if (filled.lists_left && filled.left <= n / 8 && filled.unsettled == 0) {
        const insert_report report =
            call<detail::array_source<slot_type>, detail::keep>(*this, space, items, n, nullptr, {})
                .run_filled(filled);
        if (filled.left == 0) return report;
        const detail::contested_keys<Space> left(space, n);
        space.for_each(filled.left, detail::add_left<Design>{filled.spilled, left.filter()});
        const auto contested =
            detail::find_contested(space, layout, items.keys, n, left.filter(), filled.left);
        const auto put = [&](const auto& source, u64 keys) {
          [[maybe_unused]] const insert_report all_present =
              insert(space, source, keys, nullptr, detail::apply<op::assign>{});
        };
        const detail::with_numbers<slot_type> its{items, contested.numbers.data()};
        if (report.refused == filled.illegal &&
            detail::find_first(space, its, contested.size, detail::drawn_seed(), put))
          return report;
      }
    } catch (const out_of_memory&) {
    }
    this->clear(space);
  }
  return std::nullopt;
}

template <class Design, class Space>
insert_report insertion<Design, Space>::insert_first(Space& space,
                                                     const detail::array_source<slot_type>& items, u64 n)
  requires(detail::can_combine<slot_type>())
{
  if (size() == 0) {
    if (const auto report = fill_first(space, items, n)) return *report;
  }
  return combine_first(space, items, n);
}
// Piece by piece, as the table keeps what earlier pieces brought; of a piece each key is put in once. Pieces
// get smaller where memory is short or their keys are too uneven, down to one item, which is its key's first.
template <class Design, class Space>
insert_report insertion<Design, Space>::combine_first(Space& space,
                                                      const detail::array_source<slot_type>& items, u64 n) {
  insert_report total;
  if constexpr (!Space::has_lanes && view_changeable<Design>) {
    // One after the other: few threads share them out no faster than one puts them in.
    if (n < detail::least_to_partition || (sizeof(word) <= 8 && space.threads() <= 2)) {
      constexpr u64 ahead = 16;
      for (u64 i = 0; i < n; ++i) {
        if (i + ahead < n) {
          const detail::query<slot_type> next(items.keys[i + ahead]);
          detail::prefetch(view_.design.address(view_.design.locate(next.bits)));
        }
        const outcome became = insert_one(space, items.keys[i], items.values + i);
        total.inserted += became == outcome::inserted;
        total.refused += became == outcome::refused;
      }
      total.present = n - total.inserted - total.refused;
      return total;
    }
  }
  constexpr u64 most = detail::most_for_first;
  const u64 seed = detail::drawn_seed();
  for (u64 done = 0, piece = most; done < n;) {
    const u64 now = std::min(n - done, piece);
    const detail::array_source<slot_type> its{items.keys + done, items.values + done};
    u64 refused = 0;
    const auto put = [&](const auto& source, u64 keys) {
      const insert_report report = insert(space, source, keys, nullptr, detail::keep{});
      total.inserted += report.inserted;
      total.restarts += report.restarts;
      refused += report.refused;
    };
    try {
      if (now == 1) {
        put(its, 1);
      } else if (!detail::find_first(space, detail::with_numbers<slot_type>{its}, now, seed, put)) {
        piece = (now + 1) / 2;  // what was put in already were firsts
        continue;
      }
    } catch (const out_of_memory&) {
      if (now > detail::least_to_partition) {
        piece = now / 2;
        continue;
      }
      if (total.inserted == 0) throw;
      total.refused += n - done;
      break;
    }
    if (refused != 0 || detail::has_nan<key_type>) {  // a key that was refused stands for all its items
      buffer<u64, Space> missing(space, 1);
      space.fill(missing.data(), 1, u64(0));
      this->look_up(space, its.keys, now, detail::missing_sink{missing.data()});
      total.refused += read_one(space, missing.data());
    }
    done += now;
    piece = std::min(most, 2 * piece);
  }
  total.present = n - total.inserted - total.refused;
  return total;
}

}  // namespace tilehash::inline TILEHASH_ABI::engine

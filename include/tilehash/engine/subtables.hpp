// engine::subtables: tables in several parts, of which one is doubled or halved at a time.
//
//   insert   window -- look -- place -- displace -- update      as engine::insertion; and where items would
//               |                                              fill more than beta of the slots,
//               '--- the smallest subtable is doubled, then the window again
//            many items into an empty table that has room for them go region by region, where the keys have
//            four bytes (designs/dynamic_cuckoo/region_build.hpp); what that leaves goes the way above
//   erase    and where less than alpha is filled, the largest subtable is halved, as long as that is so;
//            where less than a quarter of that is, all moves to a new table at once
//
// A resize takes the subtable's new memory first, fills it from the old, and then puts it in the old one's
// place. Where there is no memory, or what is left over by halving finds no room in the others, the table is
// as it was. So the most memory that is out at once is the table and one new subtable: with d subtables at
// most (d + 2) / (d + 1) of the larger of the sizes before and after.
//
// A call whose items need more than twice the slots makes a new table of that size at once and moves all
// pairs there, as rehash() does; the old one is less than half of it.
//
// Memory while it runs: an eighth of a byte an item; a quarter and a thirty-second of the items' bytes where
// they go by regions; while a subtable is halved, an eighth of a byte for each of its slots.
//
// length: growing, shrinking and inserting share the state of one call.
#pragma once

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <tilehash/core/capacity.hpp>
#include <tilehash/core/error.hpp>
#include <tilehash/core/options.hpp>
#include <tilehash/designs/dynamic_cuckoo/region_build.hpp>
#include <tilehash/designs/dynamic_cuckoo/resize.hpp>
#include <tilehash/engine/call_memory.hpp>
#include <tilehash/engine/insert_phases.hpp>
#include <tilehash/engine/subtables_verbs.hpp>
#include <tilehash/engine/take_over.hpp>
#include <tilehash/kernel/entries.hpp>
#include <tilehash/kernel/erase.hpp>
#include <tilehash/space/buffer.hpp>
#include <tilehash/table_view.hpp>

#include <tilehash/core/prologue.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace engine {

template <class Design, class Space>
class subtables {
  static constexpr u32 parts = Design::subtables;
  using slot_type = typename Design::slot_type;
  using part = typename Design::part;
  using shape_type = typename Design::shape_type;

 public:
  using key_type = typename Design::key_type;
  using mapped_type = typename Design::mapped_type;
  using view_type = table_view<Design>;
  template <class Base>
  using verbs = tilehash::verbs::of_subtables<Base>;

  // Throws invalid_argument (options), out_of_memory.
  subtables(Space& space, u64 items, const table_options& options) : options_(permitted(options)) {
    if (!options_.seed) options_.seed = detail::drawn_seed();
    shape_ = Design::shape_for(items, options_.load_factor);
    reserved_ = items;
    design_ = Design(detail::seed_of(options_), shape_.base);
    const u64 aside = (part::bytes(1) + 63) / 64 * 64;
    fixed_ = buffer<char, Space>(space, aside + detail::call_memory::bytes);
    space.fill(fixed_.data(), fixed_.bytes(), char(0));
    design_.put_aside(fixed_.data());
    calls_ = detail::call_memory(fixed_.data() + aside);
    for (u32 t = 0; t < parts; ++t) adopt(t, memory_for(space, shape_.buckets_of(t)));
    clear(space);
  }

  subtables clone(Space& space) const {
    require_no_doubling();
    return subtables(*this, space);
  }
  // What was moved from has no memory, and answers as an empty table.
  subtables(subtables&& other) noexcept : options_(other.options_) { swap(other); }
  subtables& operator=(subtables&& other) noexcept {
    subtables(std::move(other)).swap(*this);
    return *this;
  }
  void swap(subtables& other) noexcept {
    std::swap(options_, other.options_);
    std::swap(shape_, other.shape_);
    std::swap(design_, other.design_);
    fixed_.swap(other.fixed_);
    for (u32 t = 0; t < parts; ++t) memory_[t].swap(other.memory_[t]);
    doubled_.swap(other.doubled_);
    std::swap(before_, other.before_);
    std::swap(doubles_, other.doubles_);
    std::swap(calls_, other.calls_);
    std::swap(reserved_, other.reserved_);
    std::swap(size_, other.size_);
    std::swap(weighed_, other.weighed_);
    std::swap(weights_, other.weights_);
    std::swap(unsettled_, other.unsettled_);
  }
  bool has_memory() const { return fixed_.data() != nullptr; }
  Space* home() const { return fixed_.space(); }

  // As of engine::slots: without what calls that did not wait have changed; with it; and the two made one.
  u64 size() const { return size_; }
  u64 live_size() const { return unsettled_ ? size_ + calls_.size_change(*home()) : size_; }
  void settle(Space& space) {
    if (!unsettled_) return;
    size_ += calls_.size_change(space);
    calls_.start_size(space);
    unsettled_ = false;
  }
  u64 capacity() const { return has_memory() ? design_.capacity() : 0; }
  u64 bytes() const {
    u64 all = fixed_.bytes() + doubled_.bytes();
    for (const auto& m : memory_) all += m.bytes();
    return all;
  }
  view_type view() const { return {design_}; }
  const table_options& options() const { return options_; }

  template <class Keys, class Sink>
  void look_up(Space& space, Keys keys, u64 n, Sink sink) const {
    if (has_memory())
      detail::look_up(space, design_, {}, keys, n, sink);
    else
      detail::look_up_nothing<typename view_type::hit>(space, n, sink);
  }

  // ---- insert ----
  template <class Source, class Update>
  insert_report insert(Space& space, const Source& source, u64 n, outcome* outcomes, const Update& update) {
    if (n == 0) return {};
    if (!std::same_as<Update, detail::keep_stored>)
      require_no_doubling();  // values of the frozen would be lost
    return call<Source, Update>(*this, space, source, n, outcomes, update, role::in_use).run();
  }
  template <class Op>
  insert_report insert_combined(Space& space, const detail::array_source<slot_type>& items, u64 n,
                                const Op& op) {
    return insert(space, items, n, nullptr, detail::apply<Op>{op});
  }
  template <class Source, class Update>
  void insert_async(Space& space, const Source& source, u64 n, insert_report* report, const Update& update) {
    detail::require(!options_.grow,
                    "only tables that do not grow (grow = false) have inserts that do not wait");
    if (!std::same_as<Update, detail::keep_stored>) require_no_doubling();
    detail::insert_phases<Design, Space, Source, Update> phases(space, source, n, nullptr, update, calls_);
    phases.make_bits();
    try {
      if (n != 0) phases.place(placing(), 0, n);
      if (n != 0) phases.move(design_, 0, n);
    } catch (...) {
      recover(space);
      throw;
    }
    detail::call_end end = calls_.unwaited(n, phases.phase());
    end.report = report;
    unsettled_ = true;
    detail::finish_call(space, end);
  }
  template <class Source>
  insert_report build(Space& space, const Source& source, u64 n) {
    subtables fresh(space, n, options_);
    fresh.reserved_ = 0;
    const insert_report report = fresh.fill(space, source, n);
    *this = std::move(fresh);
    return report;
  }
  // Into a table that nobody has seen: where memory ends it throws, and the table is given up.
  template <class Source>
  insert_report fill(Space& space, const Source& source, u64 n) {
    return call<Source, detail::keep_stored>(*this, space, source, n, nullptr, {}, role::fresh).run();
  }

  // ---- erase ----
  u64 erase(Space& space, const key_type* keys, u64 n) {
    require_no_doubling();
    detail::erase(space, design_, {}, keys, n, calls_.counters());
    detail::finish_call(space, calls_.waited(n, 0));
    const u64 gone = calls_.counted(space)[detail::counter::gone];
    size_ -= gone;
    if (options_.grow && gone != 0) shrink(space);
    weigh(space);
    return gone;
  }
  void erase_async(Space& space, const key_type* keys, u64 n, u64* erased) {
    require_no_doubling();
    detail::erase(space, design_, {}, keys, n, calls_.counters());
    detail::call_end end = calls_.unwaited(n, 0);
    end.erased = erased;
    unsettled_ = true;
    detail::finish_call(space, end);
  }
  void clear(Space& space) {
    doubled_ = {};
    doubles_ = false;
    design_.freeze(~0U);
    for (u32 t = 0; t < parts; ++t) wipe(space, design_.at(t));
    wipe(space, design_.at(parts));
    space.fill(fixed_.data() + (part::bytes(1) + 63) / 64 * 64, detail::call_memory::bytes, char(0));
    size_ = 0;
    unsettled_ = false;
    weigh_evenly();
  }

  // ---- memory ----
  // Room for so many items in all, which halving leaves; never shrinks.
  u64 reserve(Space& space, u64 items) {
    require_no_doubling();
    reserved_ = std::max(reserved_, items);
    if (Design::capacity_for(items, options_.load_factor) <= capacity()) return 0;
    return rehash(space, items);
  }
  // Moves all to memory sized for max(items, size()), with another hash function. Gives how often it started
  // anew.
  u64 rehash(Space& space, u64 items) {
    require_no_doubling();
    const auto restarts = rebuild(space, std::max(items, size()), 0);
    if (!restarts)
      throw error("tilehash: the items could not be placed with " + std::to_string(max_rebuilds) +
                  " hash functions; ask for a lower load factor, or take another hash");
    reserved_ = items;
    return *restarts;
  }
  // Memory sized for size(), where that is less. Gives how often it started anew.
  u64 shrink_to_fit(Space& space) {
    require_no_doubling();
    const u64 restarts = rebuild(space, size(), 0, capacity()).value_or(0);
    reserved_ = 0;
    return restarts;
  }
  // Doubles the smallest subtable. Throws out_of_memory; then, all is as it was. O(its slots).
  void double_one(Space& space) {
    begin_doubling(space);
    run_doubling(space);
    end_doubling(space);
  }
  // The same in three steps, the second of which may run beside lookups and inserts. Takes the memory and
  // freezes the subtable. Throws out_of_memory.
  void begin_doubling(Space& space) {
    require_no_doubling();
    const u32 t = shape_.smallest();
    doubled_ = memory_for(space, 2 * shape_.buckets_of(t));
    before_ = design_;
    design_.freeze(t);
    doubles_ = true;
  }
  // Reads nothing but what stands still meanwhile. O(the subtable's slots).
  void run_doubling(Space& space) const {
    const u32 t = shape_.smallest();
    const part from = before_.at(t), to(doubled_.data(), 2 * from.buckets, shape_.base);
    wipe_locks(space, to);
    space.for_each(from.slots(), detail::double_subtable<Design>{before_, t, from, to});
  }
  bool doubles() const { return doubles_; }
  void end_doubling(Space& /*space*/) {
    const u32 t = shape_.smallest();
    design_.freeze(~0U);
    doubles_ = false;
    ++shape_.level[t];
    adopt(t, std::move(doubled_));
    weights_[t] *= 2;  // n doubles, m stays
    design_.weigh(scaled(weights_).of);
  }
  // Throws invalid_argument.
  void require_no_doubling() const {
    detail::require(!doubles_, "a subtable is being doubled: end_doubling() comes first");
  }
  // Halves the largest subtable. False, and all is as it was, where there is no memory or no room for what is
  // left over. O(its slots).
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
  static constexpr u32 max_rebuilds = 64;
  static constexpr u32 restarts_before_growth = 4;
  // More room does not help keys that have one hash whatever the seed.
  static constexpr u64 slots_without_growth = 64;
  using role = detail::insert_role;
  template <class Source, class Update>
  class call;

  // A copy. The change of the size that is not settled is copied with the memory.
  subtables(const subtables& other, Space& space)
      : options_(other.options_),
        shape_(other.shape_),
        design_(other.design_),
        fixed_(detail::copy_of(other.fixed_, space)),
        reserved_(other.reserved_),
        size_(other.size_),
        weighed_(other.weighed_),
        unsettled_(other.unsettled_) {
    std::copy(other.weights_, other.weights_ + parts, weights_);
    const u64 aside = (part::bytes(1) + 63) / 64 * 64;
    design_.put_aside(fixed_.data());
    calls_ = detail::call_memory(fixed_.data() + aside);
    for (u32 t = 0; t < parts; ++t) adopt(t, detail::copy_of(other.memory_[t], space));
  }

  static table_options permitted(table_options options) {
    constexpr double highest = Design::max_load_factor, d = parts;
    detail::require(options.beta > 0 && options.beta < 1, "beta must be above 0 and below 1");
    detail::require(options.alpha > 0 && options.alpha < 1, "alpha must be above 0 and below 1");
    detail::require(options.alpha < options.beta * d / (d + 1),
                    "alpha must be below beta * d / (d + 1) for d subtables, as doubling one of them leaves "
                    "no more than that filled");
    const bool legal = options.load_factor <= detail::max_load_factor;
    if (options.grow && legal && options.load_factor > highest) options.load_factor = highest;
    return options;
  }

  buffer<char, Space> memory_for(Space& space, u64 buckets) const {
    return buffer<char, Space>(space, part::bytes(buckets));
  }
  void adopt(u32 t, buffer<char, Space> memory) {
    memory_[t] = std::move(memory);
    design_.put(t, part(memory_[t].data(), shape_.buckets_of(t), shape_.base));
  }
  static void wipe_locks(Space& space, const part& p) {
    space.fill(p.locks, part::lock_bytes(p.buckets) / sizeof(u32), 0U);
  }
  static void wipe(Space& space, const part& p) {
    space.fill(p.keys, p.slots(), slot_type::empty_word);
    wipe_locks(space, p);
  }

  // Items at which subtables are doubled.
  u64 limit() const {
    const double most =
        std::min(std::max<double>(options_.beta, options_.load_factor), Design::max_load_factor);
    return static_cast<u64>(std::ceil(most * static_cast<double>(capacity())));
  }

  // After a call that ended in the middle, as when a user's op throws: the size is what the table holds. (A
  // GPU's kernels throw nothing, and after an error of its own there is nothing to count.)
  void recover(Space& space) {
    if constexpr (!Space::has_lanes) {
      calls_.clear(space);
      size_ = detail::count_entries(space, view());
      unsettled_ = false;
    }
  }

  // The design as what places items sees it.
  Design placing() const {
    Design d = design_;
    d.begin_empty(!unsettled_ && size_ == 0 && !doubles_);
    return d;
  }

  // ---- the draw ----
  struct draw {
    u32 of[parts];
  };
  // Weights as the design takes them: whole numbers up to 2^16.
  static draw scaled(const double (&weights)[parts]) {
    const double most = *std::max_element(weights, weights + parts);
    draw all;
    for (u32 t = 0; t < parts; ++t) all.of[t] = std::max(1U, static_cast<u32>(weights[t] / most * 0xffff));
    return all;
  }
  void weigh_evenly() {
    for (u32 t = 0; t < parts; ++t) weights_[t] = static_cast<double>(shape_.buckets_of(t));
    design_.weigh(scaled(weights_).of);
    weighed_ = 0;
  }
  // By theorem 1, where the size has changed by an eighth since. How many items a subtable has is known from
  // a sample of its buckets. Waits.
  void weigh(Space& space) {
    const u64 change = size_ > weighed_ ? size_ - weighed_ : weighed_ - size_;
    if (change <= weighed_ / 8) return;
    constexpr u32 samples = 1024;
    u64* const counts = calls_.sums();
    space.fill(counts, parts, u64(0));
    space.for_each(u64(samples) * parts, detail::sample_subtables<Design>{design_, samples, counts});
    const auto counted = calls_.counted(space);
    for (u32 t = 0; t < parts; ++t) {
      const double slots = static_cast<double>(design_.at(t).slots());
      const double items = static_cast<double>(counted.of[t]) * slots / (samples * Design::bucket_slots);
      weights_[t] = slots / std::max(1.0, items * (items - 1) / 2);
    }
    design_.weigh(scaled(weights_).of);
    weighed_ = size_;
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
  // Where so little is left that each subtable would be halved twice, that little moves to a new table,
  // filled half-way between alpha and beta; not to a smaller one than halving ends with.
  void shrink_at_once(Space& space) {
    if (4 * static_cast<double>(size_) >= options_.alpha * static_cast<double>(capacity())) return;
    const double middle = (options_.alpha + options_.beta) / 2;
    const u64 least = u64(parts) * shape_.base * Design::bucket_slots;
    const u64 items =
        std::max({reserved_, static_cast<u64>(static_cast<double>(size_) * options_.load_factor / middle),
                  static_cast<u64>(static_cast<double>(least) * options_.load_factor)});
    if (2 * Design::capacity_for(items, options_.load_factor) > capacity()) return;
    try {
      rebuild(space, items, 0, capacity());
    } catch (const out_of_memory&) {  // then one after the other, which takes less
    }
  }
  // The draw keeps small subtables full and large ones empty, so of those of one size the last that was small
  // may hold more than half of it has room for. A weight is the larger the fewer items there are.
  u32 emptiest_of_the_largest() const {
    u32 least = shape_.largest();
    for (u32 t = 0; t < parts; ++t) {
      if (shape_.level[t] == shape_.level[least] && weights_[t] > weights_[least]) least = t;
    }
    return least;
  }
  bool halve(Space& space, u32 t) {
    const u64 buckets = shape_.buckets_of(t) / 2, slots = buckets * Design::bucket_slots;
    auto memory = memory_for(space, buckets);
    if (size() == 0) {
      wipe(space, part(memory.data(), buckets, shape_.base));
      end_halving(t, std::move(memory));
      return true;
    }
    const u64 words = detail::divide_up(slots, detail::window_step) * detail::count_pending::words_each;
    const buffer<u32, Space> left_over(space, words);
    const part from = design_.at(t), to(memory.data(), buckets, shape_.base);
    const detail::left_over_source<Design> source{from, left_over.data()};
    detail::insert_phases<Design, Space, detail::left_over_source<Design>, detail::keep_stored> phases(
        space, source, slots, nullptr, {}, calls_);
    space.fill(left_over.data(), words, 0U);
    wipe_locks(space, to);
    constexpr u32 each = Space::has_lanes ? 1 : Design::bucket_slots;
    space.for_each(slots / each, detail::halve_subtable<Design, each>{from, to, left_over.data()});
    phases.begin_with(left_over.data());
    Design others = design_;
    others.close(t);
    const auto take_back = [&] {
      space.for_each(slots, detail::erase_source<Design, detail::left_over_source<Design>>{others, source});
    };
    phases.place(others, 0, slots);
    phases.collect();
    try {
      for (u32 pass = 0; phases.left() != 0 && pass < 3; ++pass) {
        phases.move(others, 0, slots);
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
    weights_[t] /= 2;  // nearly, as some of its items stand in the others now
    design_.weigh(scaled(weights_).of);
  }

  // ---- a new table ----
  // Moves all items to a table of another hash function; again, larger, while they do not fit. Gives how
  // often they did not; nothing, and all is as it was, where they never did in less than `capacity_limit`.
  std::optional<u64> rebuild(Space& space, u64 items, u64 least_capacity, u64 capacity_limit = ~u64(0)) {
    const u64 n = size(), most = std::max(items, slots_without_growth * n);
    table_options fixed = options_;
    fixed.grow = false;
    for (u64 tries = 0; tries < max_rebuilds; ++tries) {
      fixed.seed = detail::seed_of(fixed) + 1;
      while (Design::capacity_for(items, fixed.load_factor) < least_capacity) items += items / 64 + 1;
      if (Design::capacity_for(items, fixed.load_factor) >= capacity_limit) return std::nullopt;
      subtables fresh(space, items, fixed);
      using source = detail::entries_source<Design>;
      const auto report = call<source, detail::keep_stored>(fresh, space, source{design_}, design_.entries(),
                                                            nullptr, {}, role::all_or_none, n)
                              .run();
      if (report.refused == 0) {
        space.copy(fresh.calls_.few_bits(), calls_.few_bits(), detail::call_memory::few_items / 8);
        fresh.options_.grow = options_.grow;
        fresh.reserved_ = reserved_;
        *this = std::move(fresh);
        return tries;
      }
      items = std::min(items + items / 8 + 1, most);
    }
    return std::nullopt;
  }

  table_options options_;
  shape_type shape_;
  Design design_;
  buffer<char, Space> fixed_;  // the bucket aside, and what calls under way need
  buffer<char, Space> memory_[parts];
  buffer<char, Space> doubled_;  // of the smallest subtable, while it is doubled
  Design before_;                // ... as inserts beside that do not change it
  bool doubles_ = false;
  detail::call_memory calls_;
  u64 reserved_ = 0;  // items that there was to be room for
  u64 size_ = 0;
  u64 weighed_ = 0;             // the size for which the draw was weighed
  double weights_[parts] = {};  // ... as theorem 1 has them, up to a factor
  bool unsettled_ = false;      // calls that did not wait may have changed the size
};

// One insert.
template <class Design, class Space>
template <class Source, class Update>
class subtables<Design, Space>::call {
  static constexpr bool updates = !std::same_as<Update, detail::keep_stored>;
  static constexpr bool region_built =
      sizeof(typename Design::word) == 4 && !detail::is_subtables_spill<Source>;
  static constexpr u32 passes = 3;  // for what met locks
  // An empty table has nothing to move, and soon 64 times as much (grow_for()).
  static constexpr u64 first_room = 64 * detail::window_step;

 public:
  call(subtables& table, Space& space, const Source& source, u64 n, outcome* outcomes, const Update& update,
       role table_is)
      : call(table, space, source, n, outcomes, update, table_is, n) {}
  // ... of which not more than `items` are any.
  call(subtables& table, Space& space, const Source& source, u64 n, outcome* outcomes, const Update& update,
       role table_is, u64 items)
      : table_(table),
        space_(space),
        source_(source),
        n_(n),
        items_(items),
        outcomes_(outcomes),
        grows_(table.options_.grow && !table.doubles_),
        table_is_(table_is),
        phases_(space, source, n, outcomes, update, table.calls_) {}

  insert_report run() {
    try {
      if (put_by_regions()) settled_ = n_;
      if (settled_ < n_ && !has_bits()) {
        while (settled_ < n_) put_next_piece();
      }
      while (settled_ < n_) put_next_window();
      while (grows_ && table_.size_ > table_.limit() && double_one()) {  // the last window's few too many
      }
      table_.weigh(space_);
    } catch (const out_of_memory&) {  // of a table that is given up
      throw;
    } catch (...) {
      if (detail::keeps_table(table_is_)) table_.recover(space_);
      throw;
    }
    report_.present = n_ - report_.inserted - report_.refused;
    return report_;
  }

 private:
  // All items into an empty table that has room for them. False where that does not pay, or where it is not
  // known what it left; then the windows find out.
  bool put_by_regions() {
    if constexpr (!updates && region_built) {
      const Design& design = table_.design_;
      if (outcomes_ != nullptr || table_.size_ != 0 || table_.doubles_ || items_ > table_.limit() ||
          !design.has_even_regions() || !detail::subtables_regions_pay(space_, design, items_))
        return false;
      const auto filled = [&] {
        std::optional<decltype(detail::fill_subtables(space_, design, source_, n_, items_))> result;
        try {
          result = detail::fill_subtables(space_, design, source_, n_, items_);
        } catch (const out_of_memory&) {
          for (u32 t = 0; t < parts; ++t) wipe(space_, design.at(t));
        }
        return result;
      }();
      return filled && take_over(*filled);
    } else {
      return false;
    }
  }
  template <class Filled>
  bool take_over(const Filled& filled) {
    table_.size_ += filled.inserted;
    const role rest_is = detail::keeps_table(table_is_) ? role::goes_on : table_is_;
    return detail::take_over(report_, filled, [&](const auto& rest) {
      return call<std::remove_cvref_t<decltype(rest)>, Update>(table_, space_, rest, filled.left, nullptr, {},
                                                               rest_is)
          .run();
    });
  }
  void put_next_window() {
    u64 end = n_, wanted = looked_ ? pending_from(settled_) : n_ - settled_;
    if (grows_ && table_.size_ + wanted > table_.limit()) {
      if (!looked_ && table_.size_ != 0) return look();
      if (table_.size_ >= table_.limit()) return grow_for(wanted);
      const u64 room = table_.size_ == 0 ? first_room : detail::least_room;
      if (table_.limit() < room && table_.limit() < wanted && rebuild(table_.size_ + std::min(wanted, room)))
        return;
      end = window_end(wanted);
    }
    const u64 before = table_.size_, left = put(end), fresh = table_.size_ - before;
    mostly_new_ = fresh >= wanted - wanted / 16;
    if (fresh < wanted / 2) looked_ = false;  // copies: their keys may be there now
    if (left != 0 && grows_ && make_room()) return;
    report_.refused += left == 0 ? 0 : absent_until(end);
    settled_ = end;
  }
  // How many of the window's pending items have keys that are absent. Of equal keys one may have met locks
  // until its tries were spent, and another found a place.
  u64 absent_until(u64 end) {
    if (table_is_ != role::all_or_none) {
      phases_.look_until(table_.design_, settled_, end);
      collect();
    }
    return phases_.left();
  }
  // False where there is no memory for the bits of all items.
  bool has_bits() {
    try {
      phases_.make_bits(grows_);
      return true;
    } catch (const out_of_memory&) {
      if (!detail::keeps_table(table_is_)) throw;
      return false;
    }
  }
  // As many items as the table's own memory has bits for.
  void put_next_piece() {
    const u64 end = std::min(n_, settled_ + detail::call_memory::few_items);
    phases_.use_few_bits(settled_);
    u64 left = put(end);
    while (left != 0 && grows_ && make_room()) left = put(end);
    report_.refused += left == 0 ? 0 : absent_until(end);
    settled_ = end;
  }
  u64 pending_from(u64 first) const {
    u64 sum = 0;
    for (u64 group = first / detail::window_step; group < pending_counts_.size(); ++group)
      sum += pending_counts_[group];
    return sum;
  }
  // The end of the next window: as many pending items as there is room for. `wanted` becomes their number.
  u64 window_end(u64& wanted) const {
    const u64 room = table_.limit() - table_.size_;
    u64 end = settled_;
    for (wanted = 0; end < n_ && wanted < room; end += detail::window_step)
      wanted += looked_ ? pending_counts_[end / detail::window_step] : detail::window_step;
    return std::min(end, n_);
  }

  void look() {
    phases_.look(table_.design_, settled_);
    collect();
    looked_ = true;
    if (phases_.left() == 0)
      settled_ = n_;
    else
      pending_counts_ = phases_.pending_counts();
  }
  // Puts the window up to `end` in; gives how many of its items are pending still.
  u64 put(u64 end) {
    const u64 few = (end - settled_) / 64 + 64;
    phases_.place(table_.placing(), settled_, end);
    for (u32 pass = 0; pass < passes; ++pass) {
      bool moved = true;
      try {
        phases_.move(table_.design_, settled_, end);
      } catch (const out_of_memory&) {  // of a CPU's scratch: what waits goes on waiting
        if (!detail::keeps_table(table_is_)) throw;
        moved = false;
      }
      if (!moved && pass != 0) break;  // nothing ran that could count what is left
      collect();
      if (!moved || phases_.left() == 0 || phases_.left() > few) break;  // many found no way: no more will
    }
    return phases_.left();
  }
  void collect() {
    const auto counts = phases_.collect();
    table_.size_ += counts[detail::counter::inserted];
    report_.inserted += counts[detail::counter::inserted];
    report_.refused += counts[detail::counter::illegal];
  }

  // ---- growth ----
  // The window's items found no place. Below the limit that is the hash function's fault.
  bool make_room() {
    const bool full = table_.size_ >= table_.limit();
    if (!full && restarts_++ < restarts_before_growth) return rebuild(table_.size_);
    if (!full && table_.size_ < table_.capacity() / slots_without_growth) return false;
    return double_one();
  }
  // Where nearly all of what is pending was new so far, so will the rest be.
  void grow_for(u64 wanted) {
    const u64 all = table_.size_ + wanted;
    const u64 items = mostly_new_ ? detail::room_to_grow_to(table_.size_, all) : 0;
    if (items > 2 * table_.limit()) {
      rebuild(items + items / 64);
      return;
    }
    do {
      if (!double_one()) return;
    } while (table_.limit() < items);
  }
  bool double_one() {
    return grow([&] {
      table_.double_one(space_);
      return std::optional<u64>(0);
    });
  }
  bool rebuild(u64 items) {
    return grow([&] { return table_.rebuild(space_, items, table_.capacity()); });
  }
  // Where there is no memory, or no hash function, the rest of the call makes do with the table as it is.
  template <class Step>
  bool grow(const Step& step) {
    try {
      const std::optional<u64> restarts = step();
      grows_ = restarts.has_value();
      if (grows_) report_.restarts += *restarts + 1;
    } catch (const out_of_memory&) {
      if (!detail::keeps_table(table_is_)) throw;
      grows_ = false;
    }
    if (!grows_) return false;
    phases_.moved_to(table_.calls_);
    return true;
  }

  subtables& table_;
  Space& space_;
  Source source_;
  u64 n_, items_;
  outcome* outcomes_;
  bool grows_;
  role table_is_;
  detail::insert_phases<Design, Space, Source, Update> phases_;

  u64 settled_ = 0;                  // items before are in the table, or refused
  bool looked_ = false;              // all bits are known, and ...
  std::vector<u32> pending_counts_;  // ... so many were when it looked
  bool mostly_new_ = false;          // nearly all pending items of the last window were new keys
  u32 restarts_ = 0;
  insert_report report_;
};

}  // namespace engine
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash

#include <tilehash/core/epilogue.hpp>

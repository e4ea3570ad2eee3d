// table<Design, Space>: owns the memory of a design and has every bulk verb, written once for all designs.
//
//   user -> table (sizes, growth, reports) -> bulk (schedules) -> design (where to look, what to change)
//
// Every verb takes the space first and waits until its answers are there, unless its name ends in _async.
// Arrays given to it are memory of that space. One host thread at a time may call a verb that changes a
// table; lookups may run side by side.
//
// When a call throws, the table is as it was before it. Growth that finds no memory does not throw: the items
// that found no room are reported as refused, and `outcomes` names them.
// length: every bulk verb of every design is here, once.
#pragma once

#include <algorithm>
#include <numeric>
#include <span>
#include <type_traits>
#include <utility>

#include <tilehash/algorithm/aggregate.hpp>
#include <tilehash/core/capacity.hpp>
#include <tilehash/core/error.hpp>
#include <tilehash/designs/concepts.hpp>
#include <tilehash/kernel/displace.hpp>
#include <tilehash/kernel/erase.hpp>
#include <tilehash/kernel/lookup.hpp>
#include <tilehash/kernel/upsert.hpp>
#include <tilehash/space/buffer.hpp>
#include <tilehash/table_reads.hpp>
#include <tilehash/table_view.hpp>

namespace tilehash {

struct table_options {
  double load_factor = 0.8;  // items per slot that the table is sized for, above 0 and at most 0.98
                             // (`chained`: items per bucket, at most 10). Where a design for inserts takes
                             // less, a table that may grow is made for that; any other refuses more.
  u64 seed = 0x7469'6c65'6861'7368;  // of the hash function; a rebuild takes the next one
  bool grow =
      true;  // make room for all items; false: keep the capacity and report what does not fit as refused
  bool reuse_ids = true;  // `indexed`: new keys get the ids of erased ones
};

template <class Design, class Space>
class table : public detail::table_reads<table<Design, Space>, Space, typename Design::key_type,
                                         typename Design::mapped_type> {
  using reads = detail::table_reads<table, Space, typename Design::key_type, typename Design::mapped_type>;

 public:
  using design_type = Design;
  using space_type = Space;
  using key_type = typename Design::key_type;
  using mapped_type = typename Design::mapped_type;
  using hasher = typename Design::hasher;
  using size_type = u64;
  using view_type = table_view<Design>;
  static constexpr bool is_set = std::is_void_v<mapped_type>;

  using typename reads::keys_in;
  using typename reads::value_element;  // of value arrays; in a set no verb takes one
  using typename reads::values_in;

  // An empty table with room for `items` at the options' load factor. O(capacity). Throws invalid_argument,
  // out_of_memory.
  explicit table(Space& space, u64 items = 0, table_options options = {}) : options_(permitted(options)) {
    adopt(make(space, bulk_built<Design> ? 0 : items, options_.seed));  // what is built in bulk starts empty
  }

  u64 size() const { return size_; }
  u64 capacity() const { return view_.design.capacity(); }
  double load_factor() const { return static_cast<double>(size_) / static_cast<double>(capacity()); }
  u64 bytes() const { return memory_.bytes(); }  // all memory the table holds
  bool empty() const { return size_ == 0; }

  // What kernels and threads of the user's own look keys up in: valid until the table changes its memory.
  view_type view() const { return view_; }

  // ---- build: replaces the contents by these items, in memory sized for them ----
  insert_report build(Space& space, keys_in keys, values_in values)
    requires(!is_set)
  {
    detail::require(keys.size() == values.size(), "build: keys and values differ in length");
    space.check_pointer(values.data(), "build: the values");
    return build_from(space, keys, values.data());
  }
  insert_report build(Space& space, keys_in keys)
    requires is_set
  {
    return build_from(space, keys, nullptr);
  }

  // ---- insert: a key that is in the table keeps its value; of equal keys in one call any one wins ----
  // `outcomes`, when not empty, receives what became of each item.
  insert_report insert(Space& space, keys_in keys, values_in values, std::span<outcome> outcomes = {})
    requires(insertable<Design> && !is_set)
  {
    detail::require(keys.size() == values.size(), "insert: keys and values differ in length");
    space.check_pointer(values.data(), "insert: the values");
    return insert_checked(space, keys, values.data(), outcomes, detail::keep{});
  }
  insert_report insert(Space& space, keys_in keys, std::span<outcome> outcomes = {})
    requires(insertable<Design> && is_set)
  {
    return insert_checked(space, keys, nullptr, outcomes, detail::keep{});
  }

  // ---- insert, or change the value of a key that is in the table ----
  // A key that is there counts as present, as do all but one of equal keys in one call.

  // The value given takes the place of the one there; of equal keys in one call any one wins.
  insert_report insert_or_assign(Space& space, keys_in keys, values_in values,
                                 std::span<outcome> outcomes = {})
    requires(insertable<Design> && !is_set)
  {
    return insert_or_apply(space, keys, values, op::assign{}, outcomes);
  }
  // The value becomes op(stored, given): sum, minimum, maximum, count, mean (core/op.hpp) or a function
  // of your own, on a GPU a __device__ functor. Every item that is not refused counts exactly once, in no
  // given order. Where many items come and op is associative, those of equal keys are combined first, in
  // memory of 2.6 times the items' bytes while the call runs; where that is not to be had, each item meets
  // the table.
  template <combines<value_element> Op>
  insert_report insert_or_apply(Space& space, keys_in keys, values_in values, Op op,
                                std::span<outcome> outcomes = {})
    requires(insertable<Design> && !is_set && !lifts<Op, value_element>)
  {
    detail::require(keys.size() == values.size(), "insert_or_apply: keys and values differ in length");
    space.check_pointer(values.data(), "insert_or_apply: the values");
    return apply(space, keys, values.data(), op, outcomes);
  }
  // ... of `mean` numbers, in a table of mean_of<T>. (Ops like it take memory for n values while they run.)
  template <lifts<value_element> Op>
  insert_report insert_or_apply(Space& space, keys_in keys,
                                std::span<const given_to<Op, value_element>> given, Op op,
                                std::span<outcome> outcomes = {})
    requires(insertable<Design> && !is_set)
  {
    detail::require(keys.size() == given.size(), "insert_or_apply: keys and values differ in length");
    space.check_pointer(given.data(), "insert_or_apply: the values");
    return apply(space, keys, detail::lift<value_element, Op>(space, given.data(), given.size()).data(), op,
                 outcomes);
  }
  // ... of `count` keys alone.
  template <lifts_nothing<value_element> Op>
  insert_report insert_or_apply(Space& space, keys_in keys, Op op, std::span<outcome> outcomes = {})
    requires(insertable<Design> && !is_set)
  {
    const nothing* const none = nullptr;
    return apply(space, keys, detail::lift<value_element, Op>(space, none, keys.size()).data(), op, outcomes);
  }

  // ---- erase: how many of these keys were in the table and are gone ----
  u64 erase(Space& space, keys_in keys)
    requires erasable<Design>
  {
    space.check_pointer(keys.data(), "erase: the keys");
    buffer<u64, Space> missing(space, 1);
    space.fill(missing.data(), 1, u64(0));
    detail::erase(space, view_.design, view_.sentinels, keys.data(), keys.size(), missing.data());
    const u64 n = keys.size() - read_one(space, missing.data());
    size_ -= n;
    return n;
  }

  // ---- what adaptors stand on ----
  // Does not wait.
  // sink(i, hit) for the i-th of n keys, which may be reckoned on the way: keys[i].
  template <class Keys, class Sink>
  void look_up_each(Space& space, Keys keys, u64 n, Sink sink) const {
    if constexpr (rowed<Design>)
      detail::look_up(space, view_.design, keys, n, sink);
    else
      detail::look_up(space, view_.design, view_.sentinels, keys, n, sink);
  }
  // Inserts the items that source(0), ... source(n - 1) give (core/item.hpp), as insert() does.
  template <class Source>
  insert_report insert_each(Space& space, const Source& source, u64 n)
    requires insertable<Design>
  {
    return insert_items(space, source, n, nullptr, detail::keep{});
  }
  // The same for build().
  template <class Source>
  insert_report build_each(Space& space, const Source& source, u64 n)
    requires(!rowed<Design>)
  {
    if constexpr (bulk_built<Design>) {
      return build_at_once(space, source, n);
    } else {
      table fresh(make(space, n, options_.seed, true), options_);
      insert_report report;
      if (!fresh.insert_partitioned(space, detail::from_source(source), n, report))
        report = fresh.insert_items(space, source, n, nullptr, detail::keep{});
      *this = std::move(fresh);
      return report;
    }
  }
  // The design of a table made for `items`, without its memory: it knows where a key would go.
  Design layout_for(u64 items) const
    requires partition_built<Design>
  {
    return Design(nullptr, capacity_for(items), options_.seed, options_.load_factor);
  }
  // build_each() for n items of a source that also stand in bins, one for each region of layout_for(room) and
  // none larger than it; partition_pays() must hold for `room` items.
  template <class Source, class Bins>
  insert_report build_from_bins(Space& space, const Source& source, const Bins& bins, u64 n, u64 room)
    requires partition_built<Design>
  {
    table fresh(make(space, room, options_.seed, true), options_);
    insert_report report;
    fresh.finish_partitioned(space, detail::from_source(source), n,
                             fresh.view_.design.insert_bins(space, bins, n), report);
    *this = std::move(fresh);
    return report;
  }

  // ---- memory ----
  // Removes all items and keeps the capacity.
  void clear(Space& space) {
    if constexpr (rowed<Design>)
      adopt(make(space, 0, options_.seed));
    else {
      wipe_slots(space, view_.design);
      wipe_rest(space, memory_.data(), view_.design);
      size_ = 0;
    }
  }
  // Makes room for `items` in all at the options' load factor; never shrinks.
  insert_report reserve(Space& space, u64 items)
    requires insertable<Design>
  {
    return capacity_for(items) > capacity() ? rehash(space, items) : insert_report{};
  }
  // Moves the contents to memory sized for max(items, size()), with the next hash function, and so gets rid
  // of what erased keys left behind. O(old + new capacity).
  insert_report rehash(Space& space, u64 items)
    requires insertable<Design>
  {
    return rebuild(space, items < size_ ? size_ : items);
  }

 private:
  struct made {
    buffer<char, Space> memory;
    view_type view;
  };
  static constexpr u32 max_restarts = 64;
  static constexpr u32 restarts_before_growth = 4;
  static constexpr u64 smallest_piece = 1024;
  static constexpr u32 most_pushes = 32;  // times that items which wait for growth are tried in the room left

  static table_options permitted(table_options options) {
    if constexpr (load_limited<Design>) {
      constexpr double highest = Design::max_load_factor;
      const bool legal = options.load_factor <= detail::max_load_factor;
      if (options.grow && legal && options.load_factor > highest) options.load_factor = highest;
    }
    return options;
  }

  u64 capacity_for(u64 items) const {
    if constexpr (rowed<Design>)
      return Design::rows_for(items, options_.load_factor);
    else
      return Design::capacity_for(items, options_.load_factor);
  }

  // Memory for an empty table with room for `items`, and of the least capacity asked for; its slots marked
  // free unless they are filled at once.
  made make(Space& space, u64 items, u64 seed, bool fills_all_slots = false, u64 least = 0) const {
    const u64 asked = capacity_for(items), capacity = asked < least ? least : asked;
    made m;
    if constexpr (rowed<Design>) {
      m.memory = buffer<char, Space>(space, Design::bytes(capacity, items));
      m.view.design = Design(m.memory.data(), capacity, items, seed);
      if (items == 0) m.view.design.build(space, nullptr, static_cast<const value_element*>(nullptr), 0);
    } else {
      m.memory =
          buffer<char, Space>(space, view_type::sentinels_at(capacity) + view_type::sentinels_type::bytes);
      m.view = view_type(m.memory.data(), capacity, seed, options_.load_factor);
      if (!(fills_all_slots && (bulk_built<Design> || partition_pays(space, m.view.design, items, 0))))
        wipe_slots(space, m.view.design);
      wipe_rest(space, m.memory.data(), m.view.design);
    }
    return m;
  }
  static void wipe_slots(Space& space, const Design& design) {
    space.fill(design.slots(), design.capacity(), Design::slot_type::empty_word);
  }
  // What stands behind the slots.
  static void wipe_rest(Space& space, char* memory, const Design& design) {
    const u64 slot_bytes = design.capacity() * sizeof(typename Design::word);
    const u64 all = view_type::sentinels_at(design.capacity()) + view_type::sentinels_type::bytes;
    if (all > slot_bytes) space.fill(memory + slot_bytes, all - slot_bytes, char(0));
  }
  void adopt(made m) {
    memory_ = std::move(m.memory);
    view_ = m.view;
    size_ = 0;
  }

  // What a design says of a build of n items: a report, or only how many of them were legal.
  static insert_report reported(const insert_report& report, u64 /*n*/) { return report; }
  static insert_report reported(u64 legal, u64 n) { return {.inserted = legal, .refused = n - legal}; }

  template <class Pointer>
  insert_report build_from(Space& space, keys_in keys, Pointer values) {
    space.check_pointer(keys.data(), "build: the keys");
    if constexpr (rowed<Design>) {
      made m = make(space, keys.size(), options_.seed);
      const insert_report report = reported(
          m.view.design.build(space, keys.data(), static_cast<const value_element*>(values), keys.size()),
          keys.size());
      adopt(std::move(m));
      size_ = report.inserted;
      return report;
    } else {
      return build_each(space, array_of(keys, values), keys.size());
    }
  }
  // Builds until a hash function suits the keys; the first few in memory of the same size.
  template <class Source>
  insert_report build_at_once(Space& space, const Source& source, u64 n) {
    constexpr u64 most = 16, of_same_size = 4;
    u64 restarts = 0, retries = 0;
    for (u64 room = n; restarts < most; room += restarts < of_same_size ? 0 : room / 8 + 1) {
      made m = make(space, room, options_.seed + restarts, true);
      build_result built = m.view.design.build(space, source, n, m.view.sentinels);
      retries += built.report.retries;
      if (built.complete) {
        adopt(std::move(m));
        size_ = built.report.inserted;
        built.report.restarts = restarts;
        built.report.retries = retries;
        return built.report;
      }
      ++restarts;
    }
    throw error("tilehash: the items could not be placed with " + std::to_string(most) +
                " hash functions; ask for a lower load factor, or take another hash");
  }
  table(made m, table_options options) : options_(options) { adopt(std::move(m)); }
  template <class Pointer>
  static auto array_of(keys_in keys, Pointer values) {
    return detail::array_source<typename Design::slot_type>{keys.data(),
                                                            static_cast<const mapped_type*>(values)};
  }

  template <class Pointer, class Update>
  insert_report insert_checked(Space& space, keys_in keys, Pointer values, std::span<outcome> outcomes,
                               const Update& update) {
    detail::require(outcomes.empty() || outcomes.size() == keys.size(),
                    "insert: keys and outcomes differ in length");
    space.check_pointer(keys.data(), "insert: the keys");
    space.check_pointer(detail::data_or_null(outcomes), "insert: the outcomes");
    return insert_items(space, array_of(keys, values), keys.size(), detail::data_or_null(outcomes), update);
  }

  template <class Op>
  insert_report apply(Space& space, keys_in keys, const value_element* values, const Op& op,
                      std::span<outcome> outcomes) {
    if constexpr (associative<Op> && detail::can_combine<typename Design::slot_type>()) {
      if (outcomes.empty() && combining_pays(space, keys.size()))
        return insert_combined(space, keys, values, op);
    }
    return insert_checked(space, keys, values, outcomes, detail::apply<Op>{op});
  }

  // From so many items on, combining those of equal keys first is worth it: a block each has something to do,
  // and where keys do not repeat after all, it costs a quarter of what the insert takes.
  bool combining_pays(const Space& space, u64 n) const {
    return n >= detail::blocks_at_once(space) * 1024 && n >= capacity() / 2;
  }

  // Items of equal keys are combined before they come to the table, so that it meets each key once. What is
  // refused then stands for all items of its key, so these are counted afterwards.
  template <class Op>
  insert_report insert_combined(Space& space, keys_in keys, const value_element* values, const Op& op) {
    const auto items = array_of(keys, values);
    const detail::apply<Op> update{op};
    detail::combined<typename Design::slot_type, Space> list;
    buffer<u64, Space> counter;
    try {
      counter = buffer<u64, Space>(space, 1);
      list = detail::combine<typename Design::slot_type>(space, items, keys.size(), op);
    } catch (const out_of_memory&) {
      list.complete = false;
    }
    // In a table that may not grow, a key that comes to it twice could be refused once and taken once.
    const bool each_once = list.left == 0 && list.unique;
    if (!list.complete || (!options_.grow && !each_once))
      return insert_items(space, items, keys.size(), nullptr, update);
    // So that the rest, whose keys may be in the table by then, finds memory.
    buffer<u64, Space> held(space, 4 * list.left);
    insert_report report;
    bool changed = false;  // then a call that finds no memory does not throw: what is left is refused
    const auto add = [&](const auto& source, u64 n, const auto& how) {
      try {
        const insert_report r = insert_items(space, source, n, nullptr, how);
        report.inserted += r.inserted, report.refused += r.refused, report.restarts += r.restarts;
      } catch (const out_of_memory&) {
        if (!changed) throw;
        report.refused += n;
      }
      changed = true;
    };
    if (size_ == 0 && list.unique) {
      if (options_.grow && list.size > limit()) changed = grow(space, list.size, report);
      add(list.source(), list.size, detail::keep{});
    } else {
      add(list.source(), list.size, update);
    }
    held = {};
    add(list.rest(), list.left, update);
    report.refused = report.refused == 0 ? list.illegal : count_missing(space, keys, counter);
    report.present = keys.size() - report.inserted - report.refused;
    return report;
  }
  // How many of these keys are not in the table.
  u64 count_missing(Space& space, keys_in keys, const buffer<u64, Space>& counter) const {
    space.fill(counter.data(), 1, u64(0));
    look_up_each(space, keys.data(), keys.size(), detail::missing_sink{counter.data()});
    return read_one(space, counter.data());
  }

  // Inserts items in pieces that leave slots free, and grows between two pieces when the load factor asked
  // for has been passed. On a GPU, where a piece costs kernels, it is longer than the last one when few of
  // that one's keys were new; a CPU would lose more by seeking room for keys that are new after all.
  // Without growth it is one piece.
  template <class Source, class Update>
  insert_report insert_items(Space& space, Source source, u64 n, outcome* outcomes, const Update& update) {
    insert_report total;
    u64 last = 0, fresh = 0;  // items of the last piece, and how many of their keys were new
    for (u64 done = 0; done < n;) {
      u64 piece = n - done;
      if (options_.grow) {
        const u64 room = limit() > size_ ? limit() - size_ : 0,
                  half_free = capacity() > size_ ? (capacity() - size_) / 2 : 0;
        u64 fits = room > half_free ? room : half_free;
        if (fits < smallest_piece) fits = smallest_piece;
        if (Space::has_lanes && fresh <= fits / 8 && fits < 4 * last) fits = 4 * last;
        if (piece > fits) piece = fits;
      }
      const auto rest = detail::from_source(source, done);
      outcome* const named = outcomes == nullptr ? nullptr : outcomes + done;
      const u64 before = size_;
      try {
        insert_piece(space, rest, piece, named, total, update);
      } catch (const out_of_memory&) {
        // Where nothing has changed yet, throw; else what was inserted stays and the rest is refused.
        if (done == 0 && total.restarts == 0) throw;
        if (named != nullptr) space.fill(named, n - done, outcome::refused);
        total.refused += n - done;
        return total;
      }
      done += piece;
      last = piece;
      fresh = size_ - before;
      if (options_.grow && size_ > limit()) grow(space, 2 * size_, total);
    }
    return total;
  }

  // Items at the load factor asked for.
  u64 limit() const {
    u64 slots = capacity();
    if constexpr (stashing<Design>) slots -= Design::stash_slots;
    return static_cast<u64>(std::ceil(options_.load_factor * static_cast<double>(slots)));
  }

  // At least doubles the room. A space without the memory leaves the table as it is.
  bool grow(Space& space, u64 items, insert_report& report) {
    return restart(space, items < 2 * size_ ? 2 * size_ : items, 0, report);
  }
  bool restart(Space& space, u64 items, u64 least_capacity, insert_report& report) {
    try {
      report.restarts += rebuild(space, items, least_capacity).restarts + 1;
      return true;
    } catch (const out_of_memory&) {
      return false;
    }
  }

  // One piece, by regions of the table where that pays and nobody asks for each item's outcome.
  template <class Source, class Update>
  void insert_piece(Space& space, const detail::part_source<Source>& source, u64 n, outcome* outcomes,
                    insert_report& total, const Update& update) {
    constexpr bool keeps = std::same_as<Update, detail::keep>,
                   assigns = std::same_as<Update, detail::apply<op::assign>>;
    if constexpr (keeps || assigns) {  // into an empty table these are the same: any of equal keys wins
      if (outcomes == nullptr && (keeps || size_ == 0) && insert_partitioned(space, source, n, total)) return;
    }
    insert_one_by_one(space, source, n, outcomes, total, update);
  }

  // An insert, and displacements of what it leaves: when many keys move at once, one may meet the locks of
  // others until its tries are spent, most of all where the system puts aside a thread that holds some.
  static constexpr u32 passes = !displacing<Design> ? 1 : Space::has_lanes ? 3 : 4;

  // Inserts where there is room, then displaces, then grows for what is left. (From another table's slots,
  // the free ones are counted as inserted; rebuild() knows better.)
  template <class Source, class Update>
  void insert_one_by_one(Space& space, const detail::part_source<Source>& source, u64 n, outcome* outcomes,
                         insert_report& total, const Update& update) {
    buffer<u64, Space> list(space, n), spare(space, displacing<Design> ? n : 0);
    buffer<u64, Space> counters(space, 2 + passes);  // present, illegal, and left after each pass
    space.fill(counters.data(), counters.size(), u64(0));
    detail::outcome_recorder recorder{.present = counters.data(),
                                      .left = counters.data() + 2,
                                      .illegal = counters.data() + 1,
                                      .list = list.data(),
                                      .outcomes = outcomes};
    const u64 before = size_;
    insert_report piece;
    const auto note = [&](const auto& counts, u64 refused) {
      piece.present = counts[0];
      piece.refused = refused + counts[1];
      piece.inserted = n - piece.present - piece.refused;
      size_ = before + piece.inserted;
      return refused;
    };
    const auto make_room = [&](u64 most, u64 rest = 0) {  // for these on the list, and not for the rest of it
      const auto counts = displace(space, source, most, recorder, counters, spare, update);
      return note(counts, counts.back() + rest);
    };
    bool waits = false;  // does what found no room wait for the table to grow?
    const auto settle = [&](const auto& items, u64 number) {  // gives how many found no room
      detail::upsert(space, view_.design, view_.sentinels, items, number, recorder, update);
      waits = options_.grow && before + n > limit();
      if (waits) {
        // What would take the table past its load factor waits until it has grown, or until push() has found
        // that few of its keys are new: moving keys for all of it would be slow and in vain.
        const auto counts = counters.to_host();
        waits = before + n - counts[0] - counts[1] > limit();
        if (waits) return note(counts, counts[2]);
      }
      return make_room(number);
    };
    // Items that wait may be few keys that come often. So keys move for as many of them as there is room for,
    // taken from all over the list, where a key's copies may stand side by side; the others may then meet
    // their keys. True if the list became shorter.
    const auto push = [&](u64& waiting) {
      if (!displacing<Design> || size_ >= limit()) return false;
      const u64 room = limit() - size_, first = room < waiting ? room : waiting, rest = waiting - first;
      u64 step = std::min(waiting / first + 1, u64(1) << 20);  // so that no product overflows
      while (std::gcd(step, waiting) != 1) ++step;
      space.for_each(waiting, detail::take_every{step, list.data(), spare.data(), waiting});
      std::swap(list, spare);
      recorder.list = list.data();
      space.fill(recorder.left, 1, first);
      const u64 now = make_room(first, rest), kept = now - rest;
      space.copy(spare.data(), list.data(), kept * sizeof(u64));
      space.copy(spare.data() + kept, list.data() + first, rest * sizeof(u64));
      std::swap(list, spare);
      recorder.list = list.data();
      space.fill(recorder.left, passes, u64(0));
      space.fill(recorder.left, 1, now);
      return std::exchange(waiting, now) != now;
    };
    u64 left = settle(source, n);
    u32 tries = 0, pushes = 0;
    while (left != 0 && options_.grow && tries < max_restarts) {
      buffer<u64, Space> again;
      bool goes_on = false;
      try {
        again = buffer<u64, Space>(space, left);
        goes_on = (waits && pushes++ < most_pushes && push(left)) || widen(space, left, tries++, total);
      } catch (const out_of_memory&) {
      }
      if (!goes_on) {
        if (waits) left = make_room(left);
        break;
      }
      space.copy(again.data(), recorder.list, left * sizeof(u64));
      space.fill(recorder.left, passes, u64(0));
      recorder.numbers = again.data();
      left = settle(source.named(again.data()), left);
    }
    total.inserted += piece.inserted;
    total.present += piece.present;
    total.refused += piece.refused;
  }

  // Makes room for what is left after so many tries in vain: other hash functions may do at the same size.
  bool widen(Space& space, u64 left, u32 tries, insert_report& report) {
    if constexpr (restarting<Design>) {
      if (tries < restarts_before_growth && size_ + left <= limit())
        return restart(space, size_ + left, capacity(), report);
    }
    return grow(space, size_ + left, report);
  }

  // Is it worth while to partition n items for a table that holds `held`?
  static bool partition_pays(const Space& space, const Design& design, u64 n, u64 held) {
    if constexpr (partition_built<Design>)
      return design.partition_pays(space, n, held);
    else
      return false;
  }
  // Inserts region by region where that pays, else nothing. The slots of an empty table may hold anything.
  template <class Source>
  bool insert_partitioned(Space& space, const detail::part_source<Source>& source, u64 n,
                          insert_report& total) {
    if (!partition_pays(space, view_.design, n, size_)) return false;
    if constexpr (partition_built<Design>) {
      const bool was_empty = size_ == 0;
      const auto fill = [&] {
        try {
          return view_.design.insert_partitioned(space, source.all, n, !was_empty);
        } catch (const out_of_memory&) {
          if (was_empty) wipe_slots(space, view_.design);  // they may hold bins
          throw;
        }
      };
      finish_partitioned(space, source, n, fill(), total);
    }
    return true;
  }
  // Inserts what was left over when the items of a source were inserted by regions.
  template <class Source, class Filled>
  void finish_partitioned(Space& space, const detail::part_source<Source>& source, u64 n,
                          const Filled& filled, insert_report& total) {
    size_ += filled.inserted;
    insert_report rest;
    bool counts_illegal = !filled.lists_left;  // as all items go through the insert again
    try {
      if (!filled.lists_left)
        insert_one_by_one(space, source, n, nullptr, rest, detail::keep{});
      else if (filled.left != 0)
        insert_one_by_one(space, detail::from_source(filled.rest()), filled.left, nullptr, rest,
                          detail::keep{});
    } catch (const out_of_memory&) {
      rest.refused += filled.left;
      counts_illegal = false;
    }
    if (!counts_illegal) rest.refused += filled.illegal;
    total.inserted += filled.inserted + rest.inserted;
    total.refused += rest.refused;
    total.restarts += rest.restarts;
    total.present += n - filled.inserted - rest.inserted - rest.refused;
  }

  // Makes room for the listed items, `most` at most, by moving others, where the design can; gives the
  // counters, the last of them that of the items that are left on recorder.list.
  template <class Source, class Update>
  auto displace(Space& space, const detail::part_source<Source>& source, u64 most,
                const detail::outcome_recorder& recorder, const buffer<u64, Space>& counters,
                buffer<u64, Space>& spare, const Update& update) {
    if constexpr (displacing<Design>) {
      constexpr bool changes_values = !std::same_as<Update, detail::keep>;
      u64 *from = recorder.list, *to = spare.data(), *left = recorder.left;
      const auto pass_over = [&](u64* leaves, bool lists_present) {  // `from`, which leaves items on `to`
        detail::outcome_recorder next = recorder;
        next.numbers = from;
        next.list = to;
        next.left = leaves;
        next.lists_present = lists_present;
        return next;
      };
      for (u32 pass = 1; pass < passes; ++pass) {
        detail::displace(space, view_.design, source, from, left, most, pass_over(left + 1, changes_values));
        ++left;
        std::swap(from, to);
      }
      auto counts = counters.to_host();
      if (changes_values && counts.back() != 0) {  // while keys moved, no value changed
        space.fill(left, 1, u64(0));
        detail::upsert(space, view_.design, view_.sentinels, source.named(from), counts.back(),
                       pass_over(left, false), update);
        counts = counters.to_host();
        std::swap(from, to);
      }
      if (counts.back() != 0 && from != recorder.list)
        space.copy(recorder.list, from, counts.back() * sizeof(u64));
      return counts;
    } else {
      return counters.to_host();
    }
  }

  // Moves all items to a new table with room for `items`; again, larger, if they do not fit.
  insert_report rebuild(Space& space, u64 items, u64 least_capacity = 0) {
    using slot_type = typename Design::slot_type;
    insert_report report;
    for (u32 tries = 0; tries < max_restarts; ++tries) {
      options_.seed += 1;
      table fresh(make(space, items, options_.seed, false, least_capacity), options_);
      fresh.options_.grow = false;
      insert_report moved;
      fresh.insert_piece(space, detail::from_source(detail::slots_source<Design>{view_.design}), capacity(),
                         nullptr, moved, detail::keep{});
      if (moved.refused == 0) {
        if constexpr (slot_type::reserves_keys)
          space.copy(fresh.view_.sentinels.cells, view_.sentinels.cells, view_type::sentinels_type::bytes);
        fresh.size_ = size_;
        fresh.options_.grow = options_.grow;
        *this = std::move(fresh);
        return report;
      }
      ++report.restarts;
      items += items / 8 + 1;
    }
    throw error("tilehash: the items could not be placed with " + std::to_string(max_restarts) +
                " hash functions; ask for a lower load factor");
  }

  buffer<char, Space> memory_;
  view_type view_;
  u64 size_ = 0;
  table_options options_;
};

}  // namespace tilehash

// table<indexed<Key, Value>, Space>: the verbs of table.hpp for keys and values of any size, and those of a
// two-way index: key to id and id to key. The memory and its invariants: designs/indexed.hpp.
//
// What table.hpp says of spaces, waiting, threads and failures holds here too. A call that inserts needs,
// while it runs, about 12 bytes for each item and 30 more for each whose key is not in the table yet.
#pragma once

#include <algorithm>
#include <span>

#include <tilehash/engine/records_view.hpp>
#include <tilehash/table.hpp>

namespace tilehash {

template <class Key, class Value, class Hash, class Space>
class table<indexed<Key, Value, Hash>, Space>
    : public detail::table_reads<table<indexed<Key, Value, Hash>, Space>, Space, Key, Value> {
  using reads = detail::table_reads<table, Space, Key, Value>;
  using design = indexed<Key, Value, Hash>;
  using row = typename design::row;

 public:
  using design_type = design;
  using space_type = Space;
  using key_type = Key;
  using mapped_type = Value;
  using hasher = Hash;
  using size_type = u64;
  using view_type = table_view<design>;
  using typename reads::keys_in;
  using typename reads::value_element;
  using typename reads::values_in;
  static constexpr bool is_set = design::is_set;
  static constexpr u32 no_id = design::none;

  // An empty table with room for `items` at the options' load factor, which is that of the table of ids.
  // O(capacity). Throws invalid_argument, out_of_memory.
  explicit table(Space& space, u64 items = 0, table_options options = {})
      : options_(options), design_(options.seed), ids_(space, items, options) {
    make_room(space, options.grow ? items : ids_.capacity());
  }

  u64 size() const { return ids_.size(); }
  u64 capacity() const { return ids_.capacity(); }
  double load_factor() const { return ids_.load_factor(); }
  u64 bytes() const { return ids_.bytes() + rows_.bytes() + taken_.bytes() + locks_.bytes() + free_.bytes(); }
  bool empty() const { return ids_.empty(); }
  u64 id_limit() const { return limit_; }  // all ids are below; without erases it is size()
  view_type view() const { return {design_, ids_.view(), rows_.data(), taken_.data(), limit_}; }

  // ---- build: replaces the contents by these items ----
  insert_report build(Space& space, keys_in keys, values_in values)
    requires(!is_set)
  {
    table fresh(space, keys.size(), options_);
    const insert_report report = fresh.insert(space, keys, values);
    *this = std::move(fresh);
    return report;
  }
  insert_report build(Space& space, keys_in keys)
    requires is_set
  {
    table fresh(space, keys.size(), options_);
    const insert_report report = fresh.insert(space, keys);
    *this = std::move(fresh);
    return report;
  }

  // ---- insert: as in table.hpp ----
  insert_report insert(Space& space, keys_in keys, values_in values, std::span<outcome> outcomes = {})
    requires(!is_set)
  {
    return put(space, keys, values, {}, outcomes, detail::keep{});
  }
  insert_report insert(Space& space, keys_in keys, std::span<outcome> outcomes = {})
    requires is_set
  {
    return put(space, keys, {}, {}, outcomes, detail::keep{});
  }
  insert_report insert_or_assign(Space& space, keys_in keys, values_in values,
                                 std::span<outcome> outcomes = {})
    requires(!is_set)
  {
    return insert_or_apply(space, keys, values, op::assign{}, outcomes);
  }
  template <combines<value_element> Op>
  insert_report insert_or_apply(Space& space, keys_in keys, values_in values, Op op,
                                std::span<outcome> outcomes = {})
    requires(!is_set && !lifts<Op, value_element>)
  {
    return put(space, keys, values, {}, outcomes, detail::apply<Op>{op});
  }
  template <lifts<value_element> Op>
  insert_report insert_or_apply(Space& space, keys_in keys,
                                std::span<const given_to<Op, value_element>> given, Op op,
                                std::span<outcome> outcomes = {})
    requires(!is_set)
  {
    detail::require(keys.size() == given.size(), "insert: keys and values differ in length");
    space.check_pointer(given.data(), "insert: the values");
    const auto values = detail::lift<value_element, Op>(space, given.data(), given.size());
    return put(space, keys, values.span(), {}, outcomes, detail::apply<Op>{op});
  }
  template <lifts_nothing<value_element> Op>
  insert_report insert_or_apply(Space& space, keys_in keys, Op op, std::span<outcome> outcomes = {})
    requires(!is_set)
  {
    const nothing* const none = nullptr;
    const auto values = detail::lift<value_element, Op>(space, none, keys.size());
    return put(space, keys, values.span(), {}, outcomes, detail::apply<Op>{op});
  }

  // ---- ids ----
  // Inserts, and ids[i] is the id of keys[i], or no_id where it was refused.
  insert_report insert_and_find(Space& space, keys_in keys, values_in values, std::span<u32> ids)
    requires(!is_set)
  {
    return put(space, keys, values, ids, {}, detail::keep{});
  }
  insert_report insert_and_find(Space& space, keys_in keys, std::span<u32> ids)
    requires is_set
  {
    return put(space, keys, {}, ids, {}, detail::keep{});
  }
  // ids[i] is the id of keys[i], or no_id.
  void find_ids(Space& space, keys_in keys, std::span<u32> ids) const {
    detail::require(ids.size() == keys.size(), "find_ids: keys and ids differ in length");
    space.check_pointer(keys.data(), "find_ids: the keys");
    space.check_pointer(ids.data(), "find_ids: the ids");
    look_up_each(space, keys.data(), keys.size(), detail::id_sink{ids.data()});
    space.synchronize();
  }
  // keys[i] is the key whose id is ids[i], where found[i]; `found` may be empty when the caller knows.
  void keys_of(Space& space, std::span<const u32> ids, std::span<Key> keys,
               std::span<bool> found = {}) const {
    detail::require(ids.size() == keys.size() && (found.empty() || found.size() == ids.size()),
                    "keys_of: ids, keys and flags differ in length");
    space.check_pointer(ids.data(), "keys_of: the ids");
    space.check_pointer(keys.data(), "keys_of: the keys");
    space.check_pointer(detail::data_or_null(found), "keys_of: the flags");
    space.for_each(ids.size(), detail::key_reader<view_type>{view(), ids.data(), keys.data(),
                                                             detail::data_or_null(found)});
    space.synchronize();
  }

  // ---- erase: how many of these keys were in the table and are gone ----
  u64 erase(Space& space, keys_in keys) {
    space.check_pointer(keys.data(), "erase: the keys");
    u64 n = 0;
    for (u64 done = 0; done < keys.size(); done += largest_piece)
      n += erase_piece(space, keys.subspan(done, piece_of(keys.size() - done)));
    return n;
  }

  // ---- what adaptors stand on ----
  template <class Sink>
  void look_up_each(Space& space, const Key* keys, u64 n, Sink sink) const {
    ids_.look_up_each(space, detail::fingerprints<design>{design_, keys}, n,
                      detail::through_rows<view_type, Sink>{view(), keys, sink});
  }

  // ---- memory ----
  void clear(Space& space) {
    ids_.clear(space);
    space.fill(taken_.data(), taken_.size(), 0U);
    limit_ = free_count_ = 0;
  }
  insert_report reserve(Space& space, u64 items) {
    make_room(space, items);
    return ids_.reserve(space, items);
  }
  // Keeps all ids.
  insert_report rehash(Space& space, u64 items) {
    if (items > limit_) make_room(space, items);
    return ids_.rehash(space, items);
  }

 private:
  static constexpr u64 largest_piece = u64(1) << 31;  // items are numbered by 32 bits
  static constexpr u32 max_restarts = 64;
  static u64 piece_of(u64 n) { return n < largest_piece ? n : largest_piece; }

  template <class Update>
  insert_report put(Space& space, keys_in keys, values_in values, std::span<u32> ids,
                    std::span<outcome> outcomes, const Update& update) {
    detail::require(is_set || keys.size() == values.size(), "insert: keys and values differ in length");
    detail::require(outcomes.empty() || outcomes.size() == keys.size(),
                    "insert: keys and outcomes differ in length");
    detail::require(ids.empty() || ids.size() == keys.size(), "insert: keys and ids differ in length");
    space.check_pointer(keys.data(), "insert: the keys");
    space.check_pointer(values.data(), "insert: the values");
    space.check_pointer(detail::data_or_null(ids), "insert: the ids");
    space.check_pointer(detail::data_or_null(outcomes), "insert: the outcomes");
    const auto part = [](auto span, u64 from, u64 n) { return span.empty() ? span : span.subspan(from, n); };
    insert_report total;
    for (u64 done = 0; done < keys.size();) {
      const u64 n = piece_of(keys.size() - done);
      try {
        put_piece(space, keys.subspan(done, n), part(values, done, n), part(ids, done, n),
                  part(outcomes, done, n), update, total);
      } catch (const out_of_memory&) {
        if (done == 0) throw;  // nothing has changed yet; else what was inserted stays
        const u64 left = keys.size() - done;
        if (!outcomes.empty()) space.fill(outcomes.data() + done, left, outcome::refused);
        if (!ids.empty()) space.fill(ids.data() + done, left, no_id);
        total.refused += left;
        return total;
      }
      done += n;
    }
    return total;
  }

  // What throws in here does so before anything has changed but the hash function.
  template <class Update>
  void put_piece(Space& space, keys_in keys, values_in values, std::span<u32> ids_out,
                 std::span<outcome> outcomes_out, const Update& update, insert_report& total) {
    constexpr bool changes = !std::same_as<Update, detail::keep>;
    const u64 n = keys.size();
    buffer<u64, Space> counters(space, 4);
    u64 *const fresh_count = counters.data(), *const winner_count = fresh_count + 1,
               *const clashes = fresh_count + 2, *const refused = fresh_count + 3;
    buffer<u32, Space> own_ids(space, ids_out.empty() ? n : 0);
    u32* const ids = ids_out.empty() ? own_ids.data() : ids_out.data();
    buffer<outcome, Space> own_outcomes(space, outcomes_out.empty() && changes ? n : 0);
    outcome* const became = outcomes_out.empty() ? own_outcomes.data() : outcomes_out.data();

    buffer<u32, Space> fresh, leaders, winners;  // items by number; leaders: for each fresh one, its key's
    u64 fresh_n = 0, winners_n = 0;
    for (u32 tries = 0;; ++tries) {
      space.fill(counters.data(), counters.size(), u64(0));
      find_or_clash(space, keys, ids, clashes);
      fresh = buffer<u32, Space>(space, n);
      detail::compact(space, n, detail::fresh_selection{ids, no_id, fresh.data()}, fresh_count);
      fresh_n = read_one(space, fresh_count);
      leaders = buffer<u32, Space>(space, fresh_n);
      elect(space, keys, fresh, leaders, clashes);
      if (design::is_exact || read_one(space, clashes) == 0) break;
      if (tries == max_restarts)
        throw error("tilehash: " + std::to_string(max_restarts) +
                    " hash functions give different keys one fingerprint; are the keys made for that?");
      reseed(space);
      ++total.restarts;
    }
    winners = buffer<u32, Space>(space, fresh_n);
    detail::compact(space, fresh_n,
                    detail::winner_selection{fresh.data(), leaders.data(), free_.data(), free_count_, limit_,
                                             winners.data(), ids},
                    winner_count);
    winners_n = read_one(space, winner_count);
    const u64 from_free = winners_n < free_count_ ? winners_n : free_count_;
    make_room(space, limit_ + winners_n - from_free);
    space.for_each(winners_n, detail::row_writer<design, value_element>{keys.data(), values.data(),
                                                                        winners.data(), ids, rows_.data()});

    const detail::fingerprints<design> winning{design_, keys.data(), winners.data()};
    const insert_report stored =
        ids_.insert_each(space, detail::fingerprint_source<design>{winning, ids}, winners_n);
    limit_ += winners_n - from_free;
    free_count_ -= from_free;
    if (stored.refused == 0) {
      space.for_each(winners_n, detail::row_taker{winners.data(), ids, taken_.data()});
    } else {
      space.fill(refused, 1, free_count_);
      ids_.look_up_each(
          space, winning, winners_n,
          detail::kept_row_sink{winners.data(), no_id, ids, taken_.data(), free_.data(), refused});
      space.fill(refused, 1, u64(0));
      free_count_ += stored.refused;
    }
    if (became != nullptr) space.fill(became, n, outcome::present);
    space.for_each(fresh_n,
                   detail::outcome_writer{fresh.data(), leaders.data(), no_id, ids, became, refused});
    if constexpr (changes) {
      using op = decltype(update.op);
      space.for_each(n, detail::value_changer<design, op>{values.data(), ids, became, rows_.data(),
                                                          locks_.data(), update.op});
    }
    const u64 refused_n = read_one(space, refused);
    total.inserted += stored.inserted;
    total.refused += refused_n;
    total.present += n - stored.inserted - refused_n;
    total.restarts += stored.restarts;
  }

  void find_or_clash(Space& space, keys_in keys, u32* ids, u64* clashes) const {
    if (ids_.empty())
      space.fill(ids, keys.size(), no_id);
    else
      ids_.look_up_each(space, detail::fingerprints<design>{design_, keys.data()}, keys.size(),
                        detail::id_and_clash_sink<view_type>{view(), keys.data(), ids, clashes});
  }
  // Of equal keys among the fresh items one becomes the leader.
  void elect(Space& space, keys_in keys, const buffer<u32, Space>& fresh, const buffer<u32, Space>& leaders,
             u64* clashes) const {
    if (leaders.size() == 0) return;
    const detail::fingerprints<design> names{design_, keys.data(), fresh.data()};
    table<typename design::ids, Space> meeting(space, leaders.size());
    const insert_report met =
        meeting.insert_each(space, detail::fingerprint_source<design>{names}, leaders.size());
    if (!std::floating_point<Key> && met.refused != 0)
      throw out_of_memory("tilehash: no memory to find equal keys in; insert fewer items at once");
    meeting.look_up_each(space, names, leaders.size(),
                         detail::leader_sink<design>{keys.data(), fresh.data(), leaders.data(), clashes});
    space.synchronize();
  }

  // Another hash function, under which the keys' fingerprints differ.
  void reseed(Space& space) {
    const double load = std::min(options_.load_factor, detail::highest_load_factor<design>());
    const u64 items = static_cast<u64>(load * static_cast<double>(capacity()));
    buffer<u32, Space> list(space, size());
    buffer<u64, Space> count(space, 1);
    space.fill(count.data(), 1, u64(0));
    detail::compact(space, limit_, detail::taken_selection{taken_.data(), list.data()}, count.data());
    for (u32 tries = 0; tries < max_restarts; ++tries) {
      options_.seed += 1;
      const design next(options_.seed);
      table<typename design::ids, Space> fresh(space, items > size() ? items : size(), options_);
      const auto source = detail::row_source<design>{next, rows_.data(), list.data()};
      if (fresh.insert_each(space, source, size()).inserted != size()) continue;
      ids_ = std::move(fresh);
      design_ = next;
      return;
    }
    throw error("tilehash: " + std::to_string(max_restarts) +
                " hash functions give different keys one fingerprint; are the keys made for that?");
  }

  u64 erase_piece(Space& space, keys_in keys) {
    const u64 n = keys.size();
    buffer<u64, Space> counter(space, 1);
    buffer<u32, Space> ids(space, n);
    buffer<typename design::fingerprint, Space> gone(space, n);
    space.fill(counter.data(), 1, u64(0));
    look_up_each(space, keys.data(), n, detail::id_sink{ids.data()});
    detail::compact(space, n, detail::gone_selection<design>{{design_, keys.data()}, ids.data(), gone.data()},
                    counter.data());
    const u64 erased = ids_.erase(space, gone.first(read_one(space, counter.data())));
    space.fill(counter.data(), 1, free_count_);
    space.for_each(n, detail::row_freer{ids.data(), no_id, taken_.data(), free_.data(), counter.data()});
    space.synchronize();
    if (options_.reuse_ids) free_count_ += erased;
    return erased;
  }

  // Room for ids below `limit`. What throws leaves the table as it is.
  void make_room(Space& space, u64 limit) {
    if (limit <= rows_.size()) return;
    detail::require(limit <= no_id, "an indexed table has at most 2^32 - 1 items");
    const u64 doubled = 2 * rows_.size() < no_id ? 2 * rows_.size() : no_id;
    if (limit_ == 0 || limit >= doubled) return move_rows(space, limit);
    try {
      move_rows(space, doubled);
    } catch (const out_of_memory&) {
      move_rows(space, limit);
    }
  }
  void move_rows(Space& space, u64 room) {
    const u64 words = detail::divide_up(room, 32);
    buffer<row, Space> rows(space, room);
    buffer<u32, Space> taken(space, words), locks(space, words), free(space, room);
    space.fill(reinterpret_cast<char*>(rows.data()), rows.bytes(),
               char(0));  // gaps between members are copied too
    space.fill(locks.data(), words, 0U);
    space.fill(taken.data(), words, 0U);
    if (limit_ != 0) {
      space.copy(rows.data(), rows_.data(), limit_ * sizeof(row));
      space.copy(taken.data(), taken_.data(), detail::divide_up(limit_, 32) * sizeof(u32));
      space.copy(free.data(), free_.data(), free_count_ * sizeof(u32));
    }
    rows_ = std::move(rows);
    taken_ = std::move(taken);
    locks_ = std::move(locks);
    free_ = std::move(free);
  }

  table_options options_;
  design design_;
  table<typename design::ids, Space> ids_;
  buffer<row, Space> rows_;
  buffer<u32, Space> taken_, locks_;  // a bit a row
  buffer<u32, Space> free_;           // ids of erased keys
  u64 limit_ = 0, free_count_ = 0;
};

}  // namespace tilehash

// SPDX-License-Identifier: Apache-2.0
// engine::records: keys and values of any size behind a table of ids. The table of ids has any design that
// maps a key to 32 bits. The memory and its invariants: designs/indexed.hpp.
// Temporary memory of a call that inserts: about 12 bytes an item, and 30 more for each one with an absent key.
#pragma once

#include <algorithm>
#include <optional>
#include <span>

#include <tilehash/core/moved.hpp>
#include <tilehash/engine/insertion.hpp>
#include <tilehash/engine/numbered_keys.hpp>
#include <tilehash/engine/record_changes.hpp>
#include <tilehash/engine/record_memory.hpp>
#include <tilehash/engine/records_verbs.hpp>
#include <tilehash/engine/records_view.hpp>
#include <tilehash/engine/thread_combined.hpp>

#include <tilehash/core/prologue.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace engine {

template <class Design, class Space>
class records {
  using design = Design;
  using record = typename design::record;
  using ids_engine = typename design::ids::template engine<Space>;
  using meeting_engine = typename design::meeting::template engine<Space>;
  static constexpr bool is_set = design::is_set;
  static constexpr u32 no_id = design::none;

 public:
  using key_type = typename Design::key_type;
  using mapped_type = typename Design::mapped_type;
  using view_type = table_view<Design>;
  template <class Base>
  using verbs = tilehash::verbs::of_ids<Base>;
  using value_element = std::conditional_t<is_set, char, mapped_type>;

  records(Space& space, u64 items, const table_options& options)
      : options_(detail::with_seed(options)),
        design_(detail::seed_of(options_)),
        ids_(space, items, options_) {
    reserve_records(space, options.grow ? items : ids_.capacity());
  }

  records clone(Space& space) const {
    records copy(*this, ids_.clone(space));
    copy.memory_ = memory_.clone(space);
    return copy;
  }

  bool has_memory() const { return ids_.has_memory(); }
  Space* home() const { return ids_.home(); }
  u64 size() const { return ids_.size(); }
  u64 capacity() const { return ids_.capacity(); }
  u64 bytes() const { return ids_.bytes() + memory_.bytes(); }
  u64 id_limit() const { return limit_; }
  view_type view() const {
    return {design_, ids_.view(), memory_.records.data(), memory_.taken.data(), limit_};
  }
  const table_options& options() const { return options_; }

  insert_report build_arrays(Space& space, const key_type* keys, const value_element* values, u64 n) {
    records fresh(space, n, options_);
    const insert_report report =
        fresh.insert_arrays(space, keys, values, n, nullptr, nullptr, detail::keep_stored{}, true);
    *this = std::move(fresh);
    return report;
  }
  // `ids` and `outcomes` may be null. An `unseen` table is discarded when memory runs out.
  template <class Update>
  insert_report insert_arrays(Space& space, const key_type* keys, const value_element* values, u64 n,
                              u32* ids, outcome* outcomes, const Update& update, bool unseen = false) {
    if constexpr (!Space::has_lanes) {
      if (outcomes == nullptr && n >= detail::tuning::cpu::least_combined &&
          (ids == nullptr || detail::combining_pays(space, keys, n))) {
        const detail::key_value_arrays<key_type, mapped_type> source{
            keys, reinterpret_cast<const mapped_type*>(values)};
        if (const auto report = insert_combined(space, source, n, ids, update, unseen)) return *report;
      }
    }
    insert_report total;
    const u64 first = detail::first_window<design>(space, *this, keys, std::min(n, largest_window));
    const buffer<u64, Space> absent(space, n > first);  // before anything changes
    for (u64 done = 0; done < n;) {
      const u64 window = std::min(n - done, done == 0 ? first : largest_window);
      try {
        put_window(space, keys + done, is_set ? values : values + done, window,
                   ids == nullptr ? ids : ids + done, outcomes == nullptr ? outcomes : outcomes + done,
                   update, total, unseen && done == 0);
      } catch (const out_of_memory&) {
        if (done == 0 || unseen) throw;  // nothing has changed yet; else inserted items stay
        constexpr bool keeps = std::same_as<Update, detail::keep_stored>;
        space.fill(absent.data(), 1, u64(0));
        look_up(space, keys + done, n - done,
                detail::refused_sink{ids == nullptr ? ids : ids + done,
                                     outcomes == nullptr ? outcomes : outcomes + done, absent.data(), keeps});
        const u64 refused = read_one(space, absent.data());
        total.refused += refused;
        total.present += n - done - refused;
        return total;
      }
      done += window;
    }
    return total;
  }
  // Updates by an op whose arguments are not values. Nothing: it does not pay, and the table is unchanged.
  template <class Given, class Op>
    requires(!Space::has_lanes)
  auto insert_lifted(Space& space, const key_type* keys, const Given* given, u64 n, const Op& op) {
    const detail::lifted_arrays<key_type, mapped_type, Given, Op> source{keys, given};
    if (n < detail::tuning::cpu::least_combined) return std::optional<insert_report>();
    return insert_combined(space, source, n, nullptr, detail::apply<Op>{op}, false);
  }
  u64 erase(Space& space, const key_type* keys, u64 n) {
    u64 erased = 0;
    for (u64 done = 0; done < n; done += largest_window)
      erased += erase_window(space, keys + done, std::min(n - done, largest_window));
    return erased;
  }

  template <class Keys, class Sink>
  void look_up(Space& space, const Keys& keys, u64 n, Sink sink) const {
    ids_.look_up(space, detail::fingerprints<design, Keys>{design_, keys}, n,
                 detail::through_records<view_type, Keys, Sink>{view(), keys, sink});
  }
  void keys_of(Space& space, std::span<const u32> ids, key_type* keys, u8* found) const {
    space.for_each(ids.size(), detail::key_reader<view_type>{view(), ids.data(), keys, found});
  }

  void clear(Space& space) {
    ids_.clear(space);
    space.fill(memory_.taken.data(), memory_.taken.size(), 0U);
    limit_ = 0;
    free_count_ = 0;
  }
  u64 reserve(Space& space, u64 items) {
    reserve_records(space, items);
    return ids_.reserve(space, items);
  }
  // Keeps all ids, and so the records below id_limit().
  u64 shrink_to_fit(Space& space) {
    const u64 restarts = ids_.shrink_to_fit(space);
    const u64 most = options_.grow ? limit_ : std::max<u64>(limit_, ids_.capacity());
    try {
      if (most < memory_.records.size()) move_records(space, most);
    } catch (const out_of_memory&) {  // the records stay as they are
    }
    return restarts;
  }
  u64 rehash(Space& space, u64 items) {  // keeps all ids
    if (items > limit_) reserve_records(space, items);
    return ids_.rehash(space, items);
  }

 private:
  // Copies all but the memory.
  records(const records& other, ids_engine&& ids)
      : options_(other.options_), design_(other.design_), ids_(std::move(ids)) {
    limit_ = u64(other.limit_);
    free_count_ = u64(other.free_count_);
  }

  static constexpr u64 largest_window = u64(1) << 31;  // items are numbered by 32 bits
  static constexpr u32 max_restarts = 64;

  // Combines the items of equal keys first, which also finds the fresh ones. Nothing: the table is unchanged.
  template <class Source, class Update>
  std::optional<insert_report> insert_combined(Space& space, const Source& source, u64 n, u32* ids,
                                               const Update& update, bool unseen) {
    const auto op = detail::op_for_given<Space, mapped_type>(view(), size() == 0, update);
    const auto put = [&](const auto& list) {
      insert_report report;
      put_window(space, list.keys.data(), list.values.data(), list.size, nullptr, nullptr,
                 detail::update_by_combined(update), report, unseen, true);
      // No two keys of the table and of the call have one fingerprint now, so the records need not be read.
      if (ids != nullptr)
        ids_.look_up(space, detail::fingerprints<design>{design_, source.keys}, n,
                     detail::known_id_sink<design>{source.keys, ids});
      return report;
    };
    return detail::insert_by_list(*this, space, source, n, detail::fingerprint_hash<design>{design_}, op,
                                  put);
  }
  // If this throws, nothing has changed but the hash function. `unique`: no two keys have one fingerprint.
  template <class Update>
  void put_window(Space& space, const key_type* keys, const value_element* values, u64 n, u32* ids_out,
                  outcome* outcomes_out, const Update& update, insert_report& total, bool unseen,
                  bool unique = false) {
    constexpr bool changes = !std::same_as<Update, detail::keep_stored>;
    // (Not by slots if ids may be reused.)
    const bool by_slots = limit_ == 0 && detail::numbering_pays<design>(space, ids_, n),
               has_ids = ids_out != nullptr || changes || !by_slots;
    buffer<u32, Space> own_ids(space, ids_out == nullptr && has_ids ? n : 0);
    buffer<outcome, Space> own_outcomes(space, outcomes_out == nullptr && changes ? n : 0);
    const detail::item_results of{ids_out == nullptr ? own_ids.data() : ids_out,
                                  outcomes_out == nullptr ? own_outcomes.data() : outcomes_out};
    const auto change_values = [&] {
      if constexpr (changes) {
        const detail::value_changer<design, decltype(update.op)> work{
            values, of.ids, of.became, memory_.records.data(), memory_.locks.data(), update.op};
        // The table is already consistent, and its size is exact, whatever the op throws.
        detail::mark_user_exceptions([&] { detail::change_records(space, n, limit_, work); });
      }
    };
    if (by_slots)
      put_by_slots(space, keys, values, n, of, total, unseen, change_values);
    else
      put_leaders(space, keys, values, n, of, total, unseen, unique, change_values);
  }
  // As put_window(): finds one item of each new key, its leader, and inserts these.
  template <class Then>
  void put_leaders(Space& space, const key_type* keys, const value_element* values, u64 n,
                   detail::item_results of, insert_report& total, bool unseen, bool unique,
                   const Then& change_values) {
    u32* const ids = of.ids;
    const buffer<u64, Space> counters(space, 4);
    u64 *const winner_count = counters.data() + 1, *const refused = counters.data() + 3;
    buffer<u32, Space> fresh, leaders;  // items by number; leaders: for each fresh one, its key's
    find_fresh(space, keys, n, ids, counters, fresh, leaders, total, unique);
    const buffer<u32, Space> winners(space, leaders.size());
    detail::compact(space, leaders.size(),
                    detail::winner_selection{fresh.data(), leaders.data(), memory_.free.data(), free_count_,
                                             limit_, winners.data(), ids},
                    winner_count);
    const u64 winners_n = read_one(space, winner_count);
    const u64 from_free = winners_n < free_count_ ? winners_n : free_count_;
    reserve_records(space, limit_ + winners_n - from_free);
    space.for_each(winners_n, detail::record_writer<design, value_element>{keys, values, winners.data(), ids,
                                                                           memory_.records.data()});

    const detail::fingerprints<design> winning{design_, keys, winners.data()};
    const detail::fingerprint_source<design> named{winning, ids};
    const insert_report stored = unseen
                                     ? ids_.fill(space, named, winners_n)
                                     : ids_.insert_different(space, named, winners_n, detail::keep_stored{});
    limit_ += winners_n - from_free;
    free_count_ -= from_free;
    if (stored.refused == 0) {
      space.for_each(winners_n, detail::record_taker{winners.data(), ids, memory_.taken.data()});
    } else {
      space.fill(refused, 1, u64(free_count_));
      ids_.look_up(space, winning, winners_n,
                   detail::kept_record_sink{winners.data(), no_id, ids, memory_.taken.data(),
                                            memory_.free.data(), refused});
      space.fill(refused, 1, u64(0));
      free_count_ += stored.refused;
    }
    if (of.became != nullptr) space.fill(of.became, n, outcome::present);
    space.for_each(leaders.size(),
                   detail::outcome_writer{fresh.data(), leaders.data(), no_id, ids, of.became, refused});
    change_values();
    const u64 refused_n = read_one(space, refused);
    total.inserted += stored.inserted;
    total.refused += refused_n;
    total.present += n - stored.inserted - refused_n;
    total.restarts += stored.restarts;
  }

  // As put_window(), by engine/numbered_keys.hpp.
  template <class Then>
  void put_by_slots(Space& space, const key_type* keys, const value_element* values, u64 n,
                    detail::item_results of, insert_report& total, bool unseen, const Then& change_values) {
    if constexpr (detail::numbers_slots<design, Space>()) {
      const buffer<u64, Space> count(space, 1);  // nothing may throw while slots have positions
      const detail::positioned_keys<typename design::ids::slot_type> source{keys};
      const insert_report stored = unseen ? ids_.fill(space, source, n)
                                          : ids_.insert(space, source, n, nullptr, detail::keep_stored{});
      try {
        reserve_records(space, stored.inserted);
      } catch (...) {
        ids_.clear(space);
        throw;
      }
      detail::number_slots(space, design_, ids_, memory_, keys, values, n, stored, of, count.data());
      limit_ = stored.inserted;
      change_values();
      space.synchronize();
      total.inserted += stored.inserted;
      total.refused += stored.refused;
      total.present += stored.present;
      total.restarts += stored.restarts;
    }
  }

  // Finds the ids of present keys, the items with absent keys, and the leader among these of each key. Takes
  // another hash function if different keys have one fingerprint. Clears the counters.
  void find_fresh(Space& space, const key_type* keys, u64 n, u32* ids, const buffer<u64, Space>& counters,
                  buffer<u32, Space>& fresh, buffer<u32, Space>& leaders, insert_report& total, bool unique) {
    u64 *const fresh_count = counters.data(), *const clashes = counters.data() + 2;
    for (u32 tries = 0;; ++tries) {
      space.fill(counters.data(), counters.size(), u64(0));
      find_or_clash(space, keys, n, ids, clashes);
      fresh = buffer<u32, Space>(space, n);
      detail::compact(space, n, detail::fresh_selection{ids, no_id, fresh.data()}, fresh_count);
      leaders = buffer<u32, Space>(space, read_one(space, fresh_count));
      if (unique && tries == 0)
        space.for_each(leaders.size(), detail::own_leaders{leaders.data()});
      else
        elect(space, keys, fresh, leaders, clashes);
      if (design::is_exact || read_one(space, clashes) == 0) return;
      if (tries == max_restarts) refuse_keys();
      reseed(space);
      ++total.restarts;
    }
  }
  void find_or_clash(Space& space, const key_type* keys, u64 n, u32* ids, u64* clashes) const {
    if (ids_.size() == 0)
      space.fill(ids, n, no_id);
    else
      ids_.look_up(space, detail::fingerprints<design>{design_, keys}, n,
                   detail::id_and_clash_sink<view_type>{view(), keys, ids, clashes});
  }
  // Makes one of the fresh items of each key its leader.
  void elect(Space& space, const key_type* keys, const buffer<u32, Space>& fresh,
             const buffer<u32, Space>& leaders, u64* clashes) const {
    if (leaders.size() == 0) return;
    const detail::fingerprints<design> names{design_, keys, fresh.data()};
    meeting_engine meeting(space, leaders.size(), {});
    const detail::meeting_source<design, typename design::meeting::slot_type> source{names};
    const insert_report met = meeting.fill(space, source, leaders.size());
    if (!detail::has_nan<key_type> && met.refused != 0)
      throw error("tilehash: no hash function placed the keys in a table of ids; take another hash");
    meeting.look_up(space, names, leaders.size(),
                    detail::leader_sink<design>{keys, fresh.data(), leaders.data(), clashes});
    space.synchronize();
  }

  // Takes another hash function that gives the keys different fingerprints.
  void reseed(Space& space) {
    const double load = std::min<double>(options_.load_factor, detail::highest_load_factor<design>());
    const u64 items = static_cast<u64>(load * static_cast<double>(capacity()));
    buffer<u32, Space> list(space, size());
    buffer<u64, Space> count(space, 1);
    space.fill(count.data(), 1, u64(0));
    detail::compact(space, limit_, detail::taken_selection{memory_.taken.data(), list.data()}, count.data());
    for (u32 tries = 0; tries < max_restarts; ++tries) {
      options_.seed = detail::seed_of(options_) + 1;
      const design next(detail::seed_of(options_));
      ids_engine fresh(space, items > size() ? items : size(), options_);
      const auto source = detail::record_source<design>{next, memory_.records.data(), list.data()};
      if (fresh.fill(space, source, size()).inserted != size()) continue;
      ids_ = std::move(fresh);
      design_ = next;
      return;
    }
    refuse_keys();
  }
  [[noreturn]] static void refuse_keys() {
    throw error("tilehash: " + std::to_string(max_restarts) +
                " hash functions give different keys one fingerprint; are the keys made for that?");
  }

  u64 erase_window(Space& space, const key_type* keys, u64 n) {
    buffer<u64, Space> counter(space, 1);
    buffer<u32, Space> ids(space, n);
    buffer<typename design::fingerprint, Space> gone(space, n);
    space.fill(counter.data(), 1, u64(0));
    look_up(space, keys, n, detail::lookup_sink{.ids = ids.data()});
    detail::compact(space, n, detail::gone_selection<design>{{design_, keys}, ids.data(), gone.data()},
                    counter.data());
    const u64 erased = ids_.erase(space, gone.data(), read_one(space, counter.data()));
    space.fill(counter.data(), 1, u64(free_count_));
    space.for_each(n, detail::record_freer{ids.data(), no_id, memory_.taken.data(), memory_.free.data(),
                                           counter.data()});
    space.synchronize();
    if (options_.reuse_ids) free_count_ += erased;
    return erased;
  }

  // Makes capacity for ids below `limit`. If it throws, the table is unchanged.
  void reserve_records(Space& space, u64 limit) {
    if (limit <= memory_.records.size()) return;
    detail::require(limit <= no_id, "an indexed table has at most 2^32 - 1 items");
    const u64 doubled = 2 * memory_.records.size() < no_id ? 2 * memory_.records.size() : no_id;
    if (limit_ == 0 || limit >= doubled) return move_records(space, limit);
    try {
      move_records(space, doubled);
    } catch (const out_of_memory&) {
      move_records(space, limit);
    }
  }
  void move_records(Space& space, u64 limit) { memory_ = memory_.moved(space, limit, limit_, free_count_); }

  table_options options_;
  design design_;
  ids_engine ids_;
  detail::record_memory<record, Space> memory_;
  detail::zero_when_moved<> limit_, free_count_;
};

}  // namespace engine
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash

#include <tilehash/core/epilogue.hpp>

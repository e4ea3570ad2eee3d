// SPDX-License-Identifier: Apache-2.0
// engine::multi: keys with any number of values each, behind a table of ids. The table of ids has any design
// that maps a key to 32 bits. The memory and its invariants: designs/multi.hpp.
//
// Temporary memory of a build by sort: twice the items' bytes, and three times if the keys are floating-point
// or of 1 or 2 bytes, or the values over 8 bytes. By regions: see engine/multi_regions.hpp. By counting:
// about 24 bytes an item.
#pragma once

#include <span>
#include <utility>

#include <tilehash/algorithm/compact.hpp>
#include <tilehash/algorithm/rank.hpp>
#include <tilehash/algorithm/runs.hpp>
#include <tilehash/algorithm/sample.hpp>
#include <tilehash/algorithm/segments.hpp>
#include <tilehash/engine/multi_arrays.hpp>
#include <tilehash/engine/multi_ranges.hpp>
#include <tilehash/engine/multi_regions.hpp>
#include <tilehash/engine/multi_verbs.hpp>
#include <tilehash/engine/multi_view.hpp>
#include <tilehash/space/tuning.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace engine {

template <class Design, class Space>
class multi : multi_arrays<Design, Space> {
  using base = multi_arrays<Design, Space>;
  using base::groups, base::number_keys, base::give_ids, base::list_frequent, base::all_put;
  using base::options_, base::ids_, base::keys_, base::starts_, base::values_, base::items_, base::distinct_;
  using typename base::design, typename base::Key, typename base::Value, typename base::Ids,
      typename base::Offset, typename base::word, typename base::ids_engine, typename base::keys_in;
  using values_in = std::span<const Value>;

 public:
  using view_type = table_view<design>;
  template <class Base>
  using verbs = tilehash::verbs::of_multi<Base>;

  // The options are those of the table of ids, which always grows. Builds and inserts allocate the arrays.
  multi(Space& space, u64 /*items*/, const table_options& options) : base(space, options) {}

  multi clone(Space& space) const {
    multi copy(options_, ids_.clone(space));
    copy.keys_ = detail::copy_of(keys_, space);
    copy.starts_ = detail::copy_of(starts_, space);
    copy.values_ = detail::copy_of(values_, space);
    copy.items_ = u64(items_);
    copy.distinct_ = u64(distinct_);
    return copy;
  }

  bool has_memory() const { return ids_.has_memory(); }
  Space* home() const { return ids_.home(); }
  u64 size() const { return items_; }
  u64 key_count() const { return distinct_; }
  u64 capacity() const { return ids_.capacity(); }  // of the table of ids
  u64 bytes() const { return ids_.bytes() + keys_.bytes() + starts_.bytes() + values_.bytes(); }
  view_type view() const { return {ids_.view(), keys_.data(), starts_.data(), values_.data(), distinct_}; }
  const table_options& options() const { return options_; }

  // O(n). Automatic grouping depends on how often keys repeat in a sample (fill()).
  insert_report build_arrays(Space& space, const Key* keys, const Value* values, u64 n,
                             grouping how = grouping::automatic);
  // Rebuilds the table from its items and the new ones. O(size() + n). Temporary memory: that of a build, and
  // all items once.
  insert_report insert_arrays(Space& space, const Key* keys, const Value* values, u64 n,
                              grouping how = grouping::automatic) {
    if (n == 0) return {};
    if (items_ == 0) return build_arrays(space, keys, values, n, how);
    const u64 before = items_, all = before + n;
    buffer<Key, Space> all_keys(space, all);
    buffer<Value, Space> all_values(space, all);
    copy_entries(space, all_keys.data(), all_values.data());
    space.copy(all_keys.data() + before, keys, n * sizeof(Key));
    space.copy(all_values.data() + before, values, n * sizeof(Value));
    insert_report report = build_arrays(space, all_keys.data(), all_values.data(), all, how);
    report.inserted -= before;
    return report;
  }

  // ---- retrieval ----
  // Items of equal keys are adjacent.
  void copy_entries(Space& space, Key* keys, Value* values) const;
  void copy_keys(Space& space, Key* keys) const {
    if (distinct_ == 0) return;
    if constexpr (design::in_records)
      space.for_each(distinct_, detail::key_lister<view_type>{view(), keys});
    else
      space.copy(keys, keys_.data(), distinct_ * sizeof(Key));
  }
  template <class F>
  void for_each(Space& space, F f) const {
    groups().for_each(space, items_, detail::item_giver<view_type, F>{view(), f});
  }
  // offsets[i]: how many values the keys before keys[i] have. Returns where the values of each key begin, and how
  // many there are. Copies them to `to` if they are few and fit. Synchronizes with the host.
  detail::found_ranges<Offset, Space> find_ranges(Space& space, const Key* keys, u64 n, u64* offsets,
                                                  Value* to, u64 capacity) const;
  void copy_values(Space& space, std::span<const u64> offsets, const buffer<Offset, Space>& begins, Value* to,
                   u64 n) const;

  // Removes all items; the table of ids keeps its capacity.
  void clear(Space& space) {
    ids_.clear(space);
    keys_ = {};
    starts_ = {};
    values_ = {};
    items_ = 0;
    distinct_ = 0;
  }

  template <class Sink>
  void look_up(Space& space, const Key* keys, u64 n, Sink sink) const;

 private:
  multi(const table_options& options, ids_engine&& ids) : base(options, std::move(ids)) {}

  // find_ranges() of few keys. Returns false if a block of them has too many values; offsets[i] is then the number of
  // values of keys[i].
  template <u32 Threads>
  bool find_few(Space& space, const Key* keys, u64 n, u64* offsets, Value* to, u64 capacity,
                detail::found_ranges<Offset, Space>& all) const {
    using copying = detail::copy_few_values<Value, Offset, Threads>;
    const u64 blocks = detail::divide_up(n, u64(Threads));
    all.begins = buffer<Offset, Space>(space, n + blocks + 1);  // the sums are behind the begins
    u32* const sums = reinterpret_cast<u32*>(all.begins.data() + n);
    u32* const at_host = reinterpret_cast<u32*>(detail::host_words_of(space));
    u32* const total = at_host != nullptr ? at_host : sums + blocks;
    const detail::range_sink<Value, Offset> sink{values_.data(), all.begins.data(), offsets};
    if constexpr (design::in_records) {
      using summing = detail::sum_few_counts<Threads>;
      look_up(space, keys, n, sink);
      space.for_each_block(blocks, Threads, summing::scratch_bytes, summing{offsets, n, sums});
    } else {
      using finding = detail::look_up_few<view_type, Threads>;
      space.for_each_block(blocks, Threads, finding::scratch_bytes, finding{view(), keys, n, sink, sums});
    }
    space.for_each_block(blocks, Threads, copying::scratch_bytes,
                         copying{offsets, n, sums, total, all.begins.data(), values_.data(), to, capacity});
    if (at_host != nullptr) {
      space.synchronize();
      all.total = *at_host;
    } else {
      all.total = read_one(space, total);
    }
    all.copied = all.total <= capacity;
    return all.total < detail::few_ranges<Threads>::too_many;
  }

  static constexpr u32 few_met = 64;  // keys that a lookup without memory takes at once

  // Grouping by regions is faster than a sort on both machines, while keys repeat so seldom that regions have
  // even sizes. Counting looks every item up in a table of the keys: a table of few keys stays in a cache,
  // and this is then a CPU's fastest way. A GPU sorts 30 G pairs a second, and makes half as many atomic
  // operations in memory.
  insert_report fill(Space& space, keys_in keys, values_in values, grouping how) {
    const bool selects = how == grouping::automatic;
    if constexpr (design::can_group) {
      constexpr double most_copies = detail::most_grouped_copies<Space, Key, Value>;
      insert_report report;
      if (how == grouping::by_regions && build_by_regions(space, keys, values, 1, report)) return report;
      if (selects && keys.size() >= detail::least_to_partition<Space>) {
        const auto sample = detail::sample_keys(space, keys.data(), keys.size());
        double copies = 1;
        while (copies <= most_copies && sample.more_uneven_than(copies)) copies *= 2;
        if (copies <= most_copies && finds_memory_by_regions(space, keys, values, copies, report))
          return report;
      }
    }
    if constexpr (design::can_sort) {
      if (how == grouping::by_regions || how == grouping::by_sort || (selects && Space::has_lanes))
        return build_by_sort(space, keys, values);
    }
    if constexpr (!design::in_records) {
      const bool few = list_frequent(space, keys);
      if constexpr (design::can_sort) {
        if (selects && !few) return build_by_sort(space, keys, values);
      }
    }
    return build_by_count(space, keys, values);
  }

  // Returns false if there is no memory: a sort may need less.
  bool finds_memory_by_regions(Space& space, keys_in keys, values_in values, double copies,
                               insert_report& report) {
    try {
      return build_by_regions(space, keys, values, copies, report);
    } catch (const out_of_memory&) {
      clear(space);
      return false;
    }
  }
  // Returns false, and builds nothing, where grouping by regions does not work.
  bool build_by_regions(Space& space, keys_in keys, values_in values, double copies, insert_report& report) {
    auto grouped =
        detail::group_by_regions<Offset, Ids>(space, keys.data(), values.data(), keys.size(),
                                              options_.load_factor, detail::seed_of(options_), copies);
    if (!grouped) return false;
    items_ = grouped->items;
    distinct_ = grouped->keys.size();
    keys_ = std::move(grouped->keys);
    starts_ = std::move(grouped->starts);
    values_ = std::move(grouped->values);
    report = number_grouped(space, *grouped, keys.size());
    report.inserted = items_;
    report.refused = keys.size() - items_;
    return true;
  }
  // Gives ids to keys that are stored region by region. If nearly all items have different keys, the table of
  // ids gets capacity for as many keys as there are items, so that these regions are its own.
  template <class Grouped>
  insert_report number_grouped(Space& space, const Grouped& grouped, u64 n) {
    if constexpr (detail::takes_bins<Ids>) {
      const Ids layout = ids_.layout_for(n);
      if (distinct_ >= n - n / 10 && grouped.has_regions_of(layout) &&
          detail::regions_pay(space, layout, n, 0)) {
        const detail::numbered_keys<typename Ids::slot_type> numbered{{keys_.data()}};
        const detail::numbered_bins<Ids> bins{layout, keys_.data(), grouped.firsts.data(),
                                              grouped.counts.data()};
        return all_put(ids_.build_from_bins(space, numbered, bins, distinct_, n));
      }
    }
    return number_keys(space);
  }

  insert_report build_by_sort(Space& space, keys_in keys, values_in values)
    requires design::can_sort
  {
    using carried = typename design::carried;
    constexpr bool takes_keys = !design::keys_are_words;
    constexpr bool takes_load = takes_keys || !design::moves_values;
    const u64 n = keys.size();
    buffer<word, Space> sorted(space, n);
    values_ = buffer<Value, Space>(space, n);
    items_ = n;
    {
      buffer<word, Space> words(space, takes_keys ? n : 0);
      buffer<carried, Space> load(space, takes_load ? n : 0), order(space, design::moves_values ? 0 : n);
      if constexpr (takes_load) {
        const detail::legal_selection<design> take{keys.data(), values.data(), words.data(), load.data()};
        if constexpr (detail::has_nan<Key>) {
          buffer<u64, Space> count(space, 1);
          space.fill(count.data(), 1, u64(0));
          detail::compact(space, n, take, count.data());
          items_ = read_one(space, count.data());
        } else {
          space.for_each(n, take);
        }
      }
      const word* from = words.data();
      const carried* brought = load.data();
      carried* brings = order.data();
      if constexpr (!takes_keys) from = reinterpret_cast<const word*>(keys.data());
      if constexpr (!takes_load) brought = values.data();
      if constexpr (design::moves_values) brings = values_.data();
      space.sort_pairs(from, brought, sorted.data(), brings, items_, 8 * detail::packed_bytes<Key>);
      if constexpr (!design::moves_values)
        space.for_each(items_,
                       detail::value_gatherer<Value, Offset>{values_.data(), values.data(), order.data()});
    }
    insert_report report = find_keys(space, sorted);
    report.inserted = items_;
    report.refused = n - items_;
    return report;
  }
  // Finds the unique keys of a sorted list, and where their values begin, and gives them ids.
  insert_report find_keys(Space& space, const buffer<word, Space>& sorted) {
    using work = detail::find_runs_in<Space, word, Key, Offset>;
    const u64 shares = detail::divide_up(items_, work::share);
    buffer<Offset, Space> counts(space, shares + 1);
    space.fill(counts.data() + shares, 1, Offset(0));
    const auto pass = [&](Key* keys, Offset* starts) {
      space.for_each_block(shares, work::block_size, work::scratch_bytes,
                           work{sorted.data(), items_, counts.data(), keys, starts});
    };
    pass(nullptr, nullptr);
    space.exclusive_scan(counts.data(), counts.data(), shares + 1);
    distinct_ = read_one(space, counts.data() + shares);
    keys_ = buffer<Key, Space>(space, distinct_);
    starts_ = buffer<Offset, Space>(space, distinct_ + 1);
    pass(keys_.data(), starts_.data());
    space.fill(starts_.data() + distinct_, 1, static_cast<Offset>(items_));
    return number_keys(space);
  }

  insert_report build_by_count(Space& space, keys_in keys, values_in values) {
    const u64 n = keys.size();
    buffer<u32, Space> numbers(space, n);
    insert_report report = give_ids(space, keys, numbers.data());
    starts_ = buffer<Offset, Space>(space, distinct_ + 1);
    buffer<Offset, Space> ranks(space, n);
    groups().start_counting(space);
    detail::rank(space, numbers.data(), n, starts_.data(), ranks.data());
    groups().end_counting(space);
    items_ = groups().positions(space);
    values_ = buffer<Value, Space>(space, items_);
    detail::scatter(
        space, detail::scatter_to_groups<Value, Offset>{numbers.data(), design::none, ranks.data(),
                                                        starts_.data(), values.data(), values_.data(), n});
    space.synchronize();
    report.inserted = items_;
    report.refused = n - items_;
    return report;
  }
};

// ---- where calls begin; outside of the class for the reason given in engine/insertion.hpp ----
template <class Design, class Space>
insert_report multi<Design, Space>::build_arrays(Space& space, const Key* keys, const Value* values, u64 n,
                                                 grouping how) {
  detail::require(n <= design::max_items,
                  "build: too many items for 32-bit offsets; use multi<Key, Value, Ids, std::uint64_t>");
  detail::require(design::can_sort || (how != grouping::by_sort && how != grouping::by_regions),
                  "build: only keys of up to 8 bytes that are stored in the table of ids can be sorted or "
                  "grouped by regions");
  multi fresh(space, 0, options_);
  insert_report report;
  if (n != 0) report = fresh.fill(space, {keys, n}, {values, n}, how);
  *this = std::move(fresh);
  return report;
}
template <class Design, class Space>
void multi<Design, Space>::copy_entries(Space& space, Key* keys, Value* values) const {
  if (items_ == 0) return;
  groups().for_each(space, items_, detail::key_repeater<view_type>{view(), keys});
  space.copy(values, values_.data(), items_ * sizeof(Value));
}
template <class Design, class Space>
auto multi<Design, Space>::find_ranges(Space& space, const Key* keys, u64 n, u64* offsets, Value* to,
                                       u64 capacity) const -> detail::found_ranges<Offset, Space> {
  detail::found_ranges<Offset, Space> all;
  const auto find = [&] {
    all.begins = buffer<Offset, Space>(space, n);
    look_up(space, keys, n, detail::range_sink<Value, Offset>{values_.data(), all.begins.data(), offsets});
  };
  if constexpr (Space::has_lanes) {
    constexpr u32 threads = detail::tuning::of<Space>::segments_block;
    const u64 blocks = detail::divide_up(n, u64(threads));
    if (blocks != 0 && blocks <= detail::few_ranges<threads>::most_blocks && ids_.has_memory()) {
      if (find_few<threads>(space, keys, n, offsets, to, capacity, all)) return all;
    } else {
      find();
    }
  } else {
    find();
  }
  space.fill(offsets + n, 1, u64(0));
  space.exclusive_scan(offsets, offsets, n + 1);
  all.total = read_one(space, offsets + n);
  all.copied = false;
  return all;
}
template <class Design, class Space>
void multi<Design, Space>::copy_values(Space& space, std::span<const u64> offsets,
                                       const buffer<Offset, Space>& begins, Value* to, u64 n) const {
  detail::for_each_in_segments(
      space, offsets.data(), offsets.size() - 1, n,
      detail::value_copier<Value, Offset>{offsets.data(), begins.data(), values_.data(), to});
  space.synchronize();
}
template <class Design, class Space>
template <class Sink>
void multi<Design, Space>::look_up(Space& space, const Key* keys, u64 n, Sink sink) const {
  if constexpr (Space::has_lanes) {
    ids_.look_up(space, keys, n, detail::through_starts<view_type, Sink>{view(), sink});
  } else {  // prefetches `starts`, in windows that stay in the cache
    u64 window = detail::tuning::cpu::met_window;
    buffer<detail::met_id, Space> many;
    try {
      many = buffer<detail::met_id, Space>(space, n < window ? n : window);
    } catch (const out_of_memory&) {  // a lookup does not fail for want of memory
      window = few_met;
    }
    detail::met_id few[few_met];
    detail::met_id* const met = many.data() != nullptr ? many.data() : few;
    for (u64 done = 0; done < n; done += window) {
      const u64 now = n - done < window ? n - done : window;
      ids_.look_up(space, keys + done, now, detail::met_sink<view_type>{met});
      space.for_each_share(now, detail::starts_reader<view_type, Sink>{view(), met, done, sink});
    }
  }
}

}  // namespace engine
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash

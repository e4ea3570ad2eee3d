// SPDX-License-Identifier: Apache-2.0
// Multi-value tables as the thesis publishes them: all values of a key side by side, and a cuckoo table that maps
// the key to its id.
//
//   multi_value_by_sort   pairs --radix sort--> | k k m n |, the first of each run, prefix sum: ids and starts;
//                         the different keys --chains of exchanges--> a single-level table, 1.25 slots a key
//   multi_value_by_count  keys --rounds of a block--> a two-level table with ids; a counter of each id numbers
//                         its items; prefix sum of the counters: starts; each value to its start + number
//
// The thesis counts inside the blocks that build the two-level table. Here the counters are in global memory.
//
// Source: D. Alcantara, Efficient Hash Tables on the GPU, PhD thesis, UC Davis 2011, sections 5.3 and 6.3,
// Algorithm 6.4, figures 5.11 and 6.14.
#pragma once

#include <tilehash/papers/published/compacting.hpp>

#include <tilehash/core/prologue.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace papers::published {

namespace multi_value_steps {

struct begin_runs {
  const u32 *sorted, *marks, *ids;
  u32 *list, *starts;
  TILEHASH_FN void operator()(u64 i) const {
    if (marks[i] != 0) list[ids[i]] = sorted[i], starts[ids[i]] = static_cast<u32>(i);
  }
};
template <class Design>
struct insert_ids {
  Design design;
  const u32* list;
  u64* lost;
  TILEHASH_FN void operator()(u64 i) const {
    if (design.insert(list[i], static_cast<u32>(i)).lost) detail::fetch_add(lost, u64(1));
  }
};
struct number_items {
  const u32* ids;
  u32 *counts, *numbers;
  TILEHASH_FN void operator()(u64 i) const { numbers[i] = detail::fetch_add(counts + ids[i], 1U); }
};
struct scatter_values {
  const u32 *ids, *numbers, *starts, *values;
  u32* grouped;
  TILEHASH_FN void operator()(u64 i) const { grouped[starts[ids[i]] + numbers[i]] = values[i]; }
};
template <class Design>
struct find_ranges {
  Design design;
  const u32 *keys, *starts;
  u32 *begins, *counts;
  TILEHASH_FN void operator()(u64 i) const {
    const u64 word = design.template find<false>(keys[i]);
    const u32 id = pair_slot::value_of(word);
    const bool present = word != pair_slot::empty_word;
    begins[i] = present ? starts[id] : 0;
    counts[i] = present ? starts[id + 1] - starts[id] : 0;
  }
};

// The values of all keys, those of one key side by side, and where each key's begin.
template <class Space>
struct groups {
  groups(Space& space, u64 n) : values(space, n), starts(space, n + 1) {
    detail::require(n != 0, "published::multi_value: no pairs");
  }
  // After the last of `ids` keys.
  void end(Space& space, u32 ids, u64 n) const { space.fill(starts.data() + ids, 1, static_cast<u32>(n)); }
  void check(std::span<const u32> keys, std::span<const u32> given) const {
    detail::require(keys.size() == values.size() && given.size() == values.size(),
                    "published::multi_value::build: another number of pairs");
  }

  buffer<u32, Space> values, starts;
};

}  // namespace multi_value_steps

// The key 0xffffffff cannot be stored.
template <class Space>
class multi_value_by_sort {
  using design_type = cuckoo<>;

 public:
  // For n pairs, at least one. Throws out_of_memory.
  multi_value_by_sort(Space& space, u64 n, double load_factor = 0.8)
      : load_factor_(load_factor),
        sorted_(space, n),
        marks_(space, n),
        ids_(space, n),
        list_(space, n),
        memory_(space, design_type::words_for(design_type::capacity_for(n, load_factor))),
        groups_(space, n) {}

  // Replaces the content by as many pairs as it was made for. False if no functions were found that store all
  // keys. Synchronizes.
  bool build(Space& space, std::span<const u32> keys, std::span<const u32> values, u64 seed) {
    using namespace multi_value_steps;
    groups_.check(keys, values);
    const u64 n = keys.size();
    space.sort_pairs(keys.data(), values.data(), sorted_.data(), groups_.values.data(), n, 32);
    space.for_each(n, compacting_steps::mark_runs{sorted_.data(), marks_.data()});
    size_ = compacting_steps::number_marked(space, marks_, ids_);
    space.for_each(
        n, begin_runs{sorted_.data(), marks_.data(), ids_.data(), list_.data(), groups_.starts.data()});
    groups_.end(space, size_, n);
    const buffer<u64, Space> lost(space, 1);
    const u64 capacity = design_type::capacity_for(size_, load_factor_);
    for (u32 builds = 0; builds < compacting_steps::most_builds; ++builds) {
      design_ = design_type(memory_.data(), capacity, seed + builds, load_factor_);
      space.fill(memory_.data(), design_type::words_for(capacity), pair_slot::empty_word);
      space.fill(lost.data(), 1, u64(0));
      space.for_each(size_, insert_ids<design_type>{design_, list_.data(), lost.data()});
      if (lost.to_host()[0] == 0) return true;
    }
    return false;
  }

  u32 size() const { return size_; }  // different keys
  std::span<const u32> values() const { return groups_.values.span(); }
  // Where each key's values begin, and how many there are; 0 for absent keys. Does not synchronize.
  void find_async(Space& space, std::span<const u32> keys, std::span<u32> begins,
                  std::span<u32> counts) const {
    space.for_each(keys.size(),
                   multi_value_steps::find_ranges<design_type>{design_, keys.data(), groups_.starts.data(),
                                                               begins.data(), counts.data()});
  }

 private:
  double load_factor_;
  buffer<u32, Space> sorted_, marks_, ids_, list_;
  buffer<u64, Space> memory_;
  multi_value_steps::groups<Space> groups_;
  design_type design_{memory_.data(), 1, 0, 0.8};
  u32 size_ = 0;
};

// The key 0xffffffff cannot be stored.
template <class Space>
class multi_value_by_count {
 public:
  // For n pairs, at least one. Throws out_of_memory.
  multi_value_by_count(Space& space, u64 n)
      : index_(space, n), ids_(space, n), counts_(space, n), numbers_(space, n), groups_(space, n) {}

  // Replaces the content by as many pairs as it was made for. False if no functions were found that store all
  // keys. Synchronizes.
  bool build(Space& space, std::span<const u32> keys, std::span<const u32> values, u64 seed) {
    using namespace multi_value_steps;
    groups_.check(keys, values);
    if (!index_.build(space, keys, seed).complete) return false;
    const u64 n = keys.size();
    index_.find_ids_async(space, keys, ids_.span());
    space.fill(counts_.data(), index_.size(), 0U);
    space.for_each(n, number_items{ids_.data(), counts_.data(), numbers_.data()});
    space.exclusive_scan(static_cast<const u32*>(counts_.data()), groups_.starts.data(), index_.size());
    groups_.end(space, index_.size(), n);
    space.for_each(n, scatter_values{ids_.data(), numbers_.data(), groups_.starts.data(), values.data(),
                                     groups_.values.data()});
    return true;
  }

  u32 size() const { return index_.size(); }  // different keys
  std::span<const u32> values() const { return groups_.values.span(); }
  // As above.
  void find_async(Space& space, std::span<const u32> keys, std::span<u32> begins,
                  std::span<u32> counts) const {
    using places = compacting_steps::two_level_places;
    space.for_each(keys.size(),
                   multi_value_steps::find_ranges<places>{index_.places(), keys.data(), groups_.starts.data(),
                                                          begins.data(), counts.data()});
  }

 private:
  two_level_compacting<Space> index_;
  buffer<u32, Space> ids_, counts_, numbers_;
  multi_value_steps::groups<Space> groups_;
};

}  // namespace papers::published
TILEHASH_END_ABI_NAMESPACE
TILEHASH_PUBLIC_NAMESPACE(papers);
}  // namespace tilehash

#include <tilehash/core/epilogue.hpp>

// SPDX-License-Identifier: Apache-2.0
// Two-way indexes as the thesis publishes them: ids 0, 1, 2 ... for the different keys of an input.
//
//   compacting      keys --chains of exchanges--> | k . k m . n |   copies may remain
//                   first copies:                 | 1 0 0 1 0 1 |   others are erased
//                   prefix sum:                   | 0     1   2 |   the ids, stored as values; ids -> k m n
//   compacted_list  keys --radix sort--> | k k m n |, the first of each run, prefix sum: k m n in order;
//                   a key's id by binary search
//
// Both give keys of ids by an array. In `compacting`, lookups read all slots of a key: copies were erased, and
// a free slot may be one that a chain has passed. (The thesis says that deletions disable the early end.)
//
// Source: D. Alcantara, Efficient Hash Tables on the GPU, PhD thesis, UC Davis 2011, sections 5.3 and 6.3,
// figures 5.10 and 6.13.
#pragma once

#include <span>

#include <tilehash/papers/published/cuckoo.hpp>
#include <tilehash/space/algorithms.hpp>
#include <tilehash/space/buffer.hpp>

#include <tilehash/core/prologue.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace papers::published {

inline constexpr u32 no_id = ~u32(0);

namespace compacting_steps {

template <class Design>
struct insert_keys {
  Design design;
  const u32* keys;
  u64* lost;
  TILEHASH_FN void operator()(u64 i) const {
    if (design.insert_key(keys[i]).lost) detail::fetch_add(lost, u64(1));
  }
};
template <class Design>
struct mark_first {
  Design design;
  u32* marks;
  TILEHASH_FN void operator()(u64 i) const { marks[i] = design.is_first(i); }
};
template <class Design>
struct number_places {
  Design design;
  const u32 *marks, *ids;
  u32* list;
  TILEHASH_FN void operator()(u64 i) const {
    u64* const place = design.place(i);
    const u32 key = pair_slot::key_of(*place);
    *place = marks[i] != 0 ? pair_slot::pack(key, ids[i]) : pair_slot::empty_word;
    if (marks[i] != 0) list[ids[i]] = key;
  }
};
template <class Design>
struct find_ids {
  Design design;
  const u32* keys;
  u32* ids;
  TILEHASH_FN void operator()(u64 i) const {
    const u64 word = design.template find<false>(keys[i]);
    ids[i] = word == pair_slot::empty_word ? no_id : pair_slot::value_of(word);
  }
};

struct mark_runs {
  const u32* sorted;
  u32* marks;
  TILEHASH_FN void operator()(u64 i) const { marks[i] = i == 0 || sorted[i] != sorted[i - 1]; }
};
struct list_runs {
  const u32 *sorted, *marks, *ids;
  u32* list;
  TILEHASH_FN void operator()(u64 i) const {
    if (marks[i] != 0) list[ids[i]] = sorted[i];
  }
};
struct search_ids {
  const u32* list;
  u32 n;
  const u32* keys;
  u32* ids;
  TILEHASH_FN void operator()(u64 i) const {
    const u32 key = keys[i];
    u32 first = 0;
    for (u32 left = n; left > 1;) {
      const u32 half = left / 2;
      first = list[first + half] <= key ? first + half : first;
      left -= half;
    }
    ids[i] = n != 0 && list[first] == key ? first : no_id;
  }
};

// Ids of the marked of n things; returns their number.
template <class Space>
u32 number_marked(Space& space, const buffer<u32, Space>& marks, const buffer<u32, Space>& ids) {
  space.exclusive_scan(static_cast<const u32*>(marks.data()), ids.data(), marks.size());
  u32 last[2];
  space.copy_to_host(&last[0], marks.data() + marks.size() - 1, sizeof(u32));
  space.copy_to_host(&last[1], ids.data() + ids.size() - 1, sizeof(u32));
  return last[0] + last[1];
}

}  // namespace compacting_steps

// The key 0xffffffff cannot be stored.
template <class Space>
class compacting {
  using design_type = cuckoo<>;

 public:
  static constexpr u32 max_builds = 16;

  // For n keys, copies included. Throws out_of_memory.
  compacting(Space& space, u64 n, double load_factor = 0.8)
      : capacity_(design_type::capacity_for(n, load_factor)),
        load_factor_(load_factor),
        memory_(space, design_type::words_for(capacity_)),
        marks_(space, capacity_ + one_place_stash<>::slots),
        ids_(space, marks_.size()),
        list_(space, n) {}

  // Replaces the content. False if no functions were found that store all keys. Synchronizes.
  bool build(Space& space, std::span<const u32> keys, u64 seed) {
    using namespace compacting_steps;
    detail::require(keys.size() <= list_.size(),
                    "published::compacting::build: more keys than it was made for");
    const buffer<u64, Space> lost(space, 1);
    for (u32 builds = 0; builds < max_builds; ++builds) {
      design_ = design_type(memory_.data(), capacity_, seed + builds, load_factor_);
      space.fill(memory_.data(), memory_.size(), pair_slot::empty_word);
      space.fill(lost.data(), 1, u64(0));
      space.for_each(keys.size(), insert_keys<design_type>{design_, keys.data(), lost.data()});
      if (lost.to_host()[0] != 0) continue;
      space.for_each(marks_.size(), mark_first<design_type>{design_, marks_.data()});
      size_ = number_marked(space, marks_, ids_);
      space.for_each(marks_.size(),
                     number_places<design_type>{design_, marks_.data(), ids_.data(), list_.data()});
      return true;
    }
    return false;
  }

  u32 size() const { return size_; }  // different keys
  std::span<const u32> keys() const { return list_.span().first(size_); }
  // no_id for absent keys. Does not synchronize.
  void find_ids_async(Space& space, std::span<const u32> keys, std::span<u32> ids) const {
    space.for_each(keys.size(), compacting_steps::find_ids<design_type>{design_, keys.data(), ids.data()});
  }

 private:
  u64 capacity_;
  double load_factor_;
  buffer<u64, Space> memory_;
  buffer<u32, Space> marks_, ids_, list_;
  design_type design_{memory_.data(), capacity_, 0, load_factor_};
  u32 size_ = 0;
};

template <class Space>
class compacted_list {
 public:
  compacted_list(Space& space, u64 n)
      : sorted_(space, n), marks_(space, n), ids_(space, n), list_(space, n) {}

  // Replaces the content by as many keys as it was made for. Synchronizes.
  void build(Space& space, std::span<const u32> keys) {
    using namespace compacting_steps;
    detail::require(keys.size() == list_.size(), "published::compacted_list::build: another number of keys");
    if (keys.empty()) return;
    space.copy(sorted_.data(), keys.data(), keys.size_bytes());
    space.sort(sorted_.data(), keys.size());
    space.for_each(keys.size(), mark_runs{sorted_.data(), marks_.data()});
    size_ = number_marked(space, marks_, ids_);
    space.for_each(keys.size(), list_runs{sorted_.data(), marks_.data(), ids_.data(), list_.data()});
  }

  u32 size() const { return size_; }
  std::span<const u32> keys() const { return list_.span().first(size_); }
  // no_id for absent keys. Does not synchronize.
  void find_ids_async(Space& space, std::span<const u32> keys, std::span<u32> ids) const {
    space.for_each(keys.size(), compacting_steps::search_ids{list_.data(), size_, keys.data(), ids.data()});
  }

 private:
  buffer<u32, Space> sorted_, marks_, ids_, list_;
  u32 size_ = 0;
};

}  // namespace papers::published
TILEHASH_END_ABI_NAMESPACE
TILEHASH_PUBLIC_NAMESPACE(papers);
}  // namespace tilehash

#include <tilehash/core/epilogue.hpp>

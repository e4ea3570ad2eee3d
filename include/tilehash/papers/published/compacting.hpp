// SPDX-License-Identifier: Apache-2.0
// Two-way indexes as the thesis publishes them: ids 0, 1, 2 ... for the different keys of an input.
//
//   compacting            keys --chains of exchanges--> | k . k m . n |   copies may remain
//                         first copies:                 | 1 0 0 1 0 1 |   others are erased
//                         prefix sum:                   | 0     1   2 |   the ids, stored as values; ids -> k m n
//   two_level_compacting  keys --rounds of a block--> subtables, each key once with the value 1; prefix sum of
//                         the values: the ids
//   compacted_list        keys --radix sort--> | k k m n |, the first of each run, prefix sum: k m n in order;
//                         a key's id by binary search
//
// All give keys of ids by an array. In `compacting`, lookups read all slots of a key: copies were erased, and
// a free slot may be one that a chain has passed. (The thesis says that deletions disable the early end.)
//
// Sets of the thesis: over the two-level table they are a `two_level` with `repeats::allowed`, which is asked for
// members. Over the single-level table they are `cuckoo_set`: slots of 32 bits, and copies are erased.
//
// Source: D. Alcantara, Efficient Hash Tables on the GPU, PhD thesis, UC Davis 2011, sections 5.3 and 6.3,
// figures 5.10 and 6.13.
#pragma once

#include <optional>
#include <span>

#include <tilehash/papers/published/cuckoo.hpp>
#include <tilehash/papers/published/two_level.hpp>
#include <tilehash/space/algorithms.hpp>
#include <tilehash/space/buffer.hpp>

#include <tilehash/core/prologue.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace papers::published {

inline constexpr u32 no_id = ~u32(0);

namespace compacting_steps {

// The slots of a two-level table, where each key is once.
struct two_level_places {
  using view_type = two_level_view<tables::equal>;
  u64* slots;
  view_type view;

  TILEHASH_FN u64* place(u64 i) const { return slots + i; }
  TILEHASH_FN bool is_first(u64 i) const { return slots[i] != pair_slot::empty_word; }
  template <bool EndsAtFree>
  TILEHASH_FN u64 find(u32 key) const {
    return view.find(key);
  }
};

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

template <class Design>
struct erase_copies {
  Design design;
  const u32* marks;
  TILEHASH_FN void operator()(u64 i) const {
    if (marks[i] == 0) *design.place(i) = slot<u32, void>::empty_word;
  }
};
template <class Design>
struct find_members {
  Design design;
  const u32* keys;
  bool* found;
  TILEHASH_FN void operator()(u64 i) const {
    found[i] = design.template find<false>(keys[i]) != slot<u32, void>::empty_word;
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

inline constexpr u32 most_builds = 16;

// A single-level table of keys of which copies may remain, or nothing if no functions were found that store all.
template <class Design, class Space>
std::optional<Design> build_of_keys(Space& space, const buffer<typename Design::word, Space>& memory,
                                    u64 capacity, double load_factor, std::span<const u32> keys, u64 seed) {
  const buffer<u64, Space> lost(space, 1);
  for (u32 builds = 0; builds < most_builds; ++builds) {
    const Design design(memory.data(), capacity, seed + builds, load_factor);
    space.fill(memory.data(), memory.size(), Design::empty_word);
    space.fill(lost.data(), 1, u64(0));
    space.for_each(keys.size(), insert_keys<Design>{design, keys.data(), lost.data()});
    if (lost.to_host()[0] == 0) return design;
  }
  return std::nullopt;
}

// The ids of a table's keys: arrays to number its places by, and the keys in the order of their ids.
template <class Space>
class numbering {
 public:
  numbering(Space& space, u64 places, u64 keys)
      : marks_(space, places), ids_(space, places), list_(space, keys) {}

  u64 most_keys() const { return list_.size(); }
  // Stores the ids as the values of the places' keys, and erases other copies. Synchronizes.
  template <class Design>
  void assign(Space& space, const Design& design) {
    space.for_each(marks_.size(), mark_first<Design>{design, marks_.data()});
    size_ = number_marked(space, marks_, ids_);
    space.for_each(marks_.size(), number_places<Design>{design, marks_.data(), ids_.data(), list_.data()});
  }
  u32 size() const { return size_; }
  std::span<const u32> keys() const { return list_.span().first(size_); }

 private:
  buffer<u32, Space> marks_, ids_, list_;
  u32 size_ = 0;
};

}  // namespace compacting_steps

// The key 0xffffffff cannot be stored.
template <class Space>
class compacting {
  using design_type = cuckoo<>;

 public:
  // For n keys, copies included. Throws out_of_memory.
  compacting(Space& space, u64 n, double load_factor = 0.8)
      : capacity_(design_type::capacity_for(n, load_factor)),
        load_factor_(load_factor),
        memory_(space, design_type::words_for(capacity_)),
        numbers_(space, capacity_ + one_place_stash<>::slots, n) {}

  // Replaces the content. False if no functions were found that store all keys. Synchronizes.
  bool build(Space& space, std::span<const u32> keys, u64 seed) {
    using namespace compacting_steps;
    detail::require(keys.size() <= numbers_.most_keys(),
                    "published::compacting::build: more keys than it was made for");
    const auto built = build_of_keys<design_type>(space, memory_, capacity_, load_factor_, keys, seed);
    if (!built) return false;
    design_ = *built;
    numbers_.assign(space, design_);
    return true;
  }

  u32 size() const { return numbers_.size(); }  // different keys
  std::span<const u32> keys() const { return numbers_.keys(); }
  // no_id for absent keys. Does not synchronize.
  void find_ids_async(Space& space, std::span<const u32> keys, std::span<u32> ids) const {
    space.for_each(keys.size(), compacting_steps::find_ids<design_type>{design_, keys.data(), ids.data()});
  }

 private:
  u64 capacity_;
  double load_factor_;
  buffer<u64, Space> memory_;
  compacting_steps::numbering<Space> numbers_;
  design_type design_{memory_.data(), capacity_, 0, load_factor_};
};

// The same over the two-level table. The key 0xffffffff cannot be stored.
template <class Space>
class two_level_compacting {
  using table_type = two_level<Space, tables::equal, repeats::allowed>;

 public:
  // For n keys, copies included. Throws out_of_memory.
  two_level_compacting(Space& space, u64 n) : table_(space, n), numbers_(space, table_.slots().size(), n) {}

  // Replaces the content. If it is not complete, no functions were found that store all keys. Synchronizes.
  two_level_counts build(Space& space, std::span<const u32> keys, u64 seed) {
    const two_level_counts counts = table_.build(space, keys, seed);
    if (counts.complete) numbers_.assign(space, places());
    return counts;
  }

  u32 size() const { return numbers_.size(); }  // different keys
  std::span<const u32> keys() const { return numbers_.keys(); }
  // no_id for absent keys. Does not synchronize.
  void find_ids_async(Space& space, std::span<const u32> keys, std::span<u32> ids) const {
    using namespace compacting_steps;
    space.for_each(keys.size(), find_ids<two_level_places>{places(), keys.data(), ids.data()});
  }
  compacting_steps::two_level_places places() const { return {table_.slots().data(), table_.view()}; }

 private:
  table_type table_;
  compacting_steps::numbering<Space> numbers_;
};

// A set of 32-bit slots over the single-level table. The key 0xffffffff cannot be stored.
template <class Space>
class cuckoo_set {
  using design_type = cuckoo<4, one_place_stash<>, slot<u32, void>>;

 public:
  // For n keys, copies included. Throws out_of_memory.
  cuckoo_set(Space& space, u64 n, double load_factor = 0.8)
      : capacity_(design_type::capacity_for(n, load_factor)),
        load_factor_(load_factor),
        memory_(space, design_type::words_for(capacity_)),
        marks_(space, capacity_ + one_place_stash<>::slots) {}

  // Replaces the content by at most as many keys as it was made for. False if no functions were found that
  // store all keys. Synchronizes.
  bool build(Space& space, std::span<const u32> keys, u64 seed) {
    using namespace compacting_steps;
    const auto built = build_of_keys<design_type>(space, memory_, capacity_, load_factor_, keys, seed);
    if (!built) return false;
    design_ = *built;
    space.for_each(marks_.size(), mark_first<design_type>{design_, marks_.data()});
    space.for_each(marks_.size(), erase_copies<design_type>{design_, marks_.data()});
    return true;
  }

  // Slots and the stash: keys, and 0xffffffff where one is free.
  std::span<const u32> places() const { return memory_.span().first(marks_.size()); }
  // Does not synchronize.
  void contains_async(Space& space, std::span<const u32> keys, std::span<bool> found) const {
    using namespace compacting_steps;
    space.for_each(keys.size(), find_members<design_type>{design_, keys.data(), found.data()});
  }

 private:
  u64 capacity_;
  double load_factor_;
  buffer<u32, Space> memory_, marks_;
  design_type design_{memory_.data(), capacity_, 0, load_factor_};
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

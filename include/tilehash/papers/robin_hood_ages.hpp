// SPDX-License-Identifier: Apache-2.0
// The ages of the keys of a Robin Hood table, and how far those of each home have gone: the paper's figures 3
// and 4. For experiments and tests. Each function reads the whole table and synchronizes.
#pragma once

#include <vector>

#include <tilehash/core/atomic.hpp>
#include <tilehash/designs/robin_hood.hpp>
#include <tilehash/space/buffer.hpp>

#include <tilehash/core/prologue.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE

namespace detail {

template <class Design>
struct count_ages {
  Design design;
  u64* counts;
  TILEHASH_FN void operator()(u64 i) const { fetch_add(counts + design.age_in(design.slots()[i]), u64(1)); }
};

template <class Design>
struct copy_max_ages {
  Design design;
  u32* ages;
  TILEHASH_FN void operator()(u64 home) const {
    ages[home] = design.max_age(Design::slot_type::max_code_in(*design.bucket_at(home)));
  }
};

}  // namespace detail

namespace papers {

// The number of slots by the age of their content: [1] keys in their home bucket, [2] in the next bucket of
// their sequence, and so on up to the oldest key; [0] free slots. O(capacity).
template <class Space, class Table>
std::vector<u64> age_histogram(Space& space, const Table& table) {
  const auto design = table.view().design;
  if (table.capacity() == 0) return {0};
  buffer<u64, Space> counts(space, u64(1) << design.homes().age_bits());
  space.fill(counts.data(), counts.size(), u64(0));
  space.for_each(table.capacity(), detail::count_ages<typename Table::design_type>{design, counts.data()});
  std::vector<u64> ages = counts.to_host();
  while (ages.size() > 1 && ages.back() == 0) ages.pop_back();
  return ages;
}

// The age of the oldest key; 0 in an empty table. O(capacity).
template <class Space, class Table>
u32 widest_age(Space& space, const Table& table) {
  return static_cast<u32>(age_histogram(space, table).size() - 1);
}

// For each bucket in order: the number of buckets that a failed lookup reads from there. O(capacity).
template <class Space, class Table>
std::vector<u32> max_ages(Space& space, const Table& table) {
  using design_type = typename Table::design_type;
  buffer<u32, Space> ages(space, table.capacity() / design_type::bucket_slots);
  if (ages.size() != 0)
    space.for_each(ages.size(), detail::copy_max_ages<design_type>{table.view().design, ages.data()});
  return ages.to_host();
}

}  // namespace papers
TILEHASH_END_ABI_NAMESPACE
TILEHASH_PUBLIC_NAMESPACE(papers);
}  // namespace tilehash

#include <tilehash/core/epilogue.hpp>

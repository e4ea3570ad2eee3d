// SPDX-License-Identifier: Apache-2.0
// The baselines of Li et al. as published (papers/published/), behind the verbs that dynamic/static calls.
#pragma once

#include <tilehash/papers/published/cuckoo.hpp>
#include <tilehash/papers/published/dense_hash_map.hpp>
#include <tilehash/papers/published/dyhash.hpp>
#include <tilehash/papers/published/linear_probing.hpp>
#include <tilehash/papers/published/mega_kv.hpp>
#include <tilehash/papers/published/quadratic_probing.hpp>
#include <tilehash/papers/published/table.hpp>
#include <tilehash/table.hpp>

#include <span>

namespace tilehash::bench {

// insert() reports lost pairs as refused. A key of all ones counts as lost: these tables cannot store it.
template <class Design, class Space>
class published_table {
 public:
  published_table(Space& space, u64 pairs, const table_options& options)
      : table_(space, pairs, options.load_factor, options.seed.value_or(1)) {}

  u64 capacity() const { return table_.capacity(); }
  u64 bytes() const { return table_.bytes(); }
  void clear(Space& space) { table_.clear(space); }
  insert_report insert(Space& space, std::span<const u32> keys, std::span<const u32> values) {
    const auto counts = table_.insert(space, keys, values);
    const u64 refused = counts.lost + counts.reserved;
    return {.inserted = keys.size() - refused - counts.known, .present = counts.known, .refused = refused};
  }
  // Locks that were tried and not taken, when all pairs are inserted.
  u64 count_waits(Space& space, std::span<const u32> keys, std::span<const u32> values)
    requires papers::published::works_in_tiles<Design>
  {
    table_.clear(space);
    return table_.insert(space, keys, values, 1).waits;
  }
  void find_async(Space& space, std::span<const u32> keys, std::span<u32> values,
                  std::span<bool> found) const {
    table_.find_async(space, keys, values, found);
  }

 private:
  papers::published::table<Design, Space> table_;
};

// Is a table of this design one that loses pairs, and does it store each copy of a key?
template <class Design>
inline constexpr bool is_published = false;
template <class Design>
inline constexpr bool stores_copies = false;
template <u32 Slots, u32 Evictions, class Hash>
inline constexpr bool is_published<papers::published::mega_kv<Slots, Evictions, Hash>> = true;
template <u32 Probes, class Hash>
inline constexpr bool is_published<papers::published::linear_probing<Probes, Hash>> = true;
template <u32 Functions, class Stash>
inline constexpr bool is_published<papers::published::cuckoo<Functions, Stash>> = true;
template <papers::published::lock_by How, u32 Subtables, class Hash>
inline constexpr bool is_published<papers::published::dyhash<How, Subtables, Hash>> = true;
template <>
inline constexpr bool is_published<papers::published::dense_hash_map> = true;
template <papers::published::pairs_in Where>
inline constexpr bool is_published<papers::published::quadratic_probing<Where>> = true;
template <u32 Functions, class Stash>
inline constexpr bool stores_copies<papers::published::cuckoo<Functions, Stash>> = true;

// The table that dynamic/static fills.
template <class Design, class Space>
struct table_to_fill {
  using type = table<Design, Space>;
};
template <class Design, class Space>
  requires is_published<Design>
struct table_to_fill<Design, Space> {
  using type = published_table<Design, Space>;
};

}  // namespace tilehash::bench

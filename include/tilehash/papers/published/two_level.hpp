// SPDX-License-Identifier: Apache-2.0
// The two-level cuckoo table as the thesis builds it: buckets of at most 512 pairs, each with three subtables
// that a block fills in rounds.
//
//   round:  all keys in hand --> subtable 1     barrier     those that were overwritten --> subtable 2
//           barrier     those that were overwritten --> subtable 3     barrier     the rest is in hand again
//
// All threads write at once, without atomic operations, and one write to a slot remains. A thread knows in
// which subtable its key should be, and checks the slot after the barrier. After 25 rounds the block begins
// again with another seed of 16 bits, from which the constants of all three functions come. If a bucket gets
// more than 512 pairs, or all seeds fail, the partition is made again with another function.
//
//   function of   a, b                              mod p mod
//   the buckets   1 and 0, then 16 bits each        buckets
//   a subtable    the seed XOR constants            slots of the subtable, 192
//
// `tables::exact` is the variant of section 5.5: the subtables of a bucket have 3/8 of the slots of its own
// pairs, and an array says where they begin. A lookup then reads that array as well.
//
// Keys are different from each other, as in section 5.2, or may repeat, as in section 5.3 (`repeats::allowed`). The
// bucket then has any number of pairs and at most 512 different keys. All copies of a key write the same slot in
// each step, so they have the same state, and the bucket stores one of them. A bucket of more different keys fails
// under all its seeds.
//
// Keys and values have 32 bits; 0xffffffff marks a free slot, so that key cannot be stored.
//
// Source: D. Alcantara, Efficient Hash Tables on the GPU, PhD thesis, UC Davis 2011, sections 5.1, 5.2, 5.3, 5.5,
// algorithms 5.2 and 5.3, listings 5.1 and 5.2.
#pragma once

#include <algorithm>
#include <span>

#include <tilehash/core/capacity.hpp>
#include <tilehash/core/error.hpp>
#include <tilehash/core/hash.hpp>
#include <tilehash/papers/published/two_level_bucket.hpp>
#include <tilehash/space/buffer.hpp>

#include <tilehash/core/prologue.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace papers::published {

template <class Space, tables Tables = tables::equal, repeats Repeats = repeats::never>
class two_level {
 public:
  using view_type = two_level_view<Tables>;
  static constexpr u32 max_partitions = 20;
  static constexpr bool keys_repeat = Repeats == repeats::allowed;

  // Empty, for so many pairs. Throws out_of_memory.
  two_level(Space& space, u64 pairs)
      : pairs_(pairs),
        buckets_(static_cast<u32>(std::max<u64>(
            1, detail::divide_up(pairs * 100, u64(view_type::capacity) * view_type::filled_percent)))),
        slots_(space, view_type::slots_of(pairs, buckets_)),
        seeds_(space, buckets_),
        starts_(space, buckets_),
        counts_(space, buckets_) {
    detail::require(pairs < u64(1) << 31, "published::two_level has fewer than 2^31 pairs");
    detail::require(buckets_ < view_type::prime,
                    "published::two_level: the thesis' prime is smaller than the number of buckets");
  }

  u64 bytes() const {
    const u64 each = Tables == tables::exact ? 3 : 1;  // arrays that a lookup reads
    return slots_.bytes() + each * seeds_.bytes();
  }
  view_type view() const {
    return {slots_.data(), seeds_.data(), starts_.data(), counts_.data(), buckets_, a_, b_};
  }

  // The words of the slots, for what changes values after a build.
  std::span<u64> slots() const { return slots_.span(); }

  // Replaces the content. A key that repeats keeps one of its values. Synchronizes for each partition and once
  // after the build.
  two_level_counts build(Space& space, std::span<const u32> keys, std::span<const u32> values, u64 seed) {
    detail::require(keys.size() == values.size(),
                    "published::two_level::build: keys and values differ in number");
    return build(space, keys, values.data(), seed);
  }
  // The same of keys, all with the value 1.
  two_level_counts build(Space& space, std::span<const u32> keys, u64 seed) {
    return build(space, keys, static_cast<const u32*>(nullptr), seed);
  }

  // Writes found[i], and values[i] where the key is present. Does not synchronize.
  void find_async(Space& space, std::span<const u32> keys, std::span<u32> values,
                  std::span<bool> found) const {
    detail::require(keys.size() <= values.size() && keys.size() <= found.size(),
                    "published::two_level::find_async: fewer results than keys");
    space.for_each(keys.size(),
                   find_body<view_type>{view(), keys.data(), keys.size(), values.data(), found.data()});
  }

 private:
  two_level_counts build(Space& space, std::span<const u32> keys, const u32* values, u64 seed) {
    detail::require(keys.size() <= pairs_, "published::two_level::build: more pairs than it was made for");
    using body = build_bucket<Tables, Repeats>;
    const buffer<u64, Space> shuffled(space, keys.size()), sums(space, body::all_counts);
    const buffer<u32, Space> states(space, keys_repeat ? keys.size() : 0);
    two_level_counts result;
    result.buckets = buckets_;
    a_ = 1, b_ = 0;
    while (!result.complete && result.partitions < max_partitions) {
      if (result.partitions != 0) {
        a_ = static_cast<u32>(mix64(seed + 2 * result.partitions) & 0xffff) | 1;
        b_ = static_cast<u32>(mix64(seed + 2 * result.partitions + 1) & 0xffff);
      }
      ++result.partitions;
      if (!partition(space, keys, values, shuffled.data())) continue;
      space.fill(sums.data(), sums.size(), u64(0));
      space.fill(slots_.data(), slots_.size(), pair_slot::empty_word);
      space.for_each_block(
          buckets_, body::block_size, body::scratch_bytes(),
          body{view(), shuffled.data(), slots_.data(), seeds_.data(), sums.data(), seed, states.data()});
      const auto host = sums.to_host();
      std::copy_n(host.begin(), two_level_counts::most_rounds + 1, result.rounds);
      result.restarts += host[body::restarts];
      result.complete = host[body::hopeless] == 0;
    }
    return result;
  }
  // Phase 1. False if a bucket has too many pairs.
  bool partition(Space& space, std::span<const u32> keys, const u32* values, u64* shuffled) {
    const u64 n = keys.size();
    const buffer<u32, Space> offsets(space, n), overfull(space, 1);
    space.fill(counts_.data(), buckets_, 0U);
    space.fill(overfull.data(), 1, 0U);
    space.for_each(n,
                   count_pairs<Tables>{view(), keys.data(), counts_.data(), offsets.data(), overfull.data()});
    if (!keys_repeat && overfull.to_host()[0] != 0) return false;
    space.exclusive_scan(static_cast<const u32*>(counts_.data()), starts_.data(), buckets_);
    space.for_each(
        n, scatter_pairs<Tables>{view(), keys.data(), values, starts_.data(), offsets.data(), shuffled});
    return true;
  }

  u64 pairs_;
  u32 buckets_, a_ = 1, b_ = 0;
  buffer<u64, Space> slots_;
  buffer<u32, Space> seeds_, starts_, counts_;
};

}  // namespace papers::published
TILEHASH_END_ABI_NAMESPACE
TILEHASH_PUBLIC_NAMESPACE(papers);
}  // namespace tilehash

#include <tilehash/core/epilogue.hpp>

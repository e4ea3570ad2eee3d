// SPDX-License-Identifier: Apache-2.0
// Tests which regions of a resized table are listed for trial (engine/crowded_regions.hpp): all regions
// with an unplaced key, as an exact matching on the host finds them, and few others.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <contract/random.hpp>
#include <tilehash/engine/region_resize.hpp>
#include <tilehash/space/buffer.hpp>
#include <tilehash/table.hpp>

namespace tilehash::contract {

// Keys with two buckets each, in buckets of a given number of slots; finds which of them can be placed.
class exact_matching {
 public:
  exact_matching(u64 buckets, u64 slots) : slots_(slots), keys_in_(buckets), seen_(buckets) {}

  void add(u32 first, u32 second) {
    buckets_.emplace_back(first, second);
    seen_.assign(seen_.size(), false);
    const u32 key = static_cast<u32>(buckets_.size() - 1);
    without_ += !put(key, first) && !put(key, second);
  }
  u64 keys() const { return buckets_.size(); }
  u64 without() const { return without_; }
  // Keys whose first bucket is full of other keys.
  u64 crowded() const {
    std::vector<u64> firsts(keys_in_.size());
    for (const auto& [first, second] : buckets_) ++firsts[first];
    u64 n = 0;
    for (const u64 its : firsts) n += its - std::min(its, slots_);
    return n;
  }

 private:
  bool put(u32 key, u32 bucket) {
    if (seen_[bucket]) return false;
    seen_[bucket] = true;
    auto& held = keys_in_[bucket];
    if (held.size() < slots_) return held.push_back(key), true;
    for (u32& other : held) {
      const auto [first, second] = buckets_[other];
      if (!put(other, first == bucket ? second : first)) continue;
      other = key;
      return true;
    }
    return false;
  }

  u64 slots_, without_ = 0;
  std::vector<std::pair<u32, u32>> buckets_;
  std::vector<std::vector<u32>> keys_in_;
  std::vector<bool> seen_;
};

template <class Design>
exact_matching matching_of(const Design& before, const Design& after, u32 region) {
  exact_matching m(after.region_buckets(), Design::bucket_slots);
  const detail::old_regions<Design> regions{before, after, before.slots(), 0};
  regions.at_region(region).for_each_item(0, 1, [&](u32, const auto& e) {
    const auto first = after.location_of(detail::routed_item<typename Design::slot_type>::hash_of(e));
    auto second = first;
    after.turn(second);
    m.add(first.bucket, second.bucket);
  });
  return m;
}

struct listed_for_trial {
  std::vector<u64> sums;  // as in find_crowded
  std::vector<bool> region;
  u64 count() const { return sums[2]; }
};
template <class Design, class Space>
listed_for_trial find_listed(Space& space, const Design& before, const Design& after,
                             u32 rounds = detail::find_crowded<detail::old_regions<Design>>::most_rounds) {
  using body = detail::find_crowded<detail::old_regions<Design>>;
  const buffer<u64, Space> sums(space, std::vector<u64>(3));
  const buffer<u32, Space> list(space, after.regions());
  space.for_each_block(after.regions(), body::block_size, body::scratch_bytes(after.region_buckets()),
                       body{{before, after, before.slots(), 0}, sums.data(), list.data(), rounds});
  listed_for_trial r{sums.to_host(), std::vector<bool>(after.regions())};
  const std::vector<u32> regions = list.to_host();
  for (u64 i = 0; i < r.count(); ++i) {
    EXPECT_FALSE(r.region.at(regions[i])) << "listed twice";
    r.region.at(regions[i]) = true;
  }
  return r;
}

// Hashes of keys that have the same two buckets in a region, either first.
template <class Design>
std::vector<typename Design::key_bits> hashes_of_one_pair(const Design& after, u32 region, u64 n,
                                                          random_numbers& random) {
  using bits = typename Design::key_bits;
  constexpr u32 low = 8 * sizeof(bits) - 32;
  std::vector<bits> hashes;
  const u32 buckets = after.region_buckets(), one = static_cast<u32>(random.below(buckets));
  const u32 other = (one + 1 + static_cast<u32>(random.below(buckets - 1))) % buckets;
  for (const u32 wanted : {one, other}) {
    const u64 within = (static_cast<u64>(wanted + 1) << 32) / buckets - 1;  // the last value of the bucket
    const u64 top = ((static_cast<u64>(region) << 32) + within) / after.regions();
    for (u64 i = 0; hashes.size() < (wanted == one ? n / 2 : n); ++i) {
      const u64 high = low == 0 ? top - i : top, rest = low == 0 ? 0 : random() & 0xffff'ffff;
      const auto h = static_cast<bits>(high << low % 64 | rest);
      auto p = after.location_of(h);
      if (after.region_of(h) != region || p.bucket != wanted) break;  // too few hashes exist
      after.turn(p);
      if (p.bucket == (wanted == one ? other : one)) hashes.push_back(h);
    }
  }
  return hashes;
}

// How often each case occurred.
struct met {
  u64 impossible = 0, cleared = 0, listed_in_vain = 0;
};
// A table of small regions gets another number of regions. In one region some keys share two buckets, and
// every other time they are too many for these buckets. With fewer rounds the new regions are fuller.
template <class Design, class Space>
void compare_with_matching(Space& space, random_numbers& random, u64 time, met& met) {
  using key = typename Design::key_type;
  using value =
      std::conditional_t<std::is_void_v<typename Design::mapped_type>, char, typename Design::mapped_type>;
  constexpr double full = 0.82;  // a table that is made for fewer items has more and smaller regions
  constexpr u64 region_slots = Design::max_region(full) / 4 * Design::bucket_slots;
  const u32 rounds = static_cast<u32>(time % 4);
  const u64 from = random.between(5, 9),
            to = rounds == 3 ? random.between(3, 9) : random.between(2, from - 1);
  const double most = std::min(0.8, 0.99 * static_cast<double>(to) / static_cast<double>(from));
  const double load = most * static_cast<double>(rounds == 0 ? 100 : random.between(70, 100)) / 100;
  table<Design, Space> t(space, static_cast<u64>(full * static_cast<double>(from * region_slots)),
                         {.load_factor = full, .seed = random(), .grow = false});
  const Design before = t.view().design;
  ASSERT_EQ(before.regions(), from);
  Design after = before;
  after.reshape(nullptr, to);
  const u64 together = 2 * Design::bucket_slots + random.below(3) - (time % 2 == 0 ? 2 : 0) + time % 2;
  std::vector<key> keys;
  for (const auto h : hashes_of_one_pair(after, static_cast<u32>(random.below(to)), together, random))
    keys.push_back(static_cast<key>(after.unhash(h)));
  const u64 n = static_cast<u64>(load * static_cast<double>(t.capacity())), start = random();
  while (keys.size() < n) keys.push_back(spread_key<key>(start + keys.size()));
  const buffer<key, Space> k(space, keys);
  const buffer<value, Space> v(space, std::vector<value>(n));
  if constexpr (std::is_void_v<typename Design::mapped_type>)
    static_cast<void>(t.insert(space, k.span()));
  else
    static_cast<void>(t.insert(space, k.span(), v.span()));

  SCOPED_TRACE(std::to_string(from) + " to " + std::to_string(to) + " regions, " + std::to_string(rounds) +
               " rounds");
  const listed_for_trial listed = find_listed(space, before, after, rounds);
  u64 crowded = 0, too_many = 0;
  for (u32 region = 0; region < to; ++region) {
    const exact_matching m = matching_of(before, after, region);
    crowded += m.crowded();
    too_many += m.keys() > after.region_slots();
    if (m.without() != 0) {
      EXPECT_TRUE(listed.region[region]) << m.without() << " keys of region " << region << " have no place";
      ++met.impossible;
    }
    met.cleared += !listed.region[region] && m.crowded() != 0;
    met.listed_in_vain += listed.region[region] && m.without() == 0;
  }
  EXPECT_EQ(listed.sums[0], crowded);
  EXPECT_EQ(listed.sums[1], too_many);
}
template <class Design, class Space>
void compare_with_matching(Space& space, u64 times) {
  SCOPED_TRACE("repeat it with TILEHASH_SEED=" + std::to_string(run_seed()));
  random_numbers random("crowded regions");
  met met;
  for (u64 i = 0; i < times; ++i) compare_with_matching<Design>(space, random, i, met);
  EXPECT_GT(met.impossible, 0U);
  EXPECT_GT(met.cleared, 0U);
  EXPECT_GT(met.listed_in_vain, 0U);
}

}  // namespace tilehash::contract

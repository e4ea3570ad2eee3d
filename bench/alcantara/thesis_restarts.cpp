// SPDX-License-Identifier: Apache-2.0
#include "alcantara/thesis_restarts.hpp"

#include <algorithm>
#include <numeric>
#include <optional>
#include <vector>

#include <tilehash/core/atomic.hpp>
#include <tilehash/papers/cuckoo.hpp>
#include <tilehash/papers/two_level_cuckoo.hpp>
#include <tilehash/space/cpu.hpp>
#include <tilehash/table.hpp>

namespace tilehash::bench {
namespace {

// All different: the mixer is a bijection.
void make_keys(std::vector<u32>& keys, u64 trial) {
  for (u64 i = 0; i < keys.size(); ++i) keys[i] = mix32(static_cast<u32>(trial * keys.size() + i));
}

// Puts items in one after another, as displacement follows insertion, and counts the walks.
template <class Design>
void count_walks(const Design& design, const std::vector<u32>& keys, u64& hard, u64& walks, u64& most) {
  using slot = typename Design::slot_type;
  const solo_tile alone;
  for (const u32 key : keys) {
    const auto bits = slot::encode(key);
    if (slot::is_reserved(bits)) continue;
    const auto word = slot::pack(bits, key);
    if (detail::insert_one(design, bits, key) != outcome::refused) continue;
    const auto displacement = design.displacement_of(bits, word);
    typename Design::displacement::progress p;
    while (!p.ends_with(displacement.attempt(alone, p.rounds, true), Design::max_searches)) continue;
    ++hard;
    walks += p.rounds;
    most = std::max<u64>(most, p.rounds);
  }
}

template <class Design>
restart_counts count(const restart_case& c) {
  cpu space(1);
  restart_counts row{.what = c};
  std::vector<u32> keys(c.items), out(c.items);
  u64 hard = 0, walks = 0;
  const table_options options{.load_factor = std::min(1 / c.size, double(Design::max_load_factor))};
  for (u64 trial = 0; trial < c.trials; ++trial) {
    make_keys(keys, trial);
    table_options its = options;
    its.seed = mix64(trial);
    table<Design, cpu> t(space, c.items, its);
    const u64 capacity = t.capacity();
    row.restarted += t.insert(space, keys, keys).restarts != 0;
    row.larger += t.capacity() != capacity;
    if (t.view().design.max_steps() > c.functions) {
      ++row.stash_used;
      t.probe_counts(space, keys, out);
      row.stashed += static_cast<u64>(std::ranges::count(out, c.functions + 1));
    }
    t.find(space, keys, out);
    for (u64 i = 0; i < c.items; ++i) row.lost += out[i] != keys[i];

    table<Design, cpu> serial(space, c.items, its);
    count_walks(serial.view().design, keys, hard, walks, row.most_walks);
  }
  row.hard = static_cast<double>(hard) / static_cast<double>(c.items * c.trials);
  row.walks = hard == 0 ? 0 : static_cast<double>(walks) / static_cast<double>(hard);
  return row;
}

template <u32 Functions>
restart_counts count_with(const restart_case& c) {
  return c.stash ? count<papers::cuckoo<u32, u32, Functions>>(c)
                 : count<papers::cuckoo<u32, u32, Functions, murmur, 0>>(c);
}

}  // namespace

restart_counts count_restarts(const restart_case& c) {
  return c.functions == 2   ? count_with<2>(c)
         : c.functions == 3 ? count_with<3>(c)
         : c.functions == 4 ? count_with<4>(c)
                            : count_with<5>(c);
}

partition_counts count_partitions(const partition_case& c) {
  using design = papers::two_level_cuckoo<u32, u32, 512>;
  cpu space;
  partition_counts row{.what = c};
  const double load = design::max_load_factor;  // 80 % of 512 items are expected in a region
  const u64 capacity = design::capacity_for(c.items, load);
  row.regions = design(nullptr, capacity, 0).regions();
  space.for_each_share(
      c.partitions,
      [&](u64 from, u64 to) {
        std::vector<u32> sizes(row.regions);
        for (u64 trial = from; trial < to; ++trial) {
          const design d(nullptr, capacity, mix64(trial));
          std::ranges::fill(sizes, 0);
          for (u64 i = 0; i < c.items; ++i)
            ++sizes[d.region_of(d.hash(mix32(static_cast<u32>(trial * c.items + i))))];
          const u32 most = *std::ranges::max_element(sizes);
          detail::fetch_add(&row.overfull, u64(most > design::region_items));
          detail::fetch_add(&row.beyond, u64(most > d.region_slots()));
        }
      },
      1);

  std::vector<u32> keys(c.items), out(c.items);
  for (u64 trial = 0; trial < c.builds; ++trial) {
    make_keys(keys, trial);
    table<design, cpu> t(space, 0, {.load_factor = load, .seed = mix64(~trial)});
    const insert_report report = t.build(space, keys, keys);
    row.restarted += report.restarts != 0;
    const design built = t.view().design;
    row.reseeded += std::accumulate(built.seeds(), built.seeds() + built.regions(), u64(0));
    t.find(space, keys, out);
    for (u64 i = 0; i < c.items; ++i) row.lost += out[i] != keys[i];
  }
  return row;
}

}  // namespace tilehash::bench

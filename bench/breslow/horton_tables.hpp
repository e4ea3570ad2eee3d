// SPDX-License-Identifier: Apache-2.0
// The common parts of the experiments with Horton tables: a table of the CPU, of pairs of 32 + 32 bits, which counts
// the buckets that its lookups read and judges all they answer.
#pragma once

#include <tilehash/core/atomic.hpp>
#include <tilehash/space/cpu.hpp>
#include <tilehash/table.hpp>

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "numbered.hpp"

namespace tilehash::bench {

// So many keys from a number on, no two alike.
inline std::vector<u32> numbered_keys(u64 first, u64 n) {
  std::vector<u32> keys(n);
  for (u64 i = 0; i < n; ++i) keys[i] = key_of<u32>(first + i);
  return keys;
}

struct lookups_read {
  double buckets = 0;  // for a key, on average
  u64 missing = 0;     // keys that were not found
  u64 wrong = 0;       // ... that were found with a value which is not theirs
};

template <class Design>
class counted_table {
 public:
  using keys_in = std::span<const u32>;

  counted_table(cpu& space, u64 items, double load)
      : space_(&space), table_(space, items, {.load_factor = load, .seed = 1, .grow = false}) {}

  u64 capacity() const { return table_.capacity(); }
  double load() const { return table_.load_factor(); }

  insert_report insert(keys_in keys) {
    std::vector<u32> values(keys.size());
    std::ranges::transform(keys, values.begin(), [](u32 key) { return value_of<u32>(key); });
    return table_.insert(*space_, keys, std::span<const u32>(values));
  }
  u64 erase(keys_in keys) { return table_.erase(*space_, keys); }

  // By a view, whose answers say how much was read: bulk lookups of each table would take long to compile.
  lookups_read look_up(keys_in keys) const {
    const auto view = table_.view();
    u64 buckets = 0, missing = 0, wrong = 0;
    space_->for_each_share(keys.size(), [&](u64 from, u64 to) {
      u64 read = 0, absent = 0, bad = 0;
      for (u64 i = from; i < to; ++i) {
        const auto hit = view.find(keys[i]);
        read += hit.probes();
        absent += !hit.found();
        bad += hit.found() && hit.value() != value_of<u32>(keys[i]);
      }
      detail::fetch_add(&buckets, read);
      detail::fetch_add(&missing, absent);
      detail::fetch_add(&wrong, bad);
    });
    return {static_cast<double>(buckets) / static_cast<double>(keys.size()), missing, wrong};
  }

  // The share of the buckets that have remap entries.
  double type_b() const
    requires requires { &Design::slot_type::is_remap; }
  {
    const Design d = table_.view().design;
    u64 n = 0;
    for (u64 i = Design::last_slot; i < d.capacity(); i += Design::bucket_slots)
      n += Design::slot_type::is_remap(d.slots()[i]);
    return static_cast<double>(n * Design::bucket_slots) / static_cast<double>(d.capacity());
  }

 private:
  cpu* space_;
  table<Design, cpu> table_;
};

}  // namespace tilehash::bench

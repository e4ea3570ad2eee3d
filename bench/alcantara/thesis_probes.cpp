// SPDX-License-Identifier: Apache-2.0
#include "alcantara/thesis_probes.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include <tilehash/designs/double_hashing.hpp>
#include <tilehash/designs/linear_probing.hpp>
#include <tilehash/kernel/upsert.hpp>
#include <tilehash/papers/quadratic_probing.hpp>
#include <tilehash/space/cpu.hpp>

namespace tilehash::bench {
namespace {

// Lookups of the n keys from number `first` on, all different: the mixer is a bijection.
template <class Design>
void count_lookups(cpu& space, const Design& design, u64 first, u64 n, probe_statistics& row) {
  using slot = typename Design::slot_type;
  std::vector<u64> times(design.max_steps() + 1);
  space.for_each_share(n, [&](u64 from, u64 to) {
    for (u64 i = from; i < to; ++i) {
      const auto bits = slot::encode(mix32(static_cast<u32>(first + i)));
      auto location = design.locate(bits);
      u32 steps = 1;
      for (; steps < design.max_steps(); ++steps, design.next(location)) {
        const auto word = *design.address(location);
        if (slot::key_of(word) == bits || word == slot::empty_word) break;
      }
      detail::fetch_add(times.data() + steps, u64(1));
    }
  });
  static constexpr double shares[] = {0.5, 0.8, 0.9, 0.99, 1};
  u64 so_far = 0;
  for (u32 steps = 0, next = 0; next < 5; ++steps) {
    so_far += times[steps];
    row.average += static_cast<double>(steps) * static_cast<double>(times[steps]) / static_cast<double>(n);
    while (next < 5 && static_cast<double>(so_far) >= std::ceil(shares[next] * static_cast<double>(n)))
      row.at[next++] = steps;
  }
}

template <class Design>
void count(probe_statistics row, const std::function<void(const probe_statistics&)>& tell) {
  using slot = typename Design::slot_type;
  cpu space;
  const u64 capacity = Design::capacity_for(row.items, 1 / row.size);
  std::vector<typename Design::word> memory(capacity, slot::empty_word);
  const Design design(memory.data(), capacity, 1);
  space.for_each_share(row.items, [&](u64 from, u64 to) {
    for (u64 i = from; i < to; ++i) {
      const auto bits = slot::encode(mix32(static_cast<u32>(i)));
      if (slot::is_reserved(bits)) continue;  // these would not live here
      const auto became = detail::insert_one(design, bits, 0);
      if (became == outcome::refused) detail::fetch_add(&row.refused, u64(1));
    }
  });
  for (const bool found : {true, false}) {
    probe_statistics its = row;
    its.found = found;
    count_lookups(space, design, found ? 0 : row.items, row.items, its);
    tell(its);
  }
}

template <class Hash>
void count_with(probe_statistics row, const char* hash,
                const std::function<void(const probe_statistics&)>& tell) {
  row.hash = hash;
  row.probing = "linear";
  count<linear_probing<u32, u32, Hash>>(row, tell);
  row.probing = "quadratic";
  count<papers::quadratic_probing<u32, u32, Hash>>(row, tell);
  row.probing = "double hashing";
  row.jump_prime = 41;
  count<double_hashing<u32, u32, Hash>>(row, tell);
}

}  // namespace

void count_probes(u64 items, double size, const std::function<void(const probe_statistics&)>& tell) {
  probe_statistics row;
  row.items = items;
  row.size = size;
  count_with<linear_polynomial>(row, "multiplicative", tell);
  count_with<xor_polynomial>(row, "XOR", tell);
  count_with<murmur>(row, "murmur", tell);
  row.hash = "murmur";
  row.probing = "double hashing";
  const auto with_jumps = [&]<u64 Prime>() {
    row.jump_prime = Prime;
    count<double_hashing<u32, u32, murmur, Prime>>(row, tell);
  };
  with_jumps.template operator()<3>();
  with_jumps.template operator()<11>();
  with_jumps.template operator()<1009>();
  with_jumps.template operator()<1'000'003>();
}

}  // namespace tilehash::bench

// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <cstdio>
#include <memory>
#include <span>
#include <vector>

#if defined(TILEHASH_INSTANCES_AVX2)  // it links tilehash::instances
#include <tilehash/instances/map.hpp>
#else
#include <tilehash/tilehash.hpp>
#endif

int main() {
  constexpr std::uint32_t n = 1000;
  std::vector<std::uint32_t> keys(n), values(n), out(n);
  for (std::uint32_t i = 0; i < n; ++i) {
    keys[i] = i * 2654435761u;
    values[i] = i;
  }
  const auto found = std::make_unique<bool[]>(n);

  tilehash::cpu space;
  tilehash::map<std::uint32_t, std::uint32_t, tilehash::cpu> map(space, n);
  if (map.insert(space, keys, values).inserted != n) {
    std::puts("an outside project's pairs found no room");
    return 1;
  }
  map.find(space, keys, out, std::span(found.get(), n));

  for (std::uint32_t i = 0; i < n; ++i) {
    if (!found[i] || out[i] != values[i]) {
      std::printf("key %u: found %d, value %u instead of %u\n", keys[i], int(found[i]), out[i], values[i]);
      return 1;
    }
  }
  std::puts("an outside project stored and found 1000 pairs");
}

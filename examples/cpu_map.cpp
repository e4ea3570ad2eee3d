// SPDX-License-Identifier: Apache-2.0
// A map on the CPU: build it from two arrays, look many keys up at once.
#include <cstdint>
#include <cstdio>
#include <vector>

// [cpu_map-begin]
#include <tilehash/tilehash.hpp>

int main() {
  tilehash::cpu space;  // all threads of this machine
  std::vector<std::uint32_t> keys{17, 4, 23}, values{170, 40, 230}, wanted{23, 99}, out(2);

  tilehash::map<std::uint32_t, std::uint32_t, tilehash::cpu> map(space, keys.size());
  const auto report = map.insert(space, keys, values);  // report.inserted, .present, .refused: 3, 0, 0
  map.find_or(space, wanted, out, /*missing=*/0);       // out = {230, 0}
  // [cpu_map-end]

  std::printf("%llu inserted; 23 -> %u, 99 -> %u\n", static_cast<unsigned long long>(report.inserted), out[0],
              out[1]);
  return report.inserted == 3 && out[0] == 230 && out[1] == 0 ? 0 : 1;
}

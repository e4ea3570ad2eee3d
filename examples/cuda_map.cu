// SPDX-License-Identifier: Apache-2.0
// The same map on a GPU: arrays live in the space's memory, everything else reads the same.
#include <cstdint>
#include <cstdio>
#include <vector>

#include "needs_gpu.cuh"

// [cuda_map-begin]
#include <tilehash/map.hpp>
#include <tilehash/space/cuda.cuh>

int run() {
  tilehash::cuda space;  // the current GPU; give it a stream to work on that one
  const std::vector<std::uint32_t> keys{17, 4, 23}, values{170, 40, 230}, wanted{23, 99};
  tilehash::buffer<std::uint32_t, tilehash::cuda> k(space, keys), v(space, values), q(space, wanted),
      out(space, 2);

  tilehash::map<std::uint32_t, std::uint32_t, tilehash::cuda> map(space, keys.size());
  const auto report = map.insert(space, k.span(), v.span());
  map.find_or(space, q.span(), out.span(), /*missing=*/0);  // out = {230, 0}, in the GPU's memory
  // [cuda_map-end]

  const auto host = out.to_host();
  std::printf("23 -> %u, 99 -> %u\n", host[0], host[1]);
  return report.inserted == 3 && host[0] == 230 && host[1] == 0 ? 0 : 1;
}

int main() { return tilehash_examples::with_gpu(run); }

// SPDX-License-Identifier: Apache-2.0
// A table inside a kernel of your own: view() is a small value that any thread can look keys up in.
#include <cstdint>
#include <cstdio>
#include <vector>

#include <tilehash/map.hpp>

#include "needs_gpu.cuh"

using map = tilehash::map<std::uint32_t, float, tilehash::cuda>;

// [kernel_view-begin]
__global__ void price(map::view_type prices, const std::uint32_t* items, const float* amounts, float* cost,
                      int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const auto hit = prices.find(items[i]);
  cost[i] = hit.found() ? hit.value() * amounts[i] : 0.0F;
}
// [kernel_view-end]

int run() {
  tilehash::cuda space;
  const std::vector<std::uint32_t> items{7, 8, 9}, bought{9, 7, 1};
  const std::vector<float> prices{0.5F, 2.0F, 4.0F}, amounts{2.0F, 10.0F, 3.0F};
  tilehash::buffer<std::uint32_t, tilehash::cuda> k(space, items), b(space, bought);
  tilehash::buffer<float, tilehash::cuda> p(space, prices), a(space, amounts), cost(space, bought.size());

  map table(space, items.size());
  if (table.insert(space, k.span(), p.span()).refused != 0) return 1;
  price<<<1, 32, 0, space.stream()>>>(table.view(), b.data(), a.data(), cost.data(),
                                      static_cast<int>(bought.size()));

  const auto host = cost.to_host();
  std::printf("costs: %g %g %g\n", host[0], host[1], host[2]);
  return host[0] == 8.0F && host[1] == 5.0F && host[2] == 0.0F ? 0 : 1;
}

int main() { return tilehash_examples::with_gpu(run); }

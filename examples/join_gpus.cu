// SPDX-License-Identifier: Apache-2.0
// The join of orders with customers, both distributed over all GPUs of this host. With one GPU two ranks share it.
//
// usage: join_gpus [ORDERS]      orders of each rank; default: a million
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "needs_gpu.cuh"

#include <tilehash/several/gpus.cuh>
#include <tilehash/several/join.hpp>

namespace {

std::uint32_t orders = 1'000'000;  // of a rank; customers are a fourth of them

// The customer of an order, numbered over all ranks. The stored customers are every third one.
std::uint32_t customer_of(std::uint64_t order) { return static_cast<std::uint32_t>(order * 7 / 5); }

int run() {
  int found = 0;
  cudaGetDeviceCount(&found);
  std::vector<int> devices;
  for (int r = 0; r < (found < 2 ? 2 : found); ++r) devices.push_back(r % found);
  std::atomic<std::uint64_t> pairs = 0, wrong = 0;

  // [join_gpus-begin]
  tilehash::several::gpus all(devices);  // a rank for each
  all.run([&](tilehash::cuda& space, tilehash::several::gpu_rank& ranks) {
    std::vector<std::uint32_t> my_orders, my_customers;
    for (std::uint32_t i = 0; i < orders; ++i)
      my_orders.push_back(customer_of(std::uint64_t(ranks.rank()) * orders + i));
    for (std::uint32_t i = 0; i < orders / 4; ++i)
      my_customers.push_back((ranks.rank() * (orders / 4) + i) * 3);
    const tilehash::buffer<std::uint32_t, tilehash::cuda> left(space, my_orders), right(space, my_customers);

    const auto rows = tilehash::several::join(space, ranks, left.span(), right.span());
    const auto order_rows = rows.left.to_host(), customer_rows = rows.right.to_host();  // over all ranks
    // [join_gpus-end]
    pairs += rows.size();
    for (std::uint64_t i = 0; i < rows.size(); ++i)
      wrong += customer_of(order_rows[i]) != customer_rows[i] * 3;
  });

  std::uint64_t expected = 0;
  const std::uint64_t ranks = devices.size(), customers = ranks * (orders / 4);
  for (std::uint64_t i = 0; i < ranks * orders; ++i)
    expected += customer_of(i) % 3 == 0 && customer_of(i) / 3 < customers;
  const bool right = pairs == expected && wrong == 0;
  std::printf("%d GPUs, %llu orders, %llu of known customers: %s\n", found,
              static_cast<unsigned long long>(ranks * orders), static_cast<unsigned long long>(pairs),
              right ? "right" : "wrong");
  return right ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1) orders = static_cast<std::uint32_t>(std::strtoul(argv[1], nullptr, 10));
  if (orders < 4 || orders > 100'000'000) {
    std::fprintf(stderr, "join_gpus: 4 to 100000000 orders\n");
    return 2;
  }
  return tilehash_examples::with_gpu(run);
}

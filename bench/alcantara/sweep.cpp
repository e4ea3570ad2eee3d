// SPDX-License-Identifier: Apache-2.0
#include "alcantara/sweep.hpp"

namespace tilehash::bench {

std::vector<sweep> thesis_sweeps(const std::string& space) {
  const bool many = space == "cuda";
  const std::vector<u64> one_size{many ? 10'000'000U : 1'000'000U};
  const std::vector<double> sizes{1.05, 1.42, 2};
  return {
      {.name = "thesis/size",
       .about = "Rates against the number of items (figures 3.2, 3.5, 3.6, 4.8, 4.9, 5.7, 5.8, 6.7 to 6.12)",
       .items = many ? std::vector<u64>{10'000, 20'000, 50'000, 100'000, 200'000, 500'000, 1'000'000,
                                        2'000'000, 5'000'000, 10'000'000, 20'000'000, 40'000'000, 64'000'000}
                     : std::vector<u64>{10'000, 30'000, 100'000, 300'000, 1'000'000, 4'000'000},
       .sizes = sizes,
       .failed = {0}},
      {.name = "thesis/space",
       .about = "Rates against the size of the table (figures 3.3 and 4.7)",
       .items = one_size,
       .sizes = {1.02, 1.05, 1.1, 1.15, 1.25, 1.42, 1.6, 1.8, 2, 2.5, 3, 4},
       .failed = {0, 100}},
      {.name = "thesis/failed",
       .about =
           "Rates of retrieval against the share of queries that fail (figures 3.4, 3.7, 4.10, 5.9, 6.5, "
           "6.7 to 6.12)",
       .items = one_size,
       .sizes = sizes,
       .failed = {0, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100}},
  };
}

std::vector<std::string> thesis_designs() {
  return {"linear_probing", "quadratic_probing", "double_hashing",
          "chained",        "chained_by_sort",   "two_level_cuckoo",
          "cuckoo",         "sorted_array",      "perfect_spatial",
          "tiled",          "bucketed_cuckoo",   "hash_graph"};
}

double load_factor_for(const subject& design, u64 items, double size) {
  const double target = 8 * size * static_cast<double>(items);
  const auto fits = [&](double load_factor) {
    return static_cast<double>(design.bytes(items, load_factor)) <= target;
  };
  double low = 1.0 / 128, high = design.max_load_factor;
  if (fits(low) || !fits(high)) return high;  // as large at any load factor, or never so small
  for (int step = 0; step < 40; ++step) {
    const double middle = (low + high) / 2;
    (fits(middle) ? high : low) = middle;
  }
  return high;
}

}  // namespace tilehash::bench

// SPDX-License-Identifier: Apache-2.0
// A database join: orders of known customers, with the customer's country. The smaller side is built into a
// map, the larger one is looked up in it, a million rows in one call.
#include <cstdint>
#include <cstdio>
#include <vector>

#include <tilehash/tilehash.hpp>

int main() {
  constexpr std::uint32_t customers = 100'000, orders = 1'000'000;
  std::vector<std::uint64_t> customer_id(customers);
  std::vector<std::uint32_t> country(customers);
  for (std::uint32_t i = 0; i < customers; ++i) customer_id[i] = 7919ULL * i, country[i] = i % 200;
  std::vector<std::uint64_t> ordered_by(orders);
  for (std::uint32_t i = 0; i < orders; ++i)
    ordered_by[i] = 7919ULL * (i % (2 * customers));  // half are unknown

  tilehash::cpu space;
  // [join-begin]
  tilehash::map<std::uint64_t, std::uint32_t, tilehash::cpu> country_of(space, customers);
  const auto built = country_of.build(space, customer_id, country);  // 100 000 inserted

  std::vector<std::uint32_t> joined(orders);
  std::vector<std::uint8_t> matches(orders);  // 1 or 0 each
  country_of.find(space, ordered_by, joined, matches);
  // [join-end]

  std::uint64_t rows = 0, wrong = 0;
  for (std::uint32_t i = 0; i < orders; ++i) {
    const std::uint32_t customer = i % (2 * customers);
    rows += matches[i];
    wrong += (matches[i] != 0) != (customer < customers) || (matches[i] != 0 && joined[i] != customer % 200);
  }
  std::printf("%llu of %u orders joined\n", static_cast<unsigned long long>(rows), orders);
  return built.inserted == customers && wrong == 0 && rows == orders / 2 ? 0 : 1;
}

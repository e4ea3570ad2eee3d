// SPDX-License-Identifier: Apache-2.0
// The bytes of tables that are several arrays behind a table of ids, if all keys differ.
#pragma once

#include <cstdint>

namespace tilehash::app {

template <class Ids>
std::uint64_t bytes_of_records(std::uint64_t items, double load_factor) {
  const std::uint64_t bits = (items + 31) / 32 * 4;  // which records are taken, and their locks
  return Ids::bytes(Ids::capacity_for(items, load_factor)) + items * (8 + 4) + 2 * bits;  // records, free ids
}

template <class Ids>
std::uint64_t bytes_of_multi(std::uint64_t items, double load_factor) {
  return Ids::bytes(Ids::capacity_for(items, load_factor)) + 4 * (items + 1) + 8 * items;
}

}  // namespace tilehash::app

// SPDX-License-Identifier: Apache-2.0
#include "dataset.hpp"

#include <fmt/format.h>

#include <utility>

#include "oracle.hpp"
#include "parallel.hpp"
#include "scramble.hpp"

namespace tilehash::app {

void require_countable(std::uint64_t items, const std::string& name) {
  constexpr std::uint64_t most = std::uint64_t{1} << 32;
  if (items > most)
    throw input_error(
        fmt::format("{}: its {} items are more than the 2^32 that fit; use a part of it", name, items));
}

dataset counted(std::vector<std::uint64_t> raw, key_order order, std::uint64_t seed) {
  const oracle groups(raw);
  const std::size_t n = groups.distinct();
  // Groups lie in an order that looks random already; the seed makes it another. In a file's order the first
  // item comes first.
  std::vector<std::uint64_t> in_file;
  if (order == key_order::file) {
    in_file.resize(n);
    in_parallel(n, [&](std::size_t first, std::size_t last) {
      for (std::size_t i = first; i < last; ++i) in_file[i] = std::uint64_t{groups.at(i).item} << 32 | i;
    });
    sort_in_parallel(in_file);
  }
  const random_order mixed(n, seed);
  dataset data;
  data.keys.resize(n);
  data.counts.resize(n);
  in_parallel(n, [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) {
      const expectation its = groups.at(order == key_order::file ? in_file[i] & 0xffffffffU : mixed(i));
      data.keys[i] = raw[its.item];
      data.counts[i] = its.multiplicity;
    }
  });
  data.raw = std::move(raw);
  return data;
}

std::vector<std::uint64_t> shuffled(const std::vector<std::uint64_t>& keys, std::uint64_t seed) {
  const random_order mixed(keys.size(), seed);
  std::vector<std::uint64_t> other(keys.size());
  in_parallel(keys.size(), [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) other[i] = keys[mixed(i)];
  });
  return other;
}

}  // namespace tilehash::app

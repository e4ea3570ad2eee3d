// SPDX-License-Identifier: Apache-2.0
// All threads of this machine, with oneTBB and without, for what is not measured: making keys, drawing
// queries, checking answers. (Without it only sorting takes one thread.) What comes out must not depend on
// how many there are, nor on how the work is cut.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace tilehash::app {

using share = std::function<void(std::size_t first, std::size_t last)>;

// work(first, last) for consecutive shares of [0, n), some thousands long, in any order and on any thread.
void in_parallel(std::size_t n, const share& work);
// work(i) for every i of [0, n): few and long ones.
void each_in_parallel(std::size_t n, const std::function<void(std::size_t i)>& work);

// The sum of what the shares count.
std::uint64_t count_in_parallel(
    std::size_t n, const std::function<std::uint64_t(std::size_t first, std::size_t last)>& count);

// The numbers i of [0, n) that are chosen(i), in their order.
template <class Chosen>
std::vector<std::uint32_t> numbers_where(std::size_t n, Chosen chosen) {
  constexpr std::size_t each = 1 << 15;
  const std::size_t blocks = (n + each - 1) / each;
  std::vector<std::size_t> places(blocks + 1);
  std::vector<std::uint64_t> bits(blocks * (each / 64));  // 1: chosen
  each_in_parallel(blocks, [&](std::size_t block) {
    for (std::size_t word = block * each / 64; word < std::min((block + 1) * each, n + 63) / 64; ++word) {
      for (std::size_t i = 64 * word; i < std::min(n, 64 * (word + 1)); ++i)
        bits[word] |= std::uint64_t{chosen(i)} << i % 64;
      places[block + 1] += static_cast<std::size_t>(std::popcount(bits[word]));
    }
  });
  for (std::size_t block = 0; block < blocks; ++block) places[block + 1] += places[block];
  std::vector<std::uint32_t> numbers(places[blocks]);
  each_in_parallel(blocks, [&](std::size_t block) {
    std::size_t at = places[block];
    for (std::size_t word = block * each / 64; word < (block + 1) * each / 64; ++word) {
      for (std::uint64_t left = bits[word]; left != 0; left &= left - 1)
        numbers[at++] =
            static_cast<std::uint32_t>(64 * word + static_cast<std::size_t>(std::countr_zero(left)));
    }
  });
  return numbers;
}

// Are they the same, element by element?
template <class T>
bool same_in_parallel(std::span<const T> a, std::span<const T> b) {
  return a.size() == b.size() && count_in_parallel(a.size(), [&](std::size_t first, std::size_t last) {
                                   return std::uint64_t{!std::ranges::equal(a.subspan(first, last - first),
                                                                            b.subspan(first, last - first))};
                                 }) == 0;
}

void sort_in_parallel(std::vector<std::uint64_t>& numbers);

// How many threads really work where so many are asked for: 0 asks for all, and there are never more than
// this machine runs at once.
int threads_that_run(int asked);
int cores();  // processors that this program may use

}  // namespace tilehash::app

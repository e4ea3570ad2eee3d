// All threads of this machine, with oneTBB and without, for what is not measured: making keys, drawing
// queries, checking answers. (Without it only sorting takes one thread.) What comes out must not depend on
// how many there are, nor on how the work is cut.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace tilehash::app {

using piece = std::function<void(std::size_t first, std::size_t last)>;

// work(first, last) for consecutive pieces of [0, n), some thousands long, in any order and on any thread.
void in_parallel(std::size_t n, const piece& work);
// work(i) for every i of [0, n): few and long ones.
void each_in_parallel(std::size_t n, const std::function<void(std::size_t i)>& work);

// The sum of what the pieces count.
std::uint64_t count_in_parallel(
    std::size_t n, const std::function<std::uint64_t(std::size_t first, std::size_t last)>& count);

// The numbers i of [0, n) that are chosen(i), in their order. Asks twice.
template <class Chosen>
std::vector<std::uint32_t> numbers_where(std::size_t n, Chosen chosen) {
  constexpr std::size_t each = 1 << 15;
  const std::size_t blocks = (n + each - 1) / each;
  std::vector<std::size_t> places(blocks + 1);
  const auto choose = [&](std::size_t block, auto use) {
    for (std::size_t i = block * each; i < std::min(n, (block + 1) * each); ++i) {
      if (chosen(i)) use(i);
    }
  };
  each_in_parallel(blocks, [&](std::size_t block) {
    std::size_t count = 0;
    choose(block, [&](std::size_t) { ++count; });
    places[block + 1] = count;
  });
  for (std::size_t block = 0; block < blocks; ++block) places[block + 1] += places[block];
  std::vector<std::uint32_t> numbers(places[blocks]);
  each_in_parallel(blocks, [&](std::size_t block) {
    std::size_t at = places[block];
    choose(block, [&](std::size_t i) { numbers[at++] = static_cast<std::uint32_t>(i); });
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

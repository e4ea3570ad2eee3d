// All threads of this machine, for what is not measured: making keys, drawing queries, checking answers. What
// comes out must not depend on how many there are, nor on how the work is cut.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
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

void sort_in_parallel(std::vector<std::uint64_t>& numbers);

// How many threads really work where so many are asked for: 0 asks for all, and there are never more than
// this machine runs at once.
int threads_that_run(int asked);
int cores();  // processors that this program may use

}  // namespace tilehash::app

// What a table said against what std::unordered_map says. Each returns the number of wrong answers.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "workload.hpp"

namespace tilehash::app {

using words = std::vector<std::uint64_t>;  // answers of any width, widened

// `values` is empty for a set. Where a key was given several times, the value of any of them is right.
std::uint64_t wrong_lookups(const workload& work, const query_set& queries, const words& found,
                            const words& values);

// A table that keeps every item of a key (`multivalue`) counts them; any other counts 0 or 1.
std::uint64_t wrong_counts(const query_set& queries, const words& counts, bool multivalue);

// retrieve_all: nothing missing, nothing too much, nothing twice, and every value its key's.
std::uint64_t wrong_contents(const workload& work, words keys, words values, bool multivalue);

// How many items a table that holds `queries`' answers should say it has.
std::uint64_t expected_size(const query_set& items, bool multivalue);

}  // namespace tilehash::app

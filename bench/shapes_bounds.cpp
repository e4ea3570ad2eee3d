// SPDX-License-Identifier: Apache-2.0
// The rows of `tilehash bench shapes` that may be under the least share of their verb's best, and why. The
// rates of memory are an H100's, by `tilehash bench ceilings`.
#include "shapes.hpp"

namespace tilehash::bench {
namespace {

// Keys that do not fit the caches of a GPU, where the best row has few keys and reads them from there.
constexpr std::string_view many_keys = "distinct sequential sorted strided half_one_key groups_2097152";

constexpr std::string_view moves_no_key = "an update through a view moves no other key (mutable_table_view)";

constexpr shape_bound bounds[] = {
    {.verbs = "insert_or_assign insert_or_apply",
     .forms = "by_thread by_tile",
     .states = "near_full",
     .least = 0.1,
     .refused = 0.7,
     .reason = moves_no_key},
    {.verbs = "insert_or_assign insert_or_apply",
     .forms = "by_thread by_tile",
     .states = "empty half present",
     .least = 0.1,
     .refused = 0.15,
     .reason = moves_no_key},
    {.space = "cuda",
     .verbs = "find contains",
     .keys = many_keys,
     .least = 0.1,
     .reason = "a read of 64 bytes of memory an item: 32 G/s"},
    {.space = "cuda",
     .verbs = "erase insert insert_or_assign insert_or_apply count",
     .keys = many_keys,
     .states = "empty half present",
     .least = 0.1,
     .reason = "a read and a compare-and-swap in memory an item: 12.6 G/s"},
    {.space = "cuda",
     .verbs = "erase",
     .keys = many_keys,
     .states = "near_full",
     .least = 0.1,
     .reason = "a read and a compare-and-swap in memory an item: 12.6 G/s"},
    {.verbs = "retrieve",
     .keys = "distinct sequential sorted strided half_one_key groups_65536 groups_2097152",
     .least = 0.02,
     .reason = "reads at two places a key; values of few keys are contiguous"},
    {.space = "cpu",
     .verbs = "find contains erase",
     .keys = many_keys,
     .forms = "by_thread",
     .least = 0.05,
     .reason = "one read of memory at a time; a call has many in flight"},
};

}  // namespace

std::span<const shape_bound> shape_bounds() { return bounds; }

}  // namespace tilehash::bench
